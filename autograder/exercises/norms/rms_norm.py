"""RMSNorm: every token is divided by the root of its mean square; no mean is subtracted (Zhang and Sennrich
2019).
"""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.norms import ASPECTS, BY_HAND, OTHERS, SHARED, SPECIAL, norm_cases
from autograder.schema import VALUES, Case, Exercise, edit, fitting


def rms_norm(x, weight, eps=1e-6):
    square = x.square()
    variance = square.mean(dim=-1, keepdim=True)
    normed = x / torch.sqrt(variance + eps)
    return normed * weight


def reference(x, weight, eps=1e-6):
    return F.rms_norm(x, weight.shape, weight, eps)


def cases(draw):
    yield from norm_cases(draw, with_bias=False)
    weight = 1.5 + draw.normal(6, scale=0.5)
    zeros = torch.cat((torch.zeros(2, 6), draw.normal(1, 6)))
    yield Case("rows of zeros", (zeros, weight), aspect=SPECIAL, needs=("constant", *OTHERS))
    yield Case("rows of one number", (draw.eighths(3, 1).expand(3, 6) + 3, weight), aspect=SPECIAL,
               needs=("mean", *OTHERS))


MEAN, ROOT, LAST = "square.mean(dim=-1, keepdim=True)", "torch.sqrt(variance + eps)", "return normed * weight"
SQUARE = "square = x.square()"

