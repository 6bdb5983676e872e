"""What multi-query and grouped-query attention have in common: the reference, the cases, and mistakes written
as edits of worked answers.
"""

from dataclasses import replace

import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import attention, heads
from autograder.exercises._shared.attention import CLEANED, MIX, PRODUCT, SCALE, SOFTMAX
from autograder.exercises._shared.attention_cases import Maker, cases_of_every_class
from autograder.exercises._shared.heads import MERGE, OUT
from autograder.schema import Rules, edit, past_only, samples_apart

BY_HAND = Rules(None, ("nn.MultiheadAttention", "enable_gqa"))
INVARIANTS = (
    samples_apart("causal", "causal, another second sample"),
    past_only("causal", "causal, another last token"),
)


class Reference(nn.Module):
    """Grouped-query attention; with one key/value head, multi-query attention."""

    def __init__(self, d_model, n_heads, n_kv_heads=1):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("the sizes do not divide")
        self.d_head = d_model // n_heads
        self.q_proj, self.out_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.k_proj, self.v_proj = (nn.Linear(d_model, n_kv_heads * self.d_head) for _ in range(2))

    def forward(self, x, mask=None):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (layer(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2) for layer in layers)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.out_proj(output.transpose(1, 2).flatten(2))


def cases_of_both(draw, grouped):
    """Yield the cases of grouped-query attention if `grouped`, else those of multi-query attention. Cases
    with several groups of several heads also have the need "groups".
    """
    for case in _cases(draw, grouped):
        sizes = case.init.values() if isinstance(case.init, dict) else case.init
        _, n_heads, n_kv_heads = (*sizes, 1)[:3]
        yield replace(case, needs=(*case.needs, "groups")) if 1 < n_kv_heads < n_heads else case


