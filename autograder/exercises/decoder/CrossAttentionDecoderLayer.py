"""The decoder layer of a translation model: self-attention, cross-attention to a memory and a feed-forward
network, each followed by an addition and a norm.
"""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import layers
from autograder.exercises._shared.attention_cases import some_mask
from autograder.exercises._shared.layers import LAYERS, MADE, RISING, Maker
from autograder.schema import VALUES, Exercise, edit, fitting, standard_cases


class CrossAttentionDecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(self, x, memory, memory_mask=None):
        tokens = x.shape[1]
        blocked = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(diagonal=1)
        padding = None if memory_mask is None else ~memory_mask
        attended, _ = self.self_attn(x, x, x, attn_mask=blocked)
        x = self.norm1(x + attended)
        gathered, _ = self.multihead_attn(x, memory, memory, key_padding_mask=padding)
        x = self.norm2(x + gathered)
        inner = F.relu(self.linear1(x))
        return self.norm3(x + self.linear2(inner))


class Reference(nn.TransformerDecoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "relu", batch_first=True, norm_first=False)

    def forward(self, x, memory, memory_mask=None):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        blocked = None if memory_mask is None else ~memory_mask
        return super().forward(x, memory, tgt_mask=future, memory_key_padding_mask=blocked)


def cases(draw):
    make = Maker(draw, cross=True)
    yield from make.both()
    yield make.case("one token of memory", 3, 4, (2, 3, 5), 1, gradients=False)
    yield make.case("as many memory tokens as tokens", 3, 5, (3, 2, 7), 5, gradients=False)
    masked = {"needs": ("memory mask",)}
    padded = make.case("memory with padding", 3, 4, (3, 2, 5), 6, **masked)
    padded.kwargs["memory_mask"] = some_mask(draw, (3, 6))
    yield padded
    yield from standard_cases([padded], ("float64",))
    mask = some_mask(draw, (2, 5))
    yield make.case("a memory mask by position", 2, 4, (3, 2, 5), 5, mask, gradients=False, **masked)
    yield make.far_apart("scores that differ by ten thousands", RISING)
    # Every padding token has a larger score than all real tokens.
    hidden = torch.tensor([[True, True, False, False]] * 2)
    family = "a memory mask, scores that differ by ten thousands"
    far = make.far_apart(family, RISING, "multihead_attn", memory=4, **masked)
    far.kwargs["memory_mask"] = hidden
    yield far
    square = torch.tensor([[1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 0]]).bool()
    yield make.case("a memory mask, four of everything", 4, 4, (4, 4, 5), 4, square, gradients=False, **masked)


ATTEND = "self.self_attn(x, x, x, attn_mask=blocked)"
LOOK = "self.multihead_attn(x, memory, memory, key_padding_mask=padding)"
MEMORY_FIRST = {ATTEND: LOOK, LOOK: ATTEND}
FIRST, SECOND, LAST = "self.norm1(x + attended)", "self.norm2(x + gathered)", "self.norm3(x + self.linear2(inner))"
START = {"tokens = x.shape[1]": "tokens, start = x.shape[1], x"}
SECOND_MADE, THIRD_MADE = "self.norm2 = nn.LayerNorm(d_model)", "self.norm3 = nn.LayerNorm(d_model)"
PADDING = "padding = None if memory_mask is None else ~memory_mask"
ZEROED = "padding = None\n        memory = memory if memory_mask is None else memory * memory_mask[..., None]"
HAS_NORMS = "Which norm comes after which sublayer?"