EXERCISE = Exercise(
    number=2, minutes=6, difficulty=1,
    worked=rms_norm,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects=ASPECTS | {VALUES: 2},
    shapes={"x": "... D", "weight": "D", "return": "... D"},
    rules=BY_HAND,
    mistakes=(
        *fitting(rms_norm, SHARED),
        edit("RMS-01 the mean is taken away", {SQUARE: "x = x - x.mean(dim=-1, keepdim=True)\n    square = x.square()"},
             "You subtract the mean before you square.", "What does this norm leave out, compared with a LayerNorm?"),
        edit("RMS-01", {SQUARE: "square = (x - x.mean(dim=-1, keepdim=True)).square()"}),
        edit("RMS-31 the standard deviation", {ROOT: "(x.std(dim=-1, keepdim=True) + eps)"},
             "You divide by the standard deviation, which subtracts the mean first.",
             "For the row (3, 3, 3), what is the standard deviation, and what is the root mean square?"),
        edit("RMS-31", {ROOT: "torch.sqrt(x.var(dim=-1, keepdim=True) + eps)"}),
        edit("RMS-31", {ROOT: "(x.std(dim=-1, keepdim=True, correction=0) + eps)"}),
        edit("RMS-03 multiplied by the root", {ROOT: "torch.rsqrt(variance + eps)"},
             "Large numbers become even larger in your result.",
             "Do you divide by the root mean square, or multiply by it? (torch.rsqrt(a) is 1 / sqrt(a).)"),
        edit("RMS-07 the scale is left out", {LAST: "return normed"},
             "Your result does not change with the weight.",
             "If the weight is 2 everywhere, what should happen to the output?"),
        edit("RMS-09 a scale that counts from zero", {LAST: "return normed * (1 + weight)"},
             "Your scale is too large by 1.", "What should a weight of 1 do?"),
        edit("RMS-11 no epsilon", {"variance + eps": "variance"},
             "A row of zeros gives NaN, or an infinite gradient.", "What is 0 divided by 0?"),
        edit("RMS-39 rows of zeros apart, and no epsilon",
             {ROOT: "torch.sqrt(torch.where(variance == 0, 1, variance))"},
             "You treat rows of zeros separately and leave epsilon out for all others.",
             "Does the formula add epsilon for every row, or for some rows only?"),
        edit("RMS-39", {"variance + eps": "torch.where(variance == 0, eps, variance)"}),
        edit("RMS-39", {"variance + eps": "variance", LAST: "return normed.nan_to_num() * weight"}),
        edit("RMS-13 the length instead of the root mean square", {MEAN: "square.sum(dim=-1, keepdim=True)"},
             "Your rows have length 1, whatever their width.",
             "Does the formula contain a sum of squares, or their mean?"),
        edit("RMS-15 the mean of another axis", {MEAN: "square.mean(dim=0, keepdim=True)"},
             "Your mean square is taken along the wrong axis.",
             "Should one token's mean square depend on another token?"),
        edit("RMS-15", {MEAN: "square.mean(dim=-2 if x.dim() > 1 else -1, keepdim=True)"}),
        edit("RMS-17 one mean for all", {MEAN: "square.mean()"},
             "You divide the whole input by one number.",
             "How many mean squares does a sentence of four tokens have?"),
        edit("RMS-37 one mean for a sentence", {MEAN: "square.mean(dim=(-2, -1) if x.dim() > 1 else -1, keepdim=True)"},
             "All tokens of a sentence share one mean square in your code.",
             "How many mean squares does a sentence of four tokens have?"),
        edit("RMS-37", {MEAN: "square.mean(dim=tuple(range(1, x.dim())) or -1, keepdim=True)"}),
        edit("RMS-19 the mean's axis is gone", {MEAN: "square.mean(dim=-1)"},
             "Your mean square has lost an axis, so it broadcasts against x along the wrong axis.",
             "For four tokens of four features, what are the shapes of the mean square and of x?"),
        edit("RMS-21 no root", {ROOT: "(variance + eps)"},
             "You divide by the mean square itself.", "If x is doubled, should the output change?"),
        edit("RMS-23 the mean of the sizes", {SQUARE: "square = x.abs()", ROOT: "(variance + eps)"},
             "You divide by the mean absolute value of the features.", "Which mean is part of this norm's name?"),
        edit("RMS-25 divided by one less", {MEAN: "square.sum(dim=-1, keepdim=True) / max(x.shape[-1] - 1, 1)"},
             "Your mean square is too large, especially when there are few features.",
             "By what number do you divide the sum of D squares to get their mean?"),
        edit("RMS-27 the divisor is cut off", {MEAN: f"{MEAN}.detach()"},
             "The values are right, but the gradient of x treats the root mean square as a constant.",
             "Which step cuts the root mean square off from x?"),
        edit("RMS-29 epsilon as a lower limit", {ROOT: "torch.sqrt(variance.clamp(min=eps))"},
             "You use epsilon as a lower limit.", "What does the formula do with epsilon?"),
        edit("RMS-29", {ROOT: "torch.sqrt(variance).clamp(min=eps)"}),
        edit("RMS-33 the root of the mean alone", {SQUARE: "square = x"},
             "You take the root of the mean, without squaring first.",
             "Which three operations does the norm's name contain, from right to left?"),
        edit("RMS-35 the scale inside the square",
             {SQUARE: "x = x * weight\n    square = x.square()", LAST: "return normed"},
             "You multiply by the weight before you normalise.",
             "Which comes first in the formula: the division or the weight?"),
    ),
    needs={
        "constant": ("Your result is right except for rows of zeros.",
                     "What do you divide by when a row is zero?"),
        "mean": ("Your result is right except for rows of equal numbers.",
                 "What is the root mean square of (3, 3, 3)?"),
        "epsilon": ("Your result is right except for rows of small numbers and for epsilons other than the default.",
                    "Where does epsilon belong in the formula, and what is its default?"),
        "scaled": ("Your result is right for weight 1, and wrong for others.",
                   "What does the formula do with the weight, and when?"),
        "several features": ("Your result is right for one feature, and wrong for several.",
                             "What is the root mean square of (1, 2, 2)?"),
        "": ("A single feature with weight 1 should come out as 1 or -1, but it does not.",
             "What is the root mean square of a single feature?"),
    },
    hints=(
        "RMS stands for root mean square. Read that from right to left: square, mean, root. Do these three steps "
        "by hand for the features of one token.",
        "All features of a token are divided by the same number. Take the mean square along the last axis with "
        "keepdim=True, so that it broadcasts against x. No mean is subtracted.",
        "In outline: square x; take the mean over the features; add epsilon; divide x by the square root of that "
        "sum; multiply by the weight.",
    ),
)