def _cases(draw, grouped):
    make = _maker(draw, (lambda heads: max(1, heads // 2)) if grouped else (lambda heads: 1), grouped)
    values = {"gradients": False}
    if grouped:
        batch, tokens, d_head = draw.sizes(3, 4, 7)
        sizes = (batch, tokens, tokens, 6, d_head)
        yield make.case("six heads in three groups", sizes, observe=True)
        make_two = _maker(draw, lambda heads: 2, grouped)
        yield make_two.case("six heads in two groups", sizes)
        # The same shapes as before, so that anything cached by shape would still fit.
        yield make_two.case("other weights in the same module", sizes)
        yield _maker(draw, lambda heads: 1, grouped).case("one key head for all", (2, 5, 5, 4, 3))
        yield _maker(draw, lambda heads: heads, grouped).case("as many key heads as heads", (2, 5, 5, 4, 3), (5, 5))
    else:
        batch, tokens, heads, d_head = draw.sizes(4, 2, 7)
        sizes = (batch, tokens, tokens, heads, d_head)
        yield make.case("all sizes different", sizes, observe=True)
        yield make.case("other weights in the same module", sizes)
    named = {"d_model": 24, "n_heads": 6} | ({"n_kv_heads": 3} if grouped else {})
    yield make.case("constructor arguments by name", (2, 3, 3, 6, 4), init=named, **values)
    yield make.case("one head", (2, 3, 3, 1, 6))
    yield make.case("four of everything", (4, 4, 4, 4, 4))
    yield make.case("a mask for each head", (2, 5, 5, 4, 3), (2, 4, 5, 5))
    yield make.case("as many samples as tokens, a mask", (4, 4, 4, 4, 3), (4, 4), **values)
    yield make.case("heads with a mask each", (2, 3, 3, 6, 5), (6, 3, 3), **values)
    yield make.case("a mask for each sample", (3, 4, 4, 2, 5), (3, 1, 4, 4), by_name=True)
    yield make.case("one mask for samples and heads", (2, 3, 3, 4, 4), (1, 1, 3, 3), **values)
    yield from cases_of_every_class(make, 4)
    if draw.hidden:
        yield make.case("a mask for each head of all samples", (3, 4, 4, 2, 3), (1, 2, 4, 4))


def _maker(draw, kv_heads, grouped):
    """Return a maker of cases in which n query heads come with `kv_heads(n)` key/value heads."""

    def rows(d_model, heads, d_head):
        kv_width = kv_heads(heads) * d_head
        return {"q_proj": d_model, "k_proj": kv_width, "v_proj": kv_width, "out_proj": d_model}

    def init(d_model, heads, d_head):
        return (d_model, heads, kv_heads(heads)) if grouped else (d_model, heads)

    return Maker(draw, rows, init)


CUT = "q.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)"
ACROSS_TOKENS = "q.reshape(len(x), self.n_heads, x.shape[1], -1)"
LAYER = "nn.Linear(d_model, d_model)"
KEYS_MADE, VALUES_MADE = "self.k_proj = nn.Linear(d_model, ", "self.v_proj = nn.Linear(d_model, "
FOLDED = "mask.expand(scores.shape).transpose(1, 2).reshape(len(x), -1, x.shape[1]).reshape(scores.shape)"

# Mistakes from other lessons that apply to both classes, except those in WITHOUT, which have separate ids
# here.
KNOWN = (*attention.MASK_USE, *attention.CAUSAL_UNASKED, *attention.SCALES, *attention.ROLES, *attention.MAXIMA,
         *attention.LAYERS, *heads.HEADS)
WITHOUT = ("HEAD-09", "HEAD-37", "HEAD-41", "MHA-35", "SDPA-41", "HEAD-25")
SHARED_HEADS = (
    edit("SDPA-45 softmax over the heads", {SOFTMAX: "torch.softmax(scores, dim=1)"},
         "Your weights sum to one over the heads.",
         "Over which axis of the scores should the weights of one query sum to one?"),
    edit("SDPA-19", {CLEANED: f"torch.softmax({CLEANED}, dim=-1)"}),
    edit("SDPA-31", {CLEANED: "scores"}),
    edit("SDPA-39", {CLEANED: "F.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(x.dtype)"}),
    edit("SDPA-33", {SCALE: "", MIX: "weights / math.sqrt(q.shape[-1]) @ v"}),
    edit("SMX-27 not divided by the sum", {CLEANED: "torch.exp(scores - scores.amax(-1, keepdim=True)).nan_to_num()"},
         "Your weights are positive, but their rows do not sum to one.",
         "Which step makes positive numbers sum to one?"),
    edit("SMX-29", {SCALE: "/ -math.sqrt(q.shape[-1])"}),
    edit("SMX-35 sigmoid instead of softmax", {CLEANED: "torch.sigmoid(scores)"},
         "Each of your weights depends on its own score alone.",
         "If one score of a row rises, what should happen to the other weights in that row?"),
    edit("MQA-41 logarithms instead of weights", {CLEANED: "torch.log_softmax(scores, dim=-1)"},
         "None of your weights is above zero: they are logarithms.",
         "What should the weights of one query sum to?"),
    edit("LOOP-17", {MIX: "weights.transpose(-2, -1) @ v"}),
    edit("QKV-13 keys and values change places", {PRODUCT: "q @ v.transpose(-2, -1)", MIX: "weights @ k"},
         "Your keys and values are swapped.",
         "Which of the two is compared with the queries?"),
    edit("MHA-01", {CUT: ACROSS_TOKENS}),
    edit("MHA-01", {CUT: ACROSS_TOKENS, MERGE: heads.IN_MEMORY_ORDER}),
    edit("MHA-37 features dealt out in turn", {CUT: "q.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"},
         "Your head h holds every n_heads-th feature.",
         "Which features belong to head 0: the first d_head, or every n_heads-th?"),
    edit("HEAD-15", {PRODUCT: "q @ k.detach().transpose(-2, -1)", MIX: "weights @ v.detach()"}),
    edit("MQA-05 only the keys are shared", {VALUES_MADE: "self.v_proj = nn.Linear(d_model, d_model) or ("},
         "Your values have one head for every query head; your keys do not.",
         "What should the query heads share: keys, values, or both?"),
    edit("MQA-13 the mask is folded in another order than the heads", {"~mask": f"~{FOLDED}"},
         "Your result is right without a mask; with one, rows use the mask of another token.",
         "After you fold heads and tokens into one axis, to which token does each row belong?"),
    edit("MQA-17 an output layer of the wrong width",
         {f"self.out_proj = {LAYER}": "self.out_proj = nn.Linear(self.k_proj.out_features, d_model)"},
         "Your output layer takes only as many features as the keys have.",
         "Which heads does the output layer read: those of the queries, or those of the keys?"),
    edit("MQA-29 keys and values as wide as the queries",
         {KEYS_MADE: f"self.k_proj = {LAYER} or (", VALUES_MADE: f"self.v_proj = {LAYER} or ("},
         "Your key and value layers are as wide as the query layer, so nothing is shared.",
         "How many features do all key heads have together?"),
    edit("MQA-31 layers without a bias", {"nn.Linear(d_model, ": "(lambda out: nn.Linear(d_model, out, bias=False))("},
         "Your layers have no biases.", "Which parameters does an nn.Linear own by default?"),
    edit("MQA-33 parts by other names", {"q_proj": "W_query", "k_proj": "W_key", "v_proj": "W_value"},
         "Your layers have the right widths, but the wrong names.",
         "What does the exercise call its parts?"),
    edit("MQA-37 features and heads merged in another order", {MERGE: "output.permute(0, 2, 3, 1).flatten(2)"},
         "Your merged rows hold the first feature of every head, then the second of every head.",
         "In a merged row, what comes after the first feature of head 0?"),
    edit("MQA-39 one layer for keys and values", {"k = self.k_proj(": "k = self.v_proj("},
         "Your keys and values come from the same layer.",
         "Which layer does the exercise name for the values?"),
    edit("SDPA-23", {f"return {OUT}": f"return {OUT}, None"}, *attention.A_PAIR),
)
