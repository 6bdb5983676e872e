"""The layer of GPT: causal self-attention and a feed-forward network, each with a norm before it and a
residual addition after it.
"""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import layers
from autograder.exercises._shared.layers import ACTIVATIONS, LAYERS, RISING, Maker
from autograder.schema import VALUES, Exercise, edit, fitting


class TransformerDecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x):
        tokens = x.shape[1]
        blocked = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(diagonal=1)
        normed = self.norm1(x)
        attended, _ = self.self_attn(normed, normed, normed, attn_mask=blocked)
        x = x + attended
        normed = self.norm2(x)
        inner = self.linear1(normed)
        inner = F.gelu(inner)
        return x + self.linear2(inner)


class Reference(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=True)

    def forward(self, x):
        future = torch.full((x.shape[1], x.shape[1]), -torch.inf, dtype=x.dtype).triu(1)
        return super().forward(x, src_mask=future)


def cases(draw):
    make = Maker(draw, cross=False)
    yield from make.both()
    yield make.case("four of everything", 4, 4, (4, 4, 16), gradients=False, float64=True)
    yield make.far_apart("scores that differ by ten thousands", RISING)


LAST = "return x + self.linear2(inner)"
FEED = "x = x + self.linear2(F.gelu(self.linear1(self.{}(x))))"
# Edits of single lines, which several mistakes combine.
UNNORMED = {"normed = self.norm1(x)": "normed = x"}
UNNORMED_LATER = {"normed = self.norm2(x)": "normed = x"}
BRANCHES_NORMED = {"x + attended": "x + self.norm1(attended)", LAST: "return x + self.norm2(self.linear2(inner))"}

