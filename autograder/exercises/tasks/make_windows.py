"""A series cut into windows and what comes after each."""

import torch

from autograder.schema import DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Case, Exercise, edit


def make_windows(series, length, horizon):
    n = len(series) - length - horizon + 1
    if n < 1:
        raise ValueError(f"{len(series)} values are too few for a window of {length} and {horizon} after it")
    inputs = torch.stack([series[i : i + length] for i in range(n)])
    targets = torch.stack([series[i + length : i + length + horizon] for i in range(n)])
    return inputs, targets


def reference(series, length, horizon):
    if len(series) < length + horizon:
        raise ValueError("the series is too short")
    both = series.unfold(0, length + horizon, 1)
    return both[:, :length], both[:, length:]


def cases(draw):
    length, horizon, more = draw.sizes(3, 2, 6)
    many, ahead = ("windows",), ("windows", "far")
    yield _case(draw, "all sizes different", length + horizon + more, length, horizon, needs=ahead)
    yield _case(draw, "one value ahead", 9, 4, 1, needs=many)
    yield _case(draw, "a window of one value", 6, 1, 2, needs=ahead)
    yield _case(draw, "a window of one, one ahead", 5, 1, 1, needs=many)
    yield _case(draw, "a horizon longer than the window", 11, 2, 5, needs=ahead)
    yield _case(draw, "as long a horizon as the window", 10, 3, 3, needs=ahead)
    yield _case(draw, "exactly one window", 7, 4, 3, needs=("far",))
    yield _case(draw, "exactly one window, one ahead", 4, 3, 1)
    yield _case(draw, "two values, one window", 2, 1, 1)
    yield _case(draw, "a long series", 600, 5, 2, gradients=False, repeats=False, slow=True, needs=ahead)
    yield Case("every second value of a series", (draw.normal(18)[::2], 3, 2), gradients=False, needs=ahead)
    refused = {"raises": "ValueError", "aspect": REFUSALS, "gradients": False}
    for values, ahead in ((6, 3), (2, 1), (4, 2)):
        yield _case(draw, "too short a series", values, 4, ahead, **refused)


def _case(draw, family, values, length, horizon, **more):
    return Case(family, (draw.normal(values), length, horizon), **more)


N, REFUSED, RAISE = "len(series) - length - horizon + 1", "if n < 1:", "raise ValueError("
INPUTS, TARGETS = "series[i : i + length]", "series[i + length : i + length + horizon]"
LAST, EACH = "return inputs, targets", "range(n)"

