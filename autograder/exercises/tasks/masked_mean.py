"""One vector for a whole text: the mean over its real tokens."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, samples_apart


def masked_mean(x, padding):
    real = padding[..., None]
    total = (x * real).sum(dim=1)
    count = real.sum(dim=1).clamp(min=1)
    return total / count


def reference(x, padding):
    rows = [tokens[real].mean(dim=0) if real.any() else 0 * tokens[0] for tokens, real in zip(x, padding, strict=True)]
    return torch.stack(rows)


EMPTY = "rows without real tokens"


def cases(draw):
    batch, tokens, width = draw.sizes(3, 4, 8)
    padded, gaps = ("padded",), ("padded", "not at the end")
    yield _case(draw, "all sizes different", _mask(draw, batch, tokens), width, needs=gaps)
    yield _case(draw, "nothing is padded", torch.ones(3, 5, dtype=torch.bool), 4)
    yield _case(draw, "padding at the end", torch.arange(6) < torch.tensor([[4], [6], [1], [3]]), 3, needs=padded)
    yield _case(draw, "padding at the beginning", torch.arange(5) >= torch.tensor([[4], [0], [2]]), 4, needs=gaps)
    # One real token, two, or four: their shares are exact in float32 as well.
    some = torch.tensor([[0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 1]]).bool()
    yield _case(draw, "four of everything", some, 4, needs=gaps, float64=True)
    yield _case(draw, "one feature", _mask(draw, 3, 4), 1, needs=gaps)
    yield _case(draw, "one of everything", torch.ones(1, 1, dtype=torch.bool), 1)
    first = _case(draw, "two samples", torch.tensor([[True, False, True], [True, True, False]]), 4, needs=gaps)
    yield first
    x, padding = first.args
    other = torch.cat((x[:1], draw.normal(1, 3, 4))), torch.cat((padding[:1], ~padding[1:]))
    yield Case("another second sample", other, gradients=False, needs=gaps)
    large = _case(draw, "large numbers in the padding", _mask(draw, 3, 5), 4, needs=gaps)
    yield Case(large.family, (large.args[0].masked_fill(~large.args[1][..., None], 8e3), large.args[1]), needs=gaps)
    zeros = _case(draw, "zeros among the features", _mask(draw, 3, 6), 4, needs=gaps)
    yield Case(zeros.family, (zeros.args[0].relu(), zeros.args[1]), needs=gaps)
    yield _case(draw, "a long sequence", _mask(draw, 2, 400), 3, gradients=False, needs=gaps)
    empty = {"aspect": EMPTY, "needs": (*gaps, "empty")}
    yield _case(draw, "a row without real tokens", torch.tensor([[True, False], [False] * 2, [True] * 2]), 3, **empty)
    yield _case(draw, "no real token at all", torch.zeros(1, 3, dtype=torch.bool), 2, **empty)


def _mask(draw, batch, tokens):
    """Return a random mask with a real token in every row; the first row begins with padding."""
    mask = draw.integers(0, 2, batch, tokens) > 0
    mask[torch.arange(batch), draw.integers(0, tokens - 1, batch)] = True
    mask[0, 0] = False
    mask[0, 1:] |= ~mask[0].any()
    return mask


def _case(draw, family, padding, width, **more):
    return Case(family, (draw.normal(*padding.shape, width), padding), **more)


REAL, TOTAL, COUNT = "padding[..., None]", "(x * real).sum(dim=1)", "real.sum(dim=1).clamp(min=1)"
LAST = "total / count"

EXERCISE = Exercise(
    number=1, minutes=8, difficulty=1,
    worked=masked_mean,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 3, EMPTY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B N D", "padding": "B N", "return": "B D"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        edit("CLS-11 padding counts", {LAST: "x.mean(dim=1)"},
             "Your mean includes padding.", "Which tokens are real according to the mask?"),
        edit("CLS-13 divided by the length of the row", {COUNT: "x.shape[1]"},
             "Your sum is right, but you divide it by the number of positions.",
             "How many tokens did you add up?"),
        edit("CLS-15 a sum", {LAST: "total"},
             "Your vector grows with the number of tokens.", "What is the mean of two equal vectors?"),
        edit("CLS-17 a row without real tokens gives NaN", {".clamp(min=1)": ""},
             "For a row without real tokens you compute 0/0.",
             "What can you divide by when there are no real tokens?"),
        edit("CLS-19 the mask the other way round", {REAL: "~padding[..., None]"},
             "You average over the padding only.", "Does True stand for a real token or for padding?"),
        edit("CLS-05 pooled over the samples", {TOTAL: "(x * real).sum(dim=0)", COUNT:
             "real.sum(dim=0).clamp(min=1)"},
             "You average over the samples.", "Along which axis are the tokens of one text?"),
        edit("CLS-05", {TOTAL: "(x * real).sum(dim=0)"}),
        edit("CLS-35 pooled over the features", {TOTAL: "(x * real).sum(dim=2)", COUNT: "x.shape[2]"},
             "You average over the features of a token.", "Along which axis are the tokens of one text?"),
        edit("CLS-21 one count for all rows", {COUNT: "real.sum().clamp(min=1)"},
             "You divide every row by the same count.",
             "Should two texts of different lengths share one count?"),
        edit("CLS-21", {COUNT: "real.sum(dim=1).clamp(min=1).max()"}),
        edit("CLS-23 the largest instead of the mean", {LAST: "x.masked_fill(~real, -torch.inf).amax(dim=1)"},
             "You take the largest value of each feature.", "What is the mean of 1 and 3?"),
        edit("CLS-23", {LAST: "x.masked_fill(~real, -torch.inf).amax(dim=1).nan_to_num(neginf=0.0)"}),
        edit("CLS-25 an axis too many", {TOTAL: "(x * real).sum(dim=1, keepdim=True)", COUNT:
             "real.sum(dim=1, keepdim=True).clamp(min=1)"},
             "Your result still has an axis for the tokens.",
             "How many vectors should each text have in the result?"),
        edit("CLS-27 one token too many", {COUNT: "(real.sum(dim=1) + 1)"},
             "You divide by one more than the number of real tokens.",
             "How can you avoid 0/0 without changing the other means?"),
        edit("CLS-27", {COUNT: "(real.sum(dim=1) + 1e-2)"},
             "You add a small number to the count.",
             "How can you avoid 0/0 without changing the other means?"),
        edit("CLS-29 zeros do not count", {COUNT: "(x * real != 0).sum(dim=1).clamp(min=1)"},
             "You do not count features that are exactly zero.",
             "Which tells you what is padding: the numbers in x or the mask?"),
        edit("CLS-31 the first tokens of each row", {REAL:
             "(torch.arange(x.shape[1]) < padding.sum(1, keepdim=True))[..., None]"},
             "You average the first tokens of each row, as many as there are real ones.",
             "Where are the real tokens when the padding comes first?"),
        edit("CLS-33 NaN cleaned away at the end", {".clamp(min=1)": "", LAST: "(total / count).nan_to_num()"},
             "The values are right, but gradients through a row without real tokens are NaN.",
             "You replace the NaN after it has occurred; how can you avoid 0/0 altogether?"),
        edit("CLS-33", {".clamp(min=1)": "", LAST: "torch.where(count > 0, total / count, 0.0)"}),
        edit("CLS-37 the last real token", {LAST: "x[torch.arange(len(x)), (padding * "
             "torch.arange(x.shape[1])).argmax(1)]"},
             "You return one token of each row.", "How much should each of the other real tokens contribute?"),
        edit("CLS-39 one sample's mask for all", {REAL: "padding[:1, :, None]"},
             "You use the first sample's mask for every sample.",
             "Which row of the mask belongs to the second sample?"),
        edit("CLS-41 divided by the root", {LAST: "total / count.sqrt()"},
             "You divide by the square root of the number of tokens.",
             "What is the mean of two equal vectors?"),
    ),
    needs={
        "empty": ("Your answer is wrong only for rows without real tokens.",
                  "What should such a row give, and what do you divide by?"),
        "not at the end": ("Your answer is wrong only when padding is not at the end.",
                           "Does the mask or the position tell you which tokens are real?"),
        "padded": ("Your answer is wrong only when there is padding.",
                   "How much does a padded token add to your sum and to your count?"),
        "": ("Even without padding, your mean is wrong.",
             "Which axis does the mean run over, and what do you divide by?"),
    },
    hints=(
        "A mean is a sum divided by a count. A padded token must add nothing to either of them.",
        "Multiplying by a Boolean mask multiplies by 1 or 0. Give the mask (B, N) a last axis of size 1, "
        "so that it broadcasts against x (B, N, D). In a row without real tokens the count is 0, so "
        "`clamp` it to at least 1.",
        "In outline: multiply x by the mask, sum over the token axis, and divide by the number of real tokens in each "
        "row, clamped to at least 1.",
    ),
)
