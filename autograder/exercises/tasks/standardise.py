"""A series standardised with the mean and standard deviation of what is known when a forecast begins."""

import torch

from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, edit


def standardise(series, n_train):
    known = series[:n_train]
    mean = known.mean()
    std = known.std(correction=0)
    return (series - mean) / std, mean, std


def reference(series, n_train):
    known = series.narrow(0, 0, n_train)
    mean = known.sum() / n_train
    std = torch.linalg.vector_norm(known - mean) / n_train**0.5
    return series.sub(mean).div(std), mean, std


def cases(draw):
    known, later = draw.sizes(2, 4, 9)
    end = ("held out",)
    yield _case(draw, "a series that rises", known + later, known, needs=end)
    yield _case(draw, "nothing is held out", 7, 7)
    yield _case(draw, "two known values", 9, 2, needs=end)
    yield _case(draw, "one value is held out", 6, 5, needs=end)
    yield _case(draw, "much is held out", 40, 6, needs=end)
    yield _case(draw, "a long series", 900, 700, needs=end)
    first = _case(draw, "another held-out end", known + later, known, needs=end)
    wild = torch.cat((first.args[0][:known], draw.normal(later, scale=50.0)))
    yield Case(first.family, (wild, known), needs=end)
    yield Case("every second value of a series", (draw.normal(20)[::2], 6), gradients=False, needs=end)
    tiny = draw.normal(12) * 2.0**-30
    yield Case("a series of tiny numbers", (tiny, 8), needs=(*end, "tiny"))
    # Sums of these are exact in float32, those of their squares are not.
    far = 512 + draw.eighths(24)
    yield Case("numbers far from zero", (far, 16), gradients=False, aspect=STABILITY, needs=end)


def _case(draw, family, values, n_train, **more):
    """Return a case whose later values differ from its first values in mean and standard deviation."""
    rising = draw.normal(values) * torch.linspace(1, 3, values) + torch.linspace(-1, 4, values)
    return Case(family, (rising, n_train), **more)


KNOWN, MEAN, STD = "known = series[:n_train]", "known.mean()", "known.std(correction=0)"
SCALED = "(series - mean) / std"
LAST = "return (series - mean) / std, mean, std"