EXERCISE = Exercise(
    number=3, minutes=25, difficulty=3,
    worked=CrossAttentionDecoderLayer,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed"),
    aspects=layers.ASPECTS | {VALUES: 8},
    shapes={"x": "B N d_model", "memory": "B M d_model", "memory_mask": "B M", "return": "B N d_model"},
    rules=layers.BY_HAND,
    invariants=layers.INVARIANTS,
    mistakes=(
        *fitting(CrossAttentionDecoderLayer, LAYERS),
        edit("FFN-13", {"F.relu(self.linear1(x))": "self.linear1(x)"}),
        edit("EDL-17 GELU for ReLU", {"F.relu": "F.gelu"},
             "Your activation returns negative numbers for some inputs.",
             "Which activation does the docstring name?"),
        edit("EDL-01 the roles of the cross-attention are swapped", {LOOK: "self.multihead_attn(memory, x, x)"},
             "In your cross-attention the queries come from the memory, and keys and values from x.",
             "Should there be one output row for each token of x, or for each token of the memory?"),
        edit("EDL-03 the memory is not used", {LOOK: "self.multihead_attn(x, x, x)"},
             "Your cross-attention reads x again; changing the memory changes nothing.",
             "Which arguments of the cross-attention should be the memory?"),
        edit("EDL-07 a causal mask on the memory",
             {"key_padding_mask=padding": "key_padding_mask=padding, attn_mask=torch.ones(tokens, memory.shape[1], "
              "dtype=torch.bool).triu(1)"},
             "Your first token sees only one token of the memory.",
             "Should a token's position limit which tokens of the memory it may attend to?"),
        edit("EDL-45 a causal mask on a memory as long as x",
             {"key_padding_mask=padding": "key_padding_mask=padding, attn_mask=blocked if memory.shape[1] == tokens "
              "else None"},
             "When the memory is as long as x, your cross-attention is causal.",
             "Should a token's position limit which tokens of the memory it may attend to?"),
        edit("XATT-09 one attention for both", {"self.multihead_attn(": "self.self_attn("},
             "Your cross-attention uses the weights of the self-attention.",
             "Which of the layer's attention modules is never called?"),
        edit("XATT-09", {f"self.multihead_attn = {MADE}": "self.multihead_attn = self.self_attn"}),
        edit("EDL-13 the memory is normed", {"memory, memory, key": "self.norm2(memory), self.norm2(memory), key"},
             "You normalise the memory before your tokens attend to it.",
             "Does the docstring name a norm for the memory?"),
        edit("EDL-19 keys from the memory, values from x", {"x, memory, memory, key": "x, memory, x, key"},
             "Your cross-attention takes its keys from the memory and its values from x.",
             "Where should the values come from?"),
        edit("EDL-21 the memory is cut off from the gradient",
             {"memory, memory, key": "memory.detach(), memory.detach(), key"},
             "Your output is right, but no gradient reaches the memory.",
             "Which line detaches the memory?"),
        edit("MSK-01 an inverted memory mask", {"~memory_mask": "memory_mask"},
             "Your tokens see what memory_mask blocks, and not what it allows.",
             "What does True mean in nn.MultiheadAttention's own masks?"),
        edit("MSK-01", {LOOK: f"{LOOK[:-8]}memory_mask, need_weights=False)"}),
        edit("MSK-69", {PADDING: "padding = None"}),
        edit("EDL-23 the mask is added instead of blocking", {"~memory_mask": "(~memory_mask).float()"},
             "Blocked tokens of the memory still get some weight.",
             "What does nn.MultiheadAttention do with a mask of floats?"),
        edit("MSK-25", {PADDING: ZEROED}),
        edit("EDL-11 no residual around the cross-attention", {SECOND: "self.norm2(gathered)"},
             "In your layer, the output of the cross-attention replaces the stream.",
             "If the cross-attention returned zeros, what should the stream be after it?"),
        edit("EDL-25 no residual around the self-attention", {FIRST: "self.norm1(attended)"},
             "In your layer, the output of the self-attention replaces the stream.",
             "If the self-attention returned zeros, what should the stream be after it?"),
        edit("EDL-27 no residual around the feed-forward network", {LAST: "self.norm3(self.linear2(inner))"},
             "In your layer, the output of the feed-forward network replaces the stream.",
             "If the feed-forward network returned zeros, what should the stream be after it?"),
        edit("XATT-07 the residual taken from the memory", {SECOND: "self.norm2(memory + gathered)"},
             "You add the output of the cross-attention to the memory.", "Which tensor does this layer update?"),
        edit("EDL-09 memory before self", MEMORY_FIRST,
             "Your tokens attend to the memory before they attend to each other.",
             "Which attention comes first in this layer?"),
        edit("EDL-09", MEMORY_FIRST | {"self.norm1(": "self.norm2(", "self.norm2(": "self.norm1("}),
        edit("DEC-03", {ATTEND: ATTEND.replace("x", "self.norm1(x)"), FIRST: "x + attended",
              LOOK: LOOK.replace("(x", "(self.norm2(x)"), SECOND: "x + gathered",
              "linear1(x)": "linear1(self.norm3(x))", LAST: "x + self.linear2(inner)"}),
        edit("EDL-29 the cross-attention asks with x", START | {LOOK: LOOK.replace("(x", "(start")},
             "Your cross-attention does not use what the self-attention gathered.",
             "What should the second sublayer read: x, or the stream after the first sublayer?"),
        edit("EDL-31 a sublayer's sum is lost", START | {SECOND: "self.norm2(start + gathered)"},
             "You add the cross-attention's output to the original x, so what the self-attention added is lost.",
             "Which of your intermediate results contains everything added so far?"),
        edit("EDL-33 no cross-attention", {f"x = {SECOND}": ""},
             "Your output is the same whatever the memory holds.", "Which of your parts is never called?"),
        edit("DEC-51", {LAST: "x"}),
        edit("DEC-47", {FIRST: "x + self.norm1(attended)", SECOND: "x + self.norm2(gathered)",
              LAST: "x + self.norm3(self.linear2(inner))"}),
        edit("EDL-35 the memory's mask on x",
             {ATTEND: f"{ATTEND[:-1]}, key_padding_mask=padding if padding is not None and "
              "padding.shape[1] == tokens else None)"},
             "Your self-attention applies memory_mask to the tokens of x.",
             "Whose tokens does memory_mask describe?"),
        edit("DEC-11", {FIRST: "self.norm1(x + x + attended)", SECOND: "self.norm2(x + x + gathered)",
              LAST: "self.norm3(x + x + self.linear2(inner))"}),
        edit("DEC-11", {FIRST: "self.norm1(x + x + attended)"}),
        edit("DEC-11", {SECOND: "self.norm2(x + x + gathered)"}),
        edit("DEC-11", {LAST: "self.norm3(x + x + self.linear2(inner))"}),
        edit("EDL-05 the third norm is missing", {LAST: "x + self.linear2(inner)"},
             "You do not normalise the last sum.", HAS_NORMS),
        edit("EDL-37 the second norm is missing", {SECOND: "x + gathered"},
             "You do not normalise the sum after the cross-attention.", HAS_NORMS),
        edit("EDL-39 the first norm is missing", {FIRST: "x + attended"},
             "You do not normalise the sum after the self-attention.", HAS_NORMS),
        edit("DEC-05", {"self.norm2(": "self.norm1(", "self.norm3(": "self.norm1("}),
        edit("DEC-05", {SECOND_MADE: "self.norm2 = self.norm1", THIRD_MADE: "self.norm3 = self.norm1"}),
        edit("DEC-61", {"self.norm1": "self.norm", SECOND_MADE: "", THIRD_MADE: "", "self.norm2(": "self.norm(",
              "self.norm3(": "self.norm("}),
        edit("DEC-61", {SECOND_MADE: "", THIRD_MADE: "", "self.norm2(": "self.norm1(", "self.norm3(": "self.norm1("}),
        edit("EDL-41 the norms change places", {"self.norm2(": "self.norm3(", "self.norm3(": "self.norm2("},
             "Your norms are in the wrong order.", "Which norm belongs to which sublayer?"),
        edit("EDL-41", {"self.norm1(": "self.norm3(", "self.norm2(": "self.norm1(", "self.norm3(": "self.norm2("}),
        edit("EDL-43 one norm for two sublayers", {"self.norm3(": "self.norm2("},
             "Your last sublayer uses the second norm.", "Which of your norms is never called?"),
        edit("EDL-43", {THIRD_MADE: "self.norm3 = self.norm2"}),
        edit("EDL-15 returns the wrong stream", {LAST: "memory"},
             "You return the memory.",
             "Which of your intermediate results has passed through all three sublayers?"),
        edit("DEC-15", {f"x = {FIRST}": "x += attended\n        x = self.norm1(x)"}),
        edit("DEC-59", {LAST: f"{LAST}, None"}),
    ),
    needs={
        "memory mask": ("Your result is right without memory_mask, and wrong with it.",
                        "What does True mean in memory_mask, and what does it mean in nn.MultiheadAttention's own "
                        "masks?"),
    } | layers.words_of_needs(*layers.SUBLAYERS.values()),
    hints=(
        "Three sublayers: self-attention, cross-attention to the memory, and the feed-forward network. Each one's "
        "output is added to its input, and the sum goes through that sublayer's own norm.",
        "Cross-attention takes its queries from x, and its keys and values from the memory. So its output has one "
        "row for each token of x.",
        "True in memory_mask means *may be attended to*; in nn.MultiheadAttention's own masks True means "
        "*blocked*. The module's argument key_padding_mask takes a mask of the keys, (B, M).",
        "In outline: causal self-attention, add, norm1; cross-attention with the memory, add, norm2; linear1, "
        "ReLU, linear2, add, norm3. The shape is (B, N, d_model) throughout.",
    ),
)
