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
    """A random mask, of which no row is all padding."""
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
             "Your mean runs over padding as well.", "Which tokens does the mask call real?"),
        edit("CLS-13 divided by the length of the row", {COUNT: "x.shape[1]"},
             "Your sum is right, and divided by the number of places instead of that of real tokens.",
             "How many tokens were added up?"),
        edit("CLS-15 a sum", {LAST: "total"},
             "Your vector grows with the number of tokens.", "What is the mean of two equal vectors?"),
        edit("CLS-17 a row without real tokens gives NaN", {".clamp(min=1)": ""},
             "A row without real tokens gives 0/0 in yours.", "How many tokens do you divide by when there is none?"),
        edit("CLS-19 the mask the other way round", {REAL: "~padding[..., None]"},
             "Your mean runs over only the padding.", "Does True stand for a real token or for padding?"),
        edit("CLS-05 pooled over the samples", {TOTAL: "(x * real).sum(dim=0)", COUNT:
             "real.sum(dim=0).clamp(min=1)"},
             "Your mean runs over the samples.", "Along which axis do the tokens of one sentence lie?"),
        edit("CLS-05", {TOTAL: "(x * real).sum(dim=0)"}),
        edit("CLS-35 pooled over the features", {TOTAL: "(x * real).sum(dim=2)", COUNT: "x.shape[2]"},
             "Your mean runs over the features of a token.", "Along which axis do the tokens of one sentence lie?"),
        edit("CLS-21 one count for all rows", {COUNT: "real.sum().clamp(min=1)"},
             "You divide by the number of real tokens of all rows together.",
             "Do two sentences of different length share one count?"),
        edit("CLS-21", {COUNT: "real.sum(dim=1).clamp(min=1).max()"}),
        edit("CLS-23 the largest instead of the mean", {LAST: "x.masked_fill(~real, -torch.inf).amax(dim=1)"},
             "Each of your features is the largest of its row.", "What is the mean of 1 and 3?"),
        edit("CLS-23", {LAST: "x.masked_fill(~real, -torch.inf).amax(dim=1).nan_to_num(neginf=0.0)"}),
        edit("CLS-25 an axis too many", {TOTAL: "(x * real).sum(dim=1, keepdim=True)", COUNT:
             "real.sum(dim=1, keepdim=True).clamp(min=1)"},
             "Your result still has an axis for tokens.", "How many vectors should a sentence have in the end?"),
        edit("CLS-27 one token too many", {COUNT: "(real.sum(dim=1) + 1)"},
             "You divide by one more token than there is.", "What keeps 0/0 away without moving any other mean?"),
        edit("CLS-27", {COUNT: "(real.sum(dim=1) + 1e-2)"},
             "You divide by a little more than there are tokens.",
             "What keeps 0/0 away without moving any other mean?"),
        edit("CLS-29 zeros do not count", {COUNT: "(x * real != 0).sum(dim=1).clamp(min=1)"},
             "Features that are exactly zero do not count in yours.",
             "What says that a token is padding: its numbers, or the mask?"),
        edit("CLS-31 the first tokens of each row", {REAL:
             "(torch.arange(x.shape[1]) < padding.sum(1, keepdim=True))[..., None]"},
             "You take as many tokens as are real, but from the beginning of the row.",
             "Where do the real tokens stand when the padding comes first?"),
        edit("CLS-33 NaN cleaned away at the end", {".clamp(min=1)": "", LAST: "(total / count).nan_to_num()"},
             "The values are right, but gradients through a row without real tokens are NaN.",
             "Where does 0/0 come from, and what does the way back make of it?"),
        edit("CLS-33", {".clamp(min=1)": "", LAST: "torch.where(count > 0, total / count, 0.0)"}),
        edit("CLS-37 the last real token", {LAST: "x[torch.arange(len(x)), (padding * "
             "torch.arange(x.shape[1])).argmax(1)]"},
             "You return one token of each row.", "What does every other real token add to the mean?"),
        edit("CLS-39 one sample's mask for all", {REAL: "padding[:1, :, None]"},
             "Every sample uses the mask of the first.", "Whose tokens does each row of the mask speak of?"),
        edit("CLS-41 divided by the root", {LAST: "total / count.sqrt()"},
             "Your vector grows with the root of the number of tokens.", "What is the mean of two equal vectors?"),
    ),
    combinable=("CLS-13", "CLS-19", "CLS-31", "CLS-39"),
    needs={
        "empty": ("Only rows without real tokens go wrong.", "What is due there, and what do you divide by?"),
        "not at the end": ("Where all padding stands at the end you are right; elsewhere you are not.",
                           "What tells you which tokens are real: their place, or the mask?"),
        "padded": ("Where every token is real you are right; with padding you are not.",
                   "What does each padded token add to your sum, and to your count?"),
        "": ("Where every token is real, your mean is already another.",
             "Over which axis does the mean run, and by which number do you divide?"),
    },
    hints=(
        "A mean is a sum and a count. What may a padded token add to either?",
        "True and False can be 1 and 0: (B, N) lacks one axis to meet (B, N, D). Then, what about a row in which the "
        "count is 0?",
        "The shape of it: multiply by the mask, add up over tokens, divide by the number of real ones, which is at "
        "least one.",
    ),
)
