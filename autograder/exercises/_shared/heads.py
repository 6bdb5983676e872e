"""Aspects, rules and mistakes for classes with several heads. The mistakes are edits of a worked answer with
these lines:

    q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in (q, k, v))
    (attention: see _shared/attention.py)
    output = output.transpose(1, 2).flatten(2)
    return self.out_proj(output)
"""

from autograder.exercises._shared import attention
from autograder.exercises._shared.attention import MIX, SCALE, SOFTMAX
from autograder.schema import DTYPES, FULLY_MASKED, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Rules, edit

ASPECTS = {VALUES: 4, FULLY_MASKED: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1}
NO_MULTIHEAD = Rules(None, ("nn.MultiheadAttention",))

CUT = "t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)"
MERGE = "output.transpose(1, 2).flatten(2)"
OUT = "self.out_proj(output)"
IN_TURN = "t.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"
TURNED_BACK = "output.permute(0, 2, 3, 1).flatten(2)"
IN_MEMORY_ORDER = "output.reshape(len(x), x.shape[1], -1)"
BLOCKS = "torch.kron(torch.eye(self.n_heads), torch.ones(2 * [x.shape[-1] // self.n_heads]))"
NO_OUT_BIAS = "F.linear(output, self.out_proj.weight)"

HEADS = (
    edit("MHA-01 heads cut across tokens", {CUT: "t.reshape(len(t), self.n_heads, t.shape[1], -1)"},
         "Your heads have the right shape, but contain pieces of other tokens.",
         "Follow token 0. In which step does one of its numbers move to another token?"),
    edit("MHA-01", {CUT: "t.reshape(len(t), self.n_heads, t.shape[1], -1)", MERGE: IN_MEMORY_ORDER}),
    edit("MHA-03 view after a transpose", {MERGE: "output.transpose(1, 2).view(len(x), x.shape[1], -1)"},
         "Your answer stops with an error, because `view` cannot merge these axes of a transposed tensor.",
         "Which function reshapes a tensor whatever the order of its storage?"),
    edit("MHA-05 scale from the model's width", {SCALE: "/ math.sqrt(x.shape[-1])"},
         "Your scale is computed from the width of the model.",
         "How wide are the vectors that are multiplied inside a head?"),
    edit("MHA-95 scale from the number of heads", {SCALE: "/ math.sqrt(self.n_heads)"},
         "Your scale is computed from the number of heads.",
         "What makes a dot product large: the number of heads, or the width of each?"),
    edit("MHA-07 no output projection", {OUT: "output"},
         "You return the merged heads as they are.",
         "Which layer mixes the heads?"),
    edit("MHA-07", {"self.out_proj = nn.Linear(d_model, d_model)": "pass", OUT: "output"}),
    edit("MHA-11 the input is split, not the projection",
         {f"= self.{one}_proj(":
          f"= F.linear(weight=self.{one}_proj.weight * {BLOCKS}, bias=self.{one}_proj.bias, input=" for one in "qkv"},
         "Each of your heads sees only a slice of x.",
         "Should a head see all features of a token, or only some?"),
    edit("MHA-23 slices that overlap",
         {CUT: "torch.stack([t[..., h : h + t.shape[-1] // self.n_heads] for h in range(self.n_heads)], dim=1)"},
         "Your heads overlap: each starts one feature after the one before.",
         "Which features belong to head 2 when heads are 4 wide?"),
    edit("MHA-25 one head kept", {MERGE: "output[:, -1:].expand_as(output).transpose(1, 2).flatten(2)"},
         "All your heads return the result of one head.",
         "Which line picks out the result of a single head?"),
    edit("MHA-25", {MERGE: "output[:, :1].expand_as(output).transpose(1, 2).flatten(2)"}),
    edit("MHA-47 averages or adds up the heads",
         {MERGE: "output.mean(dim=1, keepdim=True).expand_as(output).transpose(1, 2).flatten(2)"},
         "Your heads are added up or averaged into one.",
         "Where does each head's result belong in the merged vector?"),
    edit("MHA-47", {MERGE: "output.sum(dim=1, keepdim=True).expand_as(output).transpose(1, 2).flatten(2)"}),
    edit("MHA-31 heads and samples swapped on the way back",
         {MERGE: "output.reshape(self.n_heads, len(x), *output.shape[2:]).permute(1, 2, 0, 3).flatten(2)"},
         "Your heads are folded into the batch in one order and unfolded in another.",
         "Is the first block of your folded batch one sample, or one head?"),
    edit("MHA-33 merged without transposing back", {MERGE: IN_MEMORY_ORDER},
         "Your code does not put the heads of one token side by side in one row.",
         "Before you merge, which axis must be next to the features of a head?"),
    edit("MHA-99 another pair of axes transposed before merging",
         {MERGE: "output.transpose(-1, -2).reshape(len(x), x.shape[1], -1)"},
         "Before merging, you swap the wrong two axes.",
         "A merged vector holds all heads of one token. Which two axes must be next to each other?"),
    edit("MHA-37 features dealt out in turn", {CUT: IN_TURN, MERGE: TURNED_BACK},
         "Your head h holds every n_heads-th feature.",
         "Which features belong to head 0: the first d_head, or every n_heads-th?"),
    edit("MHA-37", {CUT: IN_TURN}),
    edit("MHA-39 attention between heads", {CUT: "t.unflatten(-1, (self.n_heads, -1))", MERGE: "output.flatten(2)"},
         "In your answer the heads of one token attend to each other.",
         "Which two axes must be last when the scores are computed?"),
    edit("MHA-97 heads before samples, but not in the mask",
         {CUT: "t.unflatten(-1, (self.n_heads, -1)).permute(2, 0, 1, 3)",
          MERGE: "output.permute(1, 2, 0, 3).flatten(2)"},
         "Your scores are (H, B, N, M), and the mask is (B, H, N, M).",
         "Which axis of the mask meets the samples in your scores?"),
    edit("MHA-87 the output weight is transposed", {OUT: "(output @ self.out_proj.weight + self.out_proj.bias)"},
         "Your output projection multiplies by its weight without transposing it.",
         "nn.Linear stores its weight as (out, in). Which of these axes meets the features of the merged heads?"),
    edit("MHA-89 one pattern of weights for all heads",
         {MIX: "weights.mean(dim=1, keepdim=True).expand_as(weights) @ v"},
         "All your heads use the same attention weights.",
         "At the softmax, which axis of your scores holds the heads?"),
    edit("MHA-89", {SOFTMAX: "torch.softmax(scores.mean(dim=1, keepdim=True).expand_as(scores), dim=-1)"}),
    edit("MHA-35 softmax over the heads", {SOFTMAX: "torch.softmax(scores, dim=1)"},
         "Your weights sum to one over the heads.",
         "Over which axis of the scores should the weights of one query sum to one?"),
    edit("MSK-87 zeros in the wrong place",
         {f"return {OUT}": f"return {OUT} * (1 if mask is None else mask.expand(len(x), self.n_heads, x.shape[1], "
          "mask.shape[-1]).any(dim=-1).any(dim=1)[..., None])"},
         "You return zeros for a fully masked query.",
         "The attention gives zeros for such a query. Which layer comes after the attention?"),
    edit("MSK-87", {attention.CLEANED: SOFTMAX, f"return {OUT}": f"return {OUT}.nan_to_num()"}),
    edit("HEAD-39", {OUT: NO_OUT_BIAS}),
    edit("HEAD-39", {OUT: NO_OUT_BIAS} | {
        f"= self.{one}_proj(": f"= F.linear(weight=self.{one}_proj.weight, input=" for one in "qkv"}),
    edit("HEAD-25 projections without a bias",
         {"nn.Linear(d_model, d_model)": "nn.Linear(d_model, d_model, bias=False)"},
         "Your projections have no bias.",
         "Which parameters does a plain nn.Linear(d_in, d_out) own?"),
    edit("HEAD-33 one layer for all three",
         {"self.q_proj = nn.Linear(d_model, d_model)": "self.qkv_proj = nn.Linear(d_model, 3 * d_model)",
          "self.k_proj = nn.Linear(d_model, d_model)": "pass", "self.v_proj = nn.Linear(d_model, d_model)": "pass"},
         "Your projections are in one layer, under one name.",
         "Which parts, by name, does the exercise ask for?"),
    edit("MHA-13 heads with projections of their own",
         {f"self.{one}_proj = nn.Linear(d_model, d_model)": f"self.{one}_proj = nn.Linear(d_model, d_model // n_heads)"
          for one in "qkv"},
         "Your projections have the width of a single head.",
         "How wide are the four layers that the exercise asks for?"),
    edit("MHA-13",
         {f"self.{one}_proj = nn.Linear(d_model, d_model)":
          f"self.{one}_proj = nn.ModuleList(nn.Linear(d_model, d_model // n_heads) for _ in range(n_heads))"
          for one in "qkv"}),
    edit("SDPA-23", {f"return {OUT}": f"return {OUT}, weights"}, *attention.A_PAIR),
)
