"""Layer normalisation: every token is normalised to mean 0 and standard deviation 1, then scaled and shifted
by learned parameters (Ba et al. 2016).
"""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.norms import ASPECTS, BY_HAND, OTHERS, SHARED, SPECIAL, norm_cases
from autograder.schema import Case, Exercise, edit, fitting


def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = centred.square().mean(dim=-1, keepdim=True)
    normed = centred / torch.sqrt(variance + eps)
    return normed * weight + bias


def reference(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def cases(draw):
    yield from norm_cases(draw, with_bias=True)
    parameters = 1.5 + draw.normal(8, scale=0.5), draw.normal(8)
    # Multiples of 1/8: their mean is exact, so that centred rows are exactly zero.
    constant = torch.cat((draw.eighths(3, 1).expand(3, 8), draw.normal(1, 8)))
    yield Case("rows of one number", (constant, *parameters), aspect=SPECIAL, needs=("constant", *OTHERS))
    # Near 10,000 neighbouring float32 numbers are 0.001 apart, and a mean may be off by as much; therefore
    # the values of a row differ by about 10.
    large = 10000 + draw.eighths(3, 8, limit=160)
    yield Case("a mean of ten thousand", (large, *parameters), aspect=SPECIAL, scale=3.0, needs=("large mean", *OTHERS))


MEAN, VARIANCE = "x.mean(dim=-1, keepdim=True)", "centred.square().mean(dim=-1, keepdim=True)"
ROOT, LAST = "torch.sqrt(variance + eps)", "return normed * weight + bias"


def _over(axes):
    return {MEAN: f"x.mean(dim={axes}, keepdim=True)", VARIANCE: f"centred.square().mean(dim={axes}, keepdim=True)"}


EXERCISE = Exercise(
    number=1, minutes=12, difficulty=2,
    worked=layer_norm,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects=ASPECTS,
    shapes={"x": "... D", "weight": "D", "bias": "D", "return": "... D"},
    rules=BY_HAND,
    mistakes=(
        *fitting(layer_norm, SHARED),
        edit("LN-01 divided by one less", {VARIANCE: "x.var(dim=-1, keepdim=True)"},
             "Your standard deviation is too large, especially when there are few features.",
             "Does the formula's variance divide by D, or by D - 1?"),
        edit("LN-01", {f"{ROOT}": "(x.std(dim=-1, keepdim=True) + eps)"}),
        edit("LN-03 the mean of another axis", _over(0),
             "You take the mean and the standard deviation along the wrong axis.",
             "Should one token's mean and standard deviation depend on another token?"),
        edit("LN-03", _over("-2 if x.dim() > 1 else -1")),
        edit("LN-03", _over("1 if x.dim() > 1 else 0")),
        edit("LN-33 one mean for all", _over("tuple(range(x.dim()))"),
             "You use one mean and one standard deviation for the whole input.",
             "How many means does a sentence of four tokens have?"),
        edit("LN-43 one mean for a sentence", _over("(-2, -1) if x.dim() > 1 else -1"),
             "All tokens of a sentence share one mean and one standard deviation in your code.",
             "How many means does a sentence of four tokens have?"),
        edit("LN-43", _over("tuple(range(1, x.dim())) or -1")),
        edit("LN-13 statistics over the batch", _over("tuple(range(x.dim() - 1))"),
             "You normalise each feature over all tokens and samples.",
             "Should one sample's result depend on other samples?"),
        edit("LN-05 the mean's axis is gone", {MEAN: "x.mean(dim=-1)", VARIANCE: "centred.square().mean(dim=-1)"},
             "Your mean or your variance has lost an axis, so it broadcasts against x along the wrong axis.",
             "For four tokens of four features, what are the shapes of the mean, of the variance and of x?"),
        edit("LN-05", {VARIANCE: "centred.square().mean(dim=-1)"}),
        edit("LN-05", {MEAN: "x.mean(dim=-1)", "centred = x - mean": "centred = x - mean[..., None]",
                       VARIANCE: "centred.square().mean(dim=-1)"}),
        edit("LN-07 shifted, then scaled", {LAST: "return (normed + bias) * weight"},
             "You add the bias before you multiply by the weight.",
             "Which comes first in the formula: the weight or the bias?"),
        edit("LN-09 the mean stays", {"centred = x - mean": "centred = x", VARIANCE: "(x - mean).square()"
             ".mean(dim=-1, keepdim=True)"},
             "You do not subtract the mean.", "If 5 is added to every feature, should the output change?"),
        edit("LN-09", {"centred = x - mean": "centred = x"}),
        edit("LN-11 no epsilon", {"variance + eps": "variance"},
             "A row of equal numbers gives NaN, or an infinite gradient.",
             "What is the standard deviation of equal features?"),
        edit("LN-41 rows of one number apart, and no epsilon",
             {ROOT: "torch.sqrt(torch.where(variance == 0, 1, variance))"},
             "You treat rows of equal numbers separately and leave epsilon out for all others.",
             "Does the formula add epsilon for every row, or for some rows only?"),
        edit("LN-41", {"variance + eps": "variance", LAST: "return normed.nan_to_num() * weight + bias"}),
        edit("LN-45 a row of one number becomes zero",
             {LAST: "return torch.where(variance == 0, 0, normed * weight + bias)"},
             "Your result is zero where all entries of a token are equal.",
             "What remains of the formula when x - mean is 0?"),
        edit("LN-15 the mean distance instead of the root of the mean square",
             {ROOT: "(centred.abs().mean(dim=-1, keepdim=True) + eps)"},
             "Your standard deviation is the mean distance from the mean.",
             "What is averaged in a variance?"),
        edit("LN-21 scale or shift left out", {LAST: "return normed"},
             "Your result ignores the weight, the bias or both.",
             "Which line uses the weight, and which the bias?"),
        edit("LN-21", {LAST: "return normed * weight"}),
        edit("LN-21", {LAST: "return normed + bias"}),
        edit("LN-23 divided by the variance", {ROOT: "(variance + eps)"},
             "You divide by the variance itself.", "If x is doubled, should the output change?"),
        edit("LN-25 the difference of two large numbers", {VARIANCE:
             "x.square().mean(dim=-1, keepdim=True) - mean.square()"},
             "For numbers around 10,000 your standard deviation is far off.",
             "How many digits of x² can float32 hold?"),
        edit("LN-27 mean and spread are cut off", {MEAN: f"{MEAN}.detach()", VARIANCE: f"{VARIANCE}.detach()"},
             "The values are right, but the gradient of x treats the mean or the standard deviation as a constant.",
             "Which step cuts the mean or the standard deviation off from x?"),
        edit("LN-27", {VARIANCE: f"{VARIANCE}.detach()"}),
        edit("LN-27", {MEAN: f"{MEAN}.detach()"}),
        edit("LN-29 a scale that counts from zero", {LAST: "return normed * (1 + weight) + bias"},
             "Your scale is too large by 1.", "What should a weight of 1 do?"),
        edit("LN-31 multiplied by the spread", {f"/ {ROOT}": f"* {ROOT}"},
             "Rows that vary widely vary even more in your result.",
             "What should the standard deviation of every row be after dividing?"),
        edit("LN-35 epsilon as a lower limit", {ROOT: "torch.sqrt(variance).clamp(min=eps)"},
             "You use epsilon as a lower limit.", "What does the formula do with epsilon?"),
        edit("LN-35", {ROOT: "torch.sqrt(variance.clamp(min=eps))"}),
        edit("LN-39 lengths instead of spreads", {VARIANCE: "centred.square().sum(dim=-1, keepdim=True)"},
             "Before the weight is applied, your rows have Euclidean length 1, whatever their width.",
             "Does the formula contain a sum of squares, or their mean?"),
    ),
    needs={
        "constant": ("Your result is right except for rows of equal numbers.",
                     "What do you divide by when all features are equal?"),
        "large mean": ("Your result is right except for numbers around 10,000.",
                       "Which step subtracts one large number from another?"),
        "epsilon": ("Your result is right except for rows that hardly vary and for epsilons other than the default.",
                    "Where does epsilon belong in the formula, and what is its default?"),
        "scaled": ("Your result is right for weight 1 and bias 0, and wrong for others.",
                   "In which order does the formula apply the weight and the bias?"),
        "several features": ("Your result is right for one feature, and wrong for several.",
                             "What are the mean and the standard deviation of (1, 2, 6)?"),
        "": ("A single feature should come out as the bias, but it does not.",
             "What is left of a single feature when its mean is subtracted?"),
    },
    hints=(
        "Work by hand with one token of three features. What is its mean, and how far is each feature from it?",
        "Each token has its own mean and variance. Take them along the last axis with keepdim=True, so that "
        "they broadcast against x. The variance is the mean of the squared distances; `var` divides by D - 1 "
        "by default.",
        "In outline: subtract the mean; add epsilon to the variance, and divide the difference by the square root "
        "of that sum; multiply by the weight; add the bias.",
    ),
)