EXERCISE = Exercise(
    number=4, minutes=10, difficulty=2,
    worked=make_windows,
    reference=reference,
    cases=cases,
    standard=("float64", "by name"),
    aspects={VALUES: 4, REFUSALS: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"series": "T"},
    mistakes=(
        edit("SER-41 the last window is lost", {N: "len(series) - length - horizon", REFUSED: "if n < 0:"},
             "Your last window is missing.", "How many windows has a series that is just long enough for one?"),
        edit("SER-41", {N: "len(series) - length - horizon"}),
        edit("SER-43 windows that do not overlap", {EACH: "range(0, n, length)"},
             "Your windows do not overlap.", "How far does each window begin after the one before it?"),
        edit("SER-43", {EACH: "range(0, n, horizon)"}),
        edit("SER-43", {EACH: "range(0, n, length + horizon)"}),
        edit("SER-45 targets begin too early", {TARGETS: "series[i + length - 1 : i + length - 1 + horizon]"},
             "Your targets begin with the last value of the window.",
             "Does a model have to forecast what it is shown?"),
        edit("SER-47 targets begin too late", {TARGETS: "series[i + length + 1 : i + length + 1 + horizon]", N:
             "len(series) - length - horizon", REFUSED: "if n < 0:"},
             "Between your windows and their targets one value is left out.",
             "What is the place of the first value after a window that begins at 0?"),
        edit("SER-47", {TARGETS: "series[i + length + 1 : i + length + 1 + horizon]",
                        N: "len(series) - length - horizon"}),
        edit("SER-49 targets are the window one later", {TARGETS: "series[i + 1 : i + 1 + horizon]"},
             "Your targets begin one after the window begins, not where it ends.",
             "Which values are still unknown when the window has been read?"),
        edit("SER-49", {TARGETS: "series[i + 1 : i + 1 + length]"}),
        edit("SER-51 too short a series is not refused", {RAISE: "str("},
             "A series that is too short is not refused by a ValueError.", "How many windows are there when n is 0?"),
        edit("SER-51", {RAISE: "str(", EACH: "range(max(n, 1))"}),
        edit("SER-51", {REFUSED: "if n < 0:"}),
        edit("SER-51", {RAISE: "raise IndexError("}),
        edit("SER-51", {RAISE: "return series.new_zeros(0, length), series.new_zeros(0, horizon)  # ("}),
        edit("SER-53 a single window is refused", {REFUSED: "if n <= 1:"},
             "A series with exactly one window is refused.",
             "How long must a series be for one window and its targets?"),
        edit("SER-55 the two exchanged", {LAST: "return targets, inputs"},
             "Your first result holds the targets.", "In which order does the exercise name the two?"),
        edit("SER-57 only the farthest target", {TARGETS: "series[i + length + horizon - 1 : i + length + horizon]"},
             "Of the targets you keep only the last.", "How many values after the window are to be forecast?"),
        edit("SER-59 only the nearest target", {TARGETS: "series[i + length : i + length + 1]"},
             "Of the targets you keep only the first.", "How many values after the window are to be forecast?"),
        edit("SER-61 length and horizon exchanged", {INPUTS: "series[i : i + horizon]", TARGETS:
             "series[i + horizon : i + horizon + length]"},
             "Your windows are as long as the targets should be, and the other way round.",
             "Which of the two numbers counts what is known?"),
        edit("SER-63 windows are columns", {LAST: "return inputs.T, targets.T"},
             "Each of your windows is a column.", "Which axis counts the windows?"),
        edit("SER-65 windows that see the targets", {INPUTS: "series[i : i + length + horizon]"},
             "Your windows go on into their targets.",
             "Where must a window end, so that there is something to forecast?"),
        edit("SER-67 windows backwards", {LAST: "return inputs.flip(1), targets"},
             "Your windows run backwards in time.", "In which order do the values of a window come?"),
        edit("SER-67", {LAST: "return inputs.flip(0), targets.flip(0)"},
             "Your windows run backwards in time.", "Which window comes first?"),
        edit("SER-69 the horizon is forgotten", {N: "len(series) - length", TARGETS:
             "torch.cat((series, series.new_zeros(horizon)))[i + length : i + length + horizon]", REFUSED:
             "if len(series) < length + horizon:"},
             "Your last windows have targets that are not in the series.",
             "Where does the last window begin whose targets are all known?"),
        edit("SER-69", {N: "len(series) - length + 1 if len(series) >= length + horizon else 0", TARGETS:
             "series.roll(-i)[length : length + horizon]"}),
        edit("SER-71 lists", {LAST: "return list(inputs), list(targets)"},
             "You return lists of windows.", "What did the signature promise?"),
    ),
    combinable=("SER-41", "SER-45", "SER-47", "SER-55", "SER-67"),
    needs={
        "windows": ("With exactly one window you are right; with several you are not.",
                    "Where does the second window begin, and where do its targets?"),
        "far": ("One value ahead you are right; with a longer horizon you are not.",
                "Which values are the targets of the first window when two are asked for?"),
        "": ("With a single window and a single target, something is already another.",
             "Of the series 1, 2, 3, 4 and windows of three: what is the window, and what is its target?"),
    },
    hints=(
        "Write down the series 1 to 6, windows of 3 and a horizon of 2. Which windows are there, and what comes "
        "after each?",
        "Window i begins at place i. Where does it end, and where do its targets end? That says which i is the last.",
        "The shape of it: count the windows, refuse if there is none, and pile up slices of two kinds.",
    ),
)
