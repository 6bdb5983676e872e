"""A series brought to mean 0 and spread 1, by what is known of it when a forecast begins."""

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
    """Of another mean and another spread after the first values than among them."""
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
             "Your mean and standard deviation know the held-out end.",
             "On the day on which the forecast begins, which values are there to take a mean of?"),
        edit("SER-25 the mean knows the future", {MEAN: "series.mean()"},
             "Your mean knows the held-out end.", "Which values are there when the forecast begins?"),
        edit("SER-27 the spread knows the future", {STD: "series.std(correction=0)"},
             "Your standard deviation knows the held-out end.", "Which values are there when the forecast begins?"),
        edit("SER-03 divided by one less", {"correction=0": "correction=1"},
             "Your standard deviation is a little too large, the more so the fewer values there are.",
             "Is the sum of squares divided by n or by n - 1 here?"),
        edit("SER-05 divided by the variance", {STD: "known.var(correction=0)"},
             "Your standard deviation is the square of what it should be.", "In which unit is the standard deviation "
                                                                            "of a series of metres?"),
        edit("SER-07 a small number added", {SCALED: "(series - mean) / (std + 1e-8)"},
             "Something small is added to your standard deviation, which shows where the series is small itself.",
             "What does the exercise say of the standard deviation, that nothing has to be added to it?"),
        edit("SER-07", {STD: "known.std(correction=0) + 1e-8"}),
        edit("SER-07", {STD: "known.std(correction=0).clamp(min=1e-8)"}),
        edit("SER-07", {STD: "(known.var(correction=0) + 1e-8).sqrt()"}),
        edit("SER-07", {STD: "(known.var(correction=0) + 1e-5).sqrt()"}),
        edit("SER-07", {SCALED: "(series - mean) / (std + 1e-5)"}),
        edit("SER-09 the end is missing", {SCALED: "(known - mean) / std"},
             "Your series ends where the held-out part begins.", "Which values are to be scaled: the known, or all?"),
        edit("SER-11 the last values instead of the first", {KNOWN: "known = series[-n_train:]"},
             "Your mean and standard deviation are those of the end of the series.", "At which end does the known "
                                                                                     "part lie?"),
        edit("SER-31 those after the first", {KNOWN: "known = series[n_train:] if n_train + 1 < len(series) "
                                              "else series"},
             "Your mean and standard deviation are those of the held-out part.", "Which side of n_train is known?"),
        edit("SER-31", {KNOWN: "known = series[n_train:]"}),
        edit("SER-13 each part by its own numbers", {LAST: "end = series[n_train:]\n    end = (end - end.mean()) / "
             "end.std(correction=0)\n    return torch.cat(((known - mean) / std, end)), mean, std"},
             "Your held-out part is scaled by its own mean and standard deviation.",
             "By which numbers would you undo the scaling of a forecast?"),
        edit("SER-15 not centred", {SCALED: "series / std"},
             "Your series is scaled, but its mean stays.", "What should the mean of the known part be afterwards?"),
        edit("SER-33 not scaled", {SCALED: "series - mean"},
             "Your series is centred, but its standard deviation stays.",
             "What should the standard deviation of the known part be afterwards?"),
        edit("SER-17 plain numbers", {MEAN: "known.mean().item()", STD: "known.std(correction=0).item()"},
             "Mean and standard deviation come back as Python numbers.", "What should mean and standard deviation be, "
                                                                         "for gradients to pass?"),
        edit("SER-19 mean and spread cut off", {LAST: LAST.replace("mean) / std", "mean.detach()) / std.detach()")},
             "The values are right, but the gradient does not know that the mean and the standard deviation move with "
             "the series.",
             "By which ways does one known value reach a scaled one?"),
        edit("SER-19", {MEAN: "known.mean().detach()", STD: "known.std(correction=0).detach()"}),
        edit("SER-21 spread and mean exchanged", {", mean, std": ", std, mean"},
             "Your second result is the standard deviation, and your third the mean.",
             "In which order does the exercise name them?"),
        edit("SER-23 scaled to the range", {MEAN: "known.min()", STD: "known.max() - known.min()"},
             "Your series runs from 0 to 1.",
             "Which two numbers describe the series here: its ends, or mean and standard deviation?"),
        edit("SER-29 mean of squares minus square of the mean",
             {STD: "((known**2).mean() - mean**2).clamp(min=0).sqrt()"},
             "Your standard deviation is right near zero, and wrong for a series far from it.",
             "What is left of two large and nearly equal numbers when one is taken from the other?"),
        edit("SER-35 the mean distance", {STD: "(known - mean).abs().mean()"},
             "Your standard deviation is the mean distance from the mean.",
             "What happens to the distances before they are averaged?"),
        edit("SER-37 an axis is left", {MEAN: "known.mean(0, keepdim=True)", STD: "known.std(0, correction=0, "
                                        "keepdim=True)"},
             "Mean and standard deviation have their own axis.", "How many axes has a single number?"),
        edit("SER-39 one value too many", {KNOWN: "known = series[: n_train + 1]"},
             "You count one value of the held-out part among the known.", "Which is the last known value?"),
        edit("SER-39", {KNOWN: "known = series[: n_train - 1] if n_train > 2 else series[:n_train]"},
             "You take one value more or fewer for known than there is.", "Which is the last known value?"),
        edit("SER-79 the series alone", {", mean, std": ""},
             "You return only the series.", "How would someone turn a forecast back into the old unit?"),
    ),
    combinable=("SER-01", "SER-03", "SER-05", "SER-11", "SER-21"),
    needs={
        "tiny": ("You are right for ordinary numbers, and wrong for tiny ones.",
                 "Which fixed number in your code is large compared with them?"),
        "held out": ("Where nothing is held out you are right; with a held-out end you are not.",
                     "Which of your lines looks at values after the first n_train?"),
        "": ("Where the whole series is known, one of your three results is already another.",
             "What are the mean and the standard deviation of 1 and 3?"),
    },
    hints=(
        "Imagine the day on which the forecast begins. Which values do you have, and which would be peeking?",
        "Two numbers of the known part scale all of the series. What does `std` divide by unless you say otherwise?",
        "The shape of it: cut off the first n_train values, take two numbers of them, shift and divide the "
        "whole series.",
    ),
)