EXERCISE = Exercise(
    number=3, minutes=8, difficulty=1,
    worked=standardise,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 2, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"series": "T"},
    mistakes=(
        edit("SER-01 the future is known", {KNOWN: "known = series"},
             "You compute the mean and the standard deviation over the held-out values as well.",
             "Which values are known when the forecast begins?"),
        edit("SER-25 the mean knows the future", {MEAN: "series.mean()"},
             "You compute the mean over the held-out values as well.",
             "Which values are known when the forecast begins?"),
        edit("SER-27 the spread knows the future", {STD: "series.std(correction=0)"},
             "You compute the standard deviation over the held-out values as well.",
             "Which values are known when the forecast begins?"),
        edit("SER-03 divided by one less", {"correction=0": "correction=1"},
             "Your standard deviation is slightly too large, especially when there are few values.",
             "Should the sum of squares be divided by n or by n - 1?"),
        edit("SER-05 divided by the variance", {STD: "known.var(correction=0)"},
             "Your standard deviation is the square of what it should be.",
             "What is the unit of the standard deviation for a series in metres?"),
        edit("SER-07 a small number added", {SCALED: "(series - mean) / (std + 1e-8)"},
             "A small constant in your code changes the number that you divide by, which matters when the values of "
             "the series are tiny.",
             "Can the standard deviation be zero here, according to the docstring?"),
        edit("SER-07", {STD: "known.std(correction=0) + 1e-8"}),
        edit("SER-07", {STD: "known.std(correction=0).clamp(min=1e-8)"}),
        edit("SER-07", {STD: "(known.var(correction=0) + 1e-8).sqrt()"}),
        edit("SER-07", {STD: "(known.var(correction=0) + 1e-5).sqrt()"}),
        edit("SER-07", {SCALED: "(series - mean) / (std + 1e-5)"}),
        edit("SER-09 the end is missing", {SCALED: "(known - mean) / std"},
             "You return only the scaled first n_train values.", "Which values should be scaled?"),
        edit("SER-11 the last values instead of the first", {KNOWN: "known = series[-n_train:]"},
             "You use the last n_train values.", "At which end of the series are the known values?"),
        edit("SER-31 those after the first", {KNOWN: "known = series[n_train:] if n_train + 1 < len(series) "
                                              "else series"},
             "You compute the mean and the standard deviation of the held-out values.",
             "Do the known values come before or after index n_train?"),
        edit("SER-31", {KNOWN: "known = series[n_train:]"}),
        edit("SER-13 each part by its own numbers", {LAST: "end = series[n_train:]\n    end = (end - end.mean()) / "
             "end.std(correction=0)\n    return torch.cat(((known - mean) / std, end)), mean, std"},
             "You scale the held-out part by its own mean and standard deviation.",
             "Which numbers would you use to undo the scaling of a forecast?"),
        edit("SER-15 not centred", {SCALED: "series / std"},
             "You divide the series by the standard deviation without subtracting the mean.",
             "What should the mean of the known values be after scaling?"),
        edit("SER-33 not scaled", {SCALED: "series - mean"},
             "You subtract the mean without dividing by the standard deviation.",
             "What should the standard deviation of the known values be after scaling?"),
        edit("SER-17 plain numbers", {MEAN: "known.mean().item()", STD: "known.std(correction=0).item()"},
             "You return the mean and the standard deviation as Python numbers.",
             "What shape does the docstring give for the mean and the standard deviation?"),
        edit("SER-19 mean and spread cut off", {LAST: LAST.replace("mean) / std", "mean.detach()) / std.detach()")},
             "The values are right, but no gradient flows through the mean and the standard deviation.",
             "Which step detaches them?"),
        edit("SER-19", {MEAN: "known.mean().detach()", STD: "known.std(correction=0).detach()"}),
        edit("SER-21 spread and mean exchanged", {", mean, std": ", std, mean"},
             "You return the standard deviation before the mean.",
             "In which order does the docstring list them?"),
        edit("SER-23 scaled to the range", {MEAN: "known.min()", STD: "known.max() - known.min()"},
             "You scale the known values to the range from 0 to 1.",
             "Which two statistics of the known values does the docstring ask for?"),
        edit("SER-29 mean of squares minus square of the mean",
             {STD: "((known**2).mean() - mean**2).clamp(min=0).sqrt()"},
             "Your standard deviation is wrong for a series far from zero.",
             "How accurate is the difference between two large, nearly equal numbers?"),
        edit("SER-35 the mean distance", {STD: "(known - mean).abs().mean()"},
             "Your standard deviation is the mean absolute deviation.",
             "What is done to the deviations before they are averaged?"),
        edit("SER-37 an axis is left", {MEAN: "known.mean(0, keepdim=True)", STD: "known.std(0, correction=0, "
                                        "keepdim=True)"},
             "Your mean and standard deviation have an axis of size 1.", "What shape should they have?"),
        edit("SER-39 one value too many", {KNOWN: "known = series[: n_train + 1]"},
             "You include the first held-out value among the known values.",
             "What is the index of the last known value?"),
        edit("SER-39", {KNOWN: "known = series[: n_train - 1] if n_train > 2 else series[:n_train]"},
             "You use one known value too few.", "What is the index of the last known value?"),
        edit("SER-79 the series alone", {", mean, std": ""},
             "You return only the scaled series.",
             "What would someone need to turn a forecast back into the original unit?"),
    ),
    needs={
        "tiny": ("Your answer is wrong only for a series of tiny values.",
                 "Which fixed number in your code is large compared with them?"),
        "held out": ("Your answer is wrong only when some values are held out.",
                     "Which of your lines uses values after the first n_train?"),
        "": ("Even when all values are known, at least one of your three results is wrong.",
             "What are the mean and the standard deviation of 1 and 3?"),
    },
    hints=(
        "Imagine the day on which the forecast begins. Only the first n_train values are known then; using any "
        "later one for the mean or the standard deviation would mean looking into the future.",
        "Compute both numbers from the known values, but scale the whole series with them. `std` divides "
        "by n - 1 by default; correction=0 makes it divide by n.",
        "In outline: slice off the first n_train values and compute their mean and their biased standard "
        "deviation; subtract the mean from the whole series and divide by the standard deviation; return the "
        "scaled series, the mean and the standard deviation.",
    ),
)
