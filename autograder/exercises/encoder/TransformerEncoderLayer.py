"""The encoder layer: self-attention and a feed-forward network, with a norm after each addition (Vaswani et
al. 2017).
"""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared import layers
from autograder.exercises._shared.attention import TOO_SMALL
from autograder.exercises._shared.attention_cases import some_mask
from autograder.exercises._shared.layers import LAYERS, MADE, RISING, Maker
from autograder.schema import Exercise, edit, fitting, samples_apart, standard_cases


class TransformerEncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, padding=None):
        blocked = None if padding is None else ~padding
        attended, _ = self.self_attn(x, x, x, key_padding_mask=blocked)
        x = self.norm1(x + attended)
        inner = F.relu(self.linear1(x))
        return self.norm2(x + self.linear2(inner))


class Reference(nn.TransformerEncoderLayer):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__(d_model, n_heads, d_ff, 0.0, "relu", batch_first=True, norm_first=False)

    def forward(self, x, padding=None):
        return super().forward(x, src_key_padding_mask=None if padding is None else ~padding)


class ReadingMaker(Maker):
    """A maker of cases for the encoder layer. This layer normalises after each addition, like the decoder
    layer with cross-attention, but has no memory.
    """

    def __init__(self, draw):
        super().__init__(draw, cross=True)
        self.cross, self.sublayers = False, ["the self-attention", "the feed-forward network"]

    def case(self, family, *given, **more):
        # Attention reads these tokens without a norm before it, so that larger ones would give huge scores.
        if more.get("stretch") == 50.0:
            more["stretch"] = 6.0
        return super().case(family, *given, **more)


def cases(draw):
    make = ReadingMaker(draw)
    yield from make.both()
    yield make.case("four of everything", 4, 4, (4, 4, 16), gradients=False, float64=True)
    padded, gaps = {"needs": ("padding",)}, {"needs": ("padding", "gaps")}
    for family, mask in (
        ("padding at the end", torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]]).bool()),
        ("padding at the beginning", torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [0, 0, 0, 0, 1]]).bool()),
        ("padding anywhere", some_mask(draw, (3, 5))),
    ):
        needs = ("padding",) if family.endswith("end") else ("padding", "gaps")
        case = make.case(family, 3, 5, (2, 3, 5), result_mask="padding", gradients=family.endswith("end"), needs=needs)
        case.kwargs["padding"] = mask
        # Large padding tokens, so that attending to them shows.
        case.args[0][~mask] *= 3
        yield case
    yield from standard_cases([case], ("float64",))
    # Neither the first nor the last sentence shows that there is padding.
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]]).bool()
    yield make.case("padding between full sentences", 3, 4, (2, 3, 5), mask=mask, result_mask="1", gradients=False,
                    needs=("padding", "full sentences"))
    mask = torch.tensor([[True, False, True, False]])
    yield make.case("one sentence with padding", 1, 4, (2, 3, 5), mask=mask, result_mask="1", gradients=False, **gaps)
    mask = some_mask(draw, (4, 4))
    yield make.case("padding by position, four of everything", 4, 4, (4, 4, 5), mask=mask, result_mask="1",
                    gradients=False, **gaps)
    # Every padding token has a larger score than all real tokens.
    mask = torch.tensor([[True, True, False, False]] * 2)
    yield make.far_apart("padding, scores that differ by ten thousands", RISING, mask=mask, result_mask="1", **padded)
    mask = torch.ones(2, 3, dtype=torch.bool)
    yield make.case("a mask without padding", 2, 3, (3, 2, 5), mask=mask, gradients=False, **padded)


ATTEND = "self.self_attn(x, x, x, key_padding_mask=blocked)"
FIRST, LAST, INNER = "self.norm1(x + attended)", "self.norm2(x + self.linear2(inner))", "F.relu(self.linear1(x))"
BLOCKED = "blocked = None if padding is None else ~padding"
FUTURE = "torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)"
NET = "x + self.linear2(F.relu(self.linear1(x)))"
SECOND_MADE = "self.norm2 = nn.LayerNorm(d_model)"

