"""A causal mask and a padding mask combined into one, with an axis for heads."""

import torch

from autograder.exercises._shared.attention_cases import causal
from autograder.exercises._shared.masks import FORMS
from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit, fitting


def combine_masks(causal, padding):
    keys = padding[:, None, None, :]
    mask = causal & keys
    return mask


def reference(causal, padding):
    return torch.logical_and(causal[None, None], padding[:, None, None, :])


def cases(draw):
    batch, tokens = draw.sizes(2, 2, 6)
    yield _case("all sizes different", causal(tokens), _real(draw, batch, tokens), observe=True)
    yield _case("as many samples as tokens", causal(4), _real(draw, 4, 4))
    yield _case("one sample of one token", causal(1), _real(draw, 1, 1))
    yield _case("padding on the left", causal(4), torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1]]).bool())
    yield _case("one sample with padding", causal(4), torch.tensor([[True, True, False, False]]))
    between = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]]).bool()
    yield _case("padding between full samples", causal(4), between)
    yield _case("no padding", causal(5), torch.ones(3, 5, dtype=torch.bool))
    window = causal(5) & ~causal(5).tril(-2)
    yield _case("a causal mask that sees two tokens", window, _real(draw, 3, 5))


def _case(family, *masks, **more):
    return Case(family, masks, gradients=False, **more)


def _real(draw, batch, tokens):
    return torch.arange(tokens) < draw.integers(0, tokens, batch, 1)


KEYS, BOTH = "padding[:, None, None, :]", "causal & keys"

EXERCISE = Exercise(
    number=4, minutes=6, difficulty=2,
    worked=combine_masks,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 3, SIDE_EFFECTS: 1},
    shapes={"causal": "N N", "padding": "B N", "return": "B 1 N N"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        edit("MSK-01", {"return mask": "return ~mask"}),
        edit("MSK-01", {BOTH: "~causal & keys"}),
        edit("MSK-23 the wrong connective", {"&": "|"},
             "Your mask allows pairs that only one of the two masks allows.",
             "Must a pair be allowed by one of the masks, or by both?"),
        edit("MSK-23", {"&": "=="}),
        edit("MSK-23", {"&": "^"}),
        edit("MSK-91 padding blocks queries instead of keys", {KEYS: "padding[:, None, :, None]"},
             "Your padding mask blocks whole rows; the padded columns stay open.",
             "No query may attend to a padding token. In the mask, do the rows or the columns hold the "
             "tokens attended to?"),
        edit("MSK-93 padding blocks queries too", {KEYS: "padding[:, None, :, None] & padding[:, None, None, :]"},
             "Your padding mask blocks rows as well as columns.",
             "Does the formula stop a padding token from attending, or only from being attended to?"),
        edit("MSK-17 an axis is missing", {KEYS: "padding"},
             "The batch axis of your padding mask lines up with the query axis.",
             "Line the shapes up from the right. Which axis of one mask meets which axis of the other?"),
        edit("MSK-95 no axis for the heads", {KEYS: "padding[:, None, :]"},
             "Your mask is (B, N, N): it has no axis for the heads.",
             "Which axis lets one mask serve all heads at once?"),
        edit("MSK-95", {"return mask": "return mask[:, 0]"}),
        edit("MSK-97 the padding mask is inverted", {KEYS: "~padding[:, None, None, :]"},
             "You read True in `padding` as a padding token.",
             "According to the docstring, what does True mean in `padding`?"),
        edit("MSK-77 the mask is transposed", {BOTH: "causal.T & keys"},
             "You use a mask with its query and key axes swapped.",
             "Which axis of the mask holds the queries, and which the keys?"),
        edit("MSK-99 one of the two masks is left out", {BOTH: "causal & torch.ones_like(keys)"},
             "One of the two masks has no effect on your result.",
             "Which line uses the padding mask, and which uses the causal one?"),
        edit("MSK-99", {BOTH: "keys.expand(-1, 1, len(causal), -1)"}),
        edit("MSK-99", {BOTH: "torch.ones_like(causal).tril() & keys"}),
        edit("MSK-99", {BOTH: "keys"}),
        edit("MSK-113 one sample's padding for all",
             {KEYS: "padding[:1, None, None, :].expand(len(padding), 1, 1, -1)"},
             "You use one sample's padding for every sample.",
             "Which row of the padding mask belongs to the second sample?"),
        edit("MSK-113", {KEYS: "padding[-1:, None, None, :].expand(len(padding), 1, 1, -1)"}),
        *fitting(combine_masks, FORMS),
        edit("MSK-47", {"return mask": "return mask.transpose(0, 1)"}),
        edit("MSK-19 a mask is changed by the call",
             {BOTH: "~(causal.logical_not_() | padding.logical_not_()[:, None, None, :])"},
             "After the call the caller's mask holds different values.",
             "Which line writes into a mask that was passed in?"),
    ),
    hints=(
        "A pair is allowed if the causal mask allows it and the key is a real token. Which Boolean operation on "
        'tensors says "and"?',
        "Write the shapes (N, N) and (B, N) one below the other, aligned from the right. The padding mask says "
        "something about keys, so its N must stay the last axis; insert axes of size 1 before it with `None` or "
        "`unsqueeze`.",
        "In outline: give the padding mask the shape (B, 1, 1, N), so that it broadcasts against the (N, N) "
        "causal mask, and combine the two; the result is (B, 1, N, N).",
    ),
)
