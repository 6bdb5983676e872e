"""A norm without a mean: every token divided by the root of its mean square (Zhang and Sennrich 2019)."""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.norms import ASPECTS, BY_HAND, OTHERS, SHARED, SPECIAL, norm_cases
from autograder.schema import Case, Exercise, edit, fitting


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
    aspects=ASPECTS,
    shapes={"x": "... D", "weight": "D", "return": "... D"},
    rules=BY_HAND,
    mistakes=(
        *fitting(rms_norm, SHARED),
        edit("RMS-01 the mean is taken away", {SQUARE: "x = x - x.mean(dim=-1, keepdim=True)\n    square = x.square()"},
             "Your rows have mean 0.", "What does this norm leave out, compared with a LayerNorm?"),
        edit("RMS-01", {SQUARE: "square = (x - x.mean(dim=-1, keepdim=True)).square()"}),
        edit("RMS-31 the standard deviation", {ROOT: "(x.std(dim=-1, keepdim=True) + eps)"},
             "You divide by the standard deviation, which takes the mean away first.",
             "For the row (3, 3, 3): what is its standard deviation, and what is the root of its mean square?"),
        edit("RMS-31", {ROOT: "torch.sqrt(x.var(dim=-1, keepdim=True) + eps)"}),
        edit("RMS-31", {ROOT: "(x.std(dim=-1, keepdim=True, correction=0) + eps)"}),
        edit("RMS-03 multiplied by the root", {ROOT: "torch.rsqrt(variance + eps)"},
             "What is large becomes larger in yours.", 'What does the "r" in rsqrt stand for?'),
        edit("RMS-07 the scale is left out", {LAST: "return normed"},
             "The weight changes nothing.", "Set the weight to 2: what should happen?"),
        edit("RMS-09 a scale that counts from zero", {LAST: "return normed * (1 + weight)"},
             "Your scale is one too large.", "What does a weight of 1 mean here?"),
        edit("RMS-11 no epsilon", {"variance + eps": "variance"},
             "A row of zeros gives NaN, or an infinite gradient.", "What is 0 divided by 0?"),
        edit("RMS-39 rows of zeros apart, and no epsilon",
             {ROOT: "torch.sqrt(torch.where(variance == 0, 1, variance))"},
             "Where a row is not zero, you divide by its root mean square without an epsilon.",
             "Do rows of very small numbers come out as the formula says?"),
        edit("RMS-39", {"variance + eps": "torch.where(variance == 0, eps, variance)"}),
        edit("RMS-39", {"variance + eps": "variance", LAST: "return normed.nan_to_num() * weight"}),
        edit("RMS-13 the length instead of the root mean square", {MEAN: "square.sum(dim=-1, keepdim=True)"},
             "Your rows have length 1, whatever their width.", "A sum of squares, or their mean?"),
        edit("RMS-15 the mean of another axis", {MEAN: "square.mean(dim=0, keepdim=True)"},
             "Your mean square is taken along another axis than that of the features.",
             "Should the statistics of one token depend on another token?"),
        edit("RMS-15", {MEAN: "square.mean(dim=-2 if x.dim() > 1 else -1, keepdim=True)"}),
        edit("RMS-17 one mean for all", {MEAN: "square.mean()"},
             "One number divides the whole input.", "How many mean squares does a sentence of four tokens have?"),
        edit("RMS-37 one mean for a sentence", {MEAN: "square.mean(dim=(-2, -1) if x.dim() > 1 else -1, keepdim=True)"},
             "All tokens of a sentence share one mean square.",
             "How many mean squares does a sentence of four tokens have?"),
        edit("RMS-37", {MEAN: "square.mean(dim=tuple(range(1, x.dim())) or -1, keepdim=True)"}),
        edit("RMS-19 the mean's axis is gone", {MEAN: "square.mean(dim=-1)"},
             "Your mean square has lost an axis, and meets x along another one.",
             "Print both shapes for four tokens of four features: which axes line up?"),
        edit("RMS-21 no root", {ROOT: "(variance + eps)"},
             "You divide by the mean square, not by its root.", "Double x: should the output change?"),
        edit("RMS-23 the mean of the sizes", {SQUARE: "square = x.abs()", ROOT: "(variance + eps)"},
             "You divide by the mean size of the features.", "Which mean is part of the name of this norm?"),
        edit("RMS-25 divided by one less", {MEAN: "square.sum(dim=-1, keepdim=True) / max(x.shape[-1] - 1, 1)"},
             "Your mean square is too large, the more so the fewer features there are.",
             "By which number is a mean of D squares divided?"),
        edit("RMS-27 the divisor is cut off", {MEAN: f"{MEAN}.detach()"},
             "The values are right, but the gradient of x takes the root mean square for a constant.",
             "If one feature grows, does the number that divides it stay as it is?"),
        edit("RMS-29 epsilon as a lower limit", {ROOT: "torch.sqrt(variance.clamp(min=eps))"},
             "Your epsilon is a limit, and not a part of the sum.", "What does the formula do with epsilon?"),
        edit("RMS-29", {ROOT: "torch.sqrt(variance).clamp(min=eps)"}),
        edit("RMS-33 the root of the mean alone", {SQUARE: "square = x"},
             "You take the root of the mean, without a square.", "Which three steps are in the name of this norm, "
             "from right to left?"),
        edit("RMS-35 the scale inside the square",
             {SQUARE: "x = x * weight\n    square = x.square()", LAST: "return normed"},
             "You scale before you norm.", "Which comes first, to norm or to scale?"),
    ),
    combinable=("RMS-01", "RMS-07", "RMS-09", "RMS-13", "RMS-21", "RMS-17"),
    needs={
        "constant": ("You are right except for rows of zeros.",
                     "What is divided by what there, on the way forward and on the way back?"),
        "mean": ("You are right except for rows of one number.", "What is the root mean square of (3, 3, 3)?"),
        "epsilon": ("You are right except for small rows, or with another epsilon.",
                    "Where does epsilon go, and which one is used if none is given?"),
        "scaled": ("With weight 1 you are right; with others you are not.",
                   "What is done with the weight, and when?"),
        "several features": ("For one feature you are right; for several you are not.",
                             "By hand: what is the root mean square of (1, 2, 2)?"),
        "": ("A single feature with weight 1 should come out as 1 or -1.",
             "What is the root mean square of one feature, and what is x divided by it?"),
    },
    hints=(
        "Read the name from right to left: square, mean, root. Of which numbers?",
        "One number divides all features of a token: it has an axis of size 1 where x has its features.",
        "The shape of it: x over the root of (mean square plus epsilon), times the weight.",
    ),
)