EXERCISE = Exercise(
    number=2, minutes=18, difficulty=2,
    worked=TransformerEncoderLayer,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects=layers.ASPECTS,
    shapes={"x": "B N d_model", "padding": "B N", "return": "B N d_model"},
    rules=layers.BY_HAND,
    invariants=(samples_apart("two samples of five tokens", "another second sample"),),
    mistakes=(
        *fitting(TransformerEncoderLayer, LAYERS),
        edit("MSK-07 a fill that is not low enough",
             {"=blocked": "=None if blocked is None else blocked.to(x.dtype) * -1e4"}, *TOO_SMALL),
        edit("MSK-07", {"=blocked": "=None if blocked is None else blocked.to(x.dtype) * -100.0"}),
        edit("ENC-01 causal by accident", {"key_padding_mask=blocked": f"key_padding_mask=blocked, attn_mask={FUTURE}"},
             "Only your last token sees the whole sentence.", "Is an encoder layer causal?"),
        edit("ENC-03 the norm after the feed-forward network is missing", {LAST: "x + self.linear2(inner)"},
             "You do not normalise the last sum.", "Which norm comes after which addition?"),
        edit("ENC-07 the norm after the attention is missing", {FIRST: "x + attended"},
             "You do not normalise the sum after the attention.",
             "Which norm comes after which addition?"),
        edit("EDL-17", {"F.relu": "F.gelu"}),
        edit("FFN-13", {INNER: "self.linear1(x)"}),
        edit("ENC-05 dropout where none is asked for", {LAST: "self.norm2(x + F.dropout(self.linear2(inner), 0.1, "
             "self.training))"},
             "In training mode, two calls give different results.",
             "Which value of dropout does the docstring ask for?"),
        edit("ENC-05", {MADE: "nn.MultiheadAttention(d_model, n_heads, dropout=0.1, batch_first=True)"}),
        edit("ENC-09 inverted padding", {"~padding": "padding"},
             "Your tokens attend to the padding and not to the real tokens.",
             "What does True mean in nn.MultiheadAttention's own masks?"),
        edit("ENC-09", {"~padding": "padding", ATTEND: f"{ATTEND[:-1]}, need_weights=False)"}),
        edit("ENC-11 padding is not blocked", {BLOCKED: "blocked = None"},
             "Your tokens attend to padding as they do to any other token.", "Which line uses `padding`?"),
        edit("ENC-29 padding counts only where all have some",
             {"padding is None else": "padding is None or padding.all(dim=1).any() else"},
             "When one of the sentences has no padding, you mask none of them.",
             "Should one sentence decide whether another one is masked?"),
        edit("ENC-13 padding is zeroed instead of blocked",
             {BLOCKED: "blocked = None\n        x = x if padding is None else x * padding[..., None]"},
             "You replace padded tokens with zeros, but they still get some weight.",
             "Does softmax give a score of 0 the weight 0?"),
        edit("ENC-15 padding is added instead of blocking", {"~padding": "(~padding).to(x.dtype)"},
             "Padded tokens still get some weight.", "What does nn.MultiheadAttention do with a mask of floats?"),
        edit("ENC-17 the first sentence's padding for all", {"~padding": "(~padding[:1]).expand(len(x), -1)"},
             "You mask every sentence with the padding of the first one.",
             "Which sentence does each row of `padding` describe?"),
        edit("ENC-25 the masks of the heads in another order", {"key_padding_mask=blocked": "attn_mask=None if blocked "
             "is None else blocked[:, None].expand(-1, x.shape[1], -1).repeat(self.self_attn.num_heads, 1, 1)"},
             "Some of your heads use the padding of another sentence.",
             "The first axis of attn_mask counts B*H masks. Which changes faster along it: the head or the sentence?"),
        edit("EDL-25", {FIRST: "self.norm1(attended)"}),
        edit("EDL-27", {LAST: "self.norm2(self.linear2(inner))"}),
        edit("ENC-19 no residual at all", {FIRST: "self.norm1(attended)", LAST: "self.norm2(self.linear2(inner))"},
             "Neither of your sublayers has a residual connection around it.",
             "If a sublayer returned zeros, what should the norm after it receive?"),
        edit("DEC-03", {ATTEND: ATTEND.replace("x, x, x", "*[self.norm1(x)] * 3"), FIRST: "x + attended",
              INNER: "F.relu(self.linear1(self.norm2(x)))", LAST: "x + self.linear2(inner)"}),
        edit("DEC-47", {FIRST: "x + self.norm1(attended)", LAST: "x + self.norm2(self.linear2(inner))"}),
        edit("DEC-05", {"self.norm2(": "self.norm1("}),
        edit("DEC-05", {SECOND_MADE: "self.norm2 = self.norm1"}),
        edit("DEC-61", {"self.norm1": "self.norm", SECOND_MADE: "", "self.norm2(": "self.norm("}),
        edit("DEC-27", {"self.norm1(": "self.norm2(", "self.norm2(": "self.norm1("}),
        edit("DEC-13", {BLOCKED: f"x = self.norm1({NET})\n        {BLOCKED}", FIRST: "self.norm2(x + attended)",
              LAST: "x"}),
        edit("DEC-13", {BLOCKED: f"x = self.norm2({NET})\n        {BLOCKED}", LAST: "x"}),
        edit("DEC-51", {LAST: "x"}),
        edit("ENC-21 no attention", {f"x = {FIRST}": "x = self.norm1(x)"},
             "Your tokens do not see each other.", "Which line uses the result of the attention?"),
        edit("ENC-23 the first sum is lost", {f"x = {FIRST}": "start, x = x, self.norm1(x + attended)",
             LAST: "self.norm2(start + self.linear2(inner))"},
             "You add the feed-forward network's output to the original x, so what the attention added is lost.",
             "Which of your intermediate results contains everything added so far?"),
        edit("DEC-11", {FIRST: "self.norm1(x + x + attended)"}),
        edit("DEC-11", {LAST: "self.norm2(x + x + self.linear2(inner))"}),
        edit("DEC-15", {f"x = {FIRST}": "x += attended\n        x = self.norm1(x)"}),
        edit("DEC-59", {LAST: f"{LAST}, None"}),
    ),
    needs={
        "padding": ("Your result is right without padding, and wrong with it.",
                    "What does True mean in `padding`, and what does it mean in nn.MultiheadAttention's own masks?"),
        "gaps": ("Your result is right with padding at the end, and wrong with padding before a real token.",
                 "What does your code compute from `padding`, and is that right when the padding comes first?"),
        "full sentences": ("Your result is wrong when the first and the last sentence have no padding, but another "
                           "sentence has some.",
                           "Which sentences does your code look at before it decides whether to mask?"),
    } | layers.words_of_needs("the self-attention", "the feed-forward network"),
    hints=(
        "There are two sublayers: self-attention, and a feed-forward network with ReLU. Each one's output is "
        "added to its input, and the sum goes through that sublayer's own norm.",
        "True in `padding` means a real token; in nn.MultiheadAttention's own masks True means *blocked*. "
        "The module's argument key_padding_mask takes a mask of the keys, (B, N).",
        "In outline: self-attention under the padding mask, add, norm1; linear1, ReLU, linear2, add, norm2. The "
        "shape is (B, N, d_model) throughout.",
    ),
)