EXERCISE = Exercise(
    number=2, minutes=25, difficulty=3,
    worked=TransformerDecoderLayer,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed"),
    aspects=layers.ASPECTS | {VALUES: 8},
    shapes={"x": "B N d_model", "return": "B N d_model"},
    rules=layers.BY_HAND,
    invariants=layers.INVARIANTS,
    mistakes=(
        *ACTIVATIONS,
        *fitting(TransformerDecoderLayer, LAYERS),
        edit("FFN-01", {"F.gelu(inner)": "inner", LAST: "return x + F.gelu(self.linear2(inner))"}),
        edit("FFN-03", {LAST: "return x + F.gelu(self.linear2(inner))"}),
        edit("DEC-01 the first residual taken after the norm", {"x = x + attended": "x = normed + attended"},
             "You add the attention's output to the normalised x.",
             "Which tensor should the attention's output be added to?"),
        edit("DEC-21 the second residual taken after the norm", {LAST: "return normed + self.linear2(inner)"},
             "You add the feed-forward network's output to the normalised stream.",
             "Which tensor should the feed-forward network's output be added to?"),
        edit("DEC-23 no residual around the attention", {"x = x + attended": "x = attended"},
             "In your layer, the output of the attention replaces the stream.",
             "If the attention returned zeros, what should the stream be after it?"),
        edit("DEC-23", {"x = x + attended": "x = attended", LAST: "return self.linear2(inner)"}),
        edit("DEC-25 no residual around the feed-forward network", {LAST: "return self.linear2(inner)"},
             "In your layer, the output of the feed-forward network replaces the stream.",
             "If the feed-forward network returned zeros, what should the stream be after it?"),
        edit("DEC-03 the norm on the other side of the plus",
             UNNORMED | UNNORMED_LATER | {"x + attended": "self.norm1(x + attended)",
                                          LAST: "return self.norm2(x + self.linear2(inner))"},
             "Your norms are on the wrong side of the additions.",
             "Where does this layer apply its norms: before each sublayer, or after each addition?"),
        edit("DEC-13 feed-forward first, attention second",
             {"normed = self.norm1(x)": f"{FEED.format('norm1')}\n        normed = self.norm2(x)", LAST: "return x"},
             "Your two sublayers are in the wrong order.",
             "Which comes first in this layer: the attention, or the feed-forward network?"),
        edit("DEC-13", {"normed = self.norm1(x)": f"{FEED.format('norm2')}\n        normed = self.norm1(x)",
                        LAST: "return x"}),
        edit("DEC-41 the sublayers side by side",
             {"x = x + attended": "normed = self.norm2(x)", "normed = self.norm2(x)": "x = x + attended"},
             "Your feed-forward network does not use what the attention gathered.",
             "What should the second sublayer read: x, or the stream after the first sublayer?"),
        edit("DEC-43 both sublayers read the same", {"normed = self.norm2(x)": ""},
             "Your feed-forward network reads the attention's input.",
             "Which tensor should the second sublayer normalise and read?"),
        edit("DEC-45 the first sublayer's sum is lost", {"x = x + attended": "", "norm2(x)": "norm2(x + attended)"},
             "You add the feed-forward network's output to the original x, so what the attention added is lost.",
             "Which of your intermediate results contains everything added so far?"),
        edit("DEC-45", {"x = x + attended": "", "norm2(x)": "norm2(attended)"}),
        edit("DEC-47 the norm inside the branch", UNNORMED | UNNORMED_LATER | BRANCHES_NORMED,
             "You normalise the output of a sublayer, just before it is added.",
             "Which tensor should go through the norm?"),
        edit("DEC-49 only the queries are normed", {"normed, normed, normed": "normed, x, x"},
             "Your keys and values come from the stream without a norm.",
             "Which tensor do queries, keys and values of self-attention share?"),
        edit("DEC-11 a residual added twice",
             {"tokens = x.shape[1]": "tokens, start = x.shape[1], x", LAST: "return start + x + self.linear2(inner)"},
             "You add the stream once too often.", "How many times does x enter the sum?"),
        edit("DEC-11", {"x = x + attended": "x = x + normed + attended"}),
        edit("DEC-11", {"x = x + attended": "x = x + x + attended"}),
        edit("DEC-11", {LAST: "return x + x + self.linear2(inner)"}),
        edit("DEC-51 no feed-forward network", {LAST: "return x"},
             "You return the stream as it is before the feed-forward network.",
             "Which of your parts are never called?"),
        edit("DEC-05 one norm for all sublayers", {"self.norm2(": "self.norm1("},
             "All your sublayers use one and the same norm.",
             "Which line makes each norm, and which sublayer calls it?"),
        edit("DEC-05", {"self.norm2 = nn.LayerNorm(d_model)": "self.norm2 = self.norm1"}),
        edit("DEC-61 only one norm among the parts",
             {"self.norm1": "self.norm", "self.norm2 = nn.LayerNorm(d_model)": "", "self.norm2(": "self.norm("},
             "Your layer owns a single norm, and every sublayer uses it.",
             "How many norms does the docstring name?"),
        edit("DEC-27 the norms change places", {"self.norm1(": "self.norm2(", "self.norm2(": "self.norm1("},
             "Each of your sublayers uses the other's norm.", "Which norm belongs to which sublayer?"),
        edit("DEC-09 no norm before the attention", UNNORMED,
             "Your attention reads the stream without a norm.",
             "Which sublayers of this layer read a normalised input?"),
        edit("DEC-29 no norm before the feed-forward network", UNNORMED_LATER,
             "Your feed-forward network reads the stream without a norm.",
             "Which sublayers of this layer read a normalised input?"),
        edit("DEC-31 no norm at all", UNNORMED | UNNORMED_LATER,
             "Neither of your sublayers reads a normalised stream.", "Which of your parts are never called?"),
        edit("DEC-33 one norm too many", {LAST: "return self.norm2(x + self.linear2(inner))"},
             "Your output is normalised once more at the end.",
             "How many norms does a pre-norm layer use?"),
        edit("DEC-15 writes into its input", {"x = x + attended": "x += attended"},
             "After the call the caller's x holds different numbers.",
             "Does `+=` make a new tensor, or write into x?"),
        edit("DEC-55 one norm too many among the parts",
             {"self.norm2 = nn.LayerNorm(d_model)": "self.norm2, self.norm3 = (nn.LayerNorm(d_model) for _ in '23')"},
             "Your layer owns a third norm.", "Which norms does the docstring name?"),
        edit("DEC-59 a pair instead of a tensor", {LAST: "return x + self.linear2(inner), None"},
             "You return two things instead of one.",
             "According to the docstring, what does the layer return?"),
    ),
    needs=layers.words_of_needs("the self-attention", "the feed-forward network"),
    hints=(
        "The residual stream runs straight from x to the output, and two sublayers add to it. Each sublayer "
        "reads a normalised copy of the stream; the stream itself, to which the sublayer's output is "
        "added, stays unnormalised.",
        "The attention is causal: no token may attend to a later one. In nn.MultiheadAttention's mask True means "
        "*blocked*. The module returns a pair; its first element is the output.",
        "In outline: normalise x, apply causal self-attention, add the result to x; normalise the sum, apply the "
        "feed-forward network, add the result to the sum.",
    ),
)
