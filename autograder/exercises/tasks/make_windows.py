"""A series cut into windows, each with the values that follow it."""

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
    yield Case("whole numbers", (draw.integers(-9, 9, 8), 3, 2), gradients=False, aspect=DTYPES, needs=ahead)
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
             "Your last window is missing.",
             "If a series is just long enough for one window and its targets, how many windows does your code find?"),
        edit("SER-41", {N: "len(series) - length - horizon"}),
        edit("SER-43 windows that do not overlap", {EACH: "range(0, n, length)"},
             "Your windows start more than one step apart.",
             "How far after the start of one window should the next one start?"),
        edit("SER-43", {EACH: "range(0, n, horizon)"}),
        edit("SER-43", {EACH: "range(0, n, length + horizon)"}),
        edit("SER-45 targets begin too early", {TARGETS: "series[i + length - 1 : i + length - 1 + horizon]"},
             "Your targets begin with the last value of the window.",
             "Should a model have to forecast a value that it is shown?"),
        edit("SER-47 targets begin too late", {TARGETS: "series[i + length + 1 : i + length + 1 + horizon]", N:
             "len(series) - length - horizon", REFUSED: "if n < 0:"},
             "You skip one value between a window and its targets.",
             "What is the index of the first value after a window that starts at 0?"),
        edit("SER-47", {TARGETS: "series[i + length + 1 : i + length + 1 + horizon]",
                        N: "len(series) - length - horizon"}),
        edit("SER-49 targets are the window one later", {TARGETS: "series[i + 1 : i + 1 + horizon]"},
             "Your targets start one value after the window starts.",
             "Which values are still unknown when the window has been read?"),
        edit("SER-49", {TARGETS: "series[i + 1 : i + 1 + length]"}),
        edit("SER-51 too short a series is not refused", {RAISE: "str("},
             "You raise no ValueError for a series that is too short.",
             "For a series of four values, a length of three and a horizon of two, what is n?"),
        edit("SER-51", {RAISE: "str(", EACH: "range(max(n, 1))"}),
        edit("SER-51", {REFUSED: "if n < 0:"}),
        edit("SER-51", {RAISE: "raise IndexError("}),
        edit("SER-51", {RAISE: "return series.new_zeros(0, length), series.new_zeros(0, horizon)  # ("}),
        edit("SER-53 a single window is refused", {REFUSED: "if n <= 1:"},
             "You refuse a series that has exactly one window.",
             "How long must a series be for one window and its targets?"),
        edit("SER-55 the two exchanged", {LAST: "return targets, inputs"},
             "You return the targets before the inputs.", "In which order does the docstring list the two?"),
        edit("SER-57 only the farthest target", {TARGETS: "series[i + length + horizon - 1 : i + length + horizon]"},
             "You keep only the last target of each window.", "How many targets should each window have?"),
        edit("SER-59 only the nearest target", {TARGETS: "series[i + length : i + length + 1]"},
             "You keep only the first target of each window.", "How many targets should each window have?"),
        edit("SER-61 length and horizon exchanged", {INPUTS: "series[i : i + horizon]", TARGETS:
             "series[i + horizon : i + horizon + length]"},
             "The lengths of your inputs and targets are swapped.",
             "Which of the two arguments is the length of the input?"),
        edit("SER-63 windows are columns", {LAST: "return inputs.T, targets.T"},
             "Your windows are columns.", "Which axis comes first: the windows or the values in them?"),
        edit("SER-65 windows that see the targets", {INPUTS: "series[i : i + length + horizon]"},
             "Your windows include their targets.",
             "Where must a window end, so that something is left to forecast?"),
        edit("SER-67 windows backwards", {LAST: "return inputs.flip(1), targets"},
             "Your windows run backwards in time.", "In which order should the values of a window be?"),
        edit("SER-67", {LAST: "return inputs.flip(0), targets.flip(0)"},
             "Your windows are in reverse order.", "Which window should come first?"),
        edit("SER-69 the horizon is forgotten", {N: "len(series) - length", TARGETS:
             "torch.cat((series, series.new_zeros(horizon)))[i + length : i + length + horizon]", REFUSED:
             "if len(series) < length + horizon:"},
             "Your last windows need targets beyond the end of the series.",
             "At which index does the last window start if all its targets must be in the series?"),
        edit("SER-69", {N: "len(series) - length + 1 if len(series) >= length + horizon else 0", TARGETS:
             "series.roll(-i)[length : length + horizon]"}),
        edit("SER-71 lists", {LAST: "return list(inputs), list(targets)"},
             "You return lists of windows.", "Which type should the two results have?"),
    ),
    needs={
        "windows": ("Your answer is wrong only when there are several windows.",
                    "Where do the second window and its targets start?"),
        "far": ("Your answer is wrong only when the horizon is more than one value.",
                "For a horizon of two, which values are the targets of the first window?"),
        "": ("Your answer is wrong even for a single window with a single target.",
             "For the series 1, 2, 3, 4 and a length of three, what are the window and its target?"),
    },
    hints=(
        "Write down the series 1 to 6 with windows of 3 and a horizon of 2. There are two windows: "
        "[1, 2, 3] with the targets [4, 5], and [2, 3, 4] with the targets [5, 6].",
        "A window and its targets together are a slice of length + horizon values, and such a slice starts at "
        "every index that leaves room for it. `unfold` makes all of them at once; a loop and torch.stack do "
        "the same.",
        "In outline: raise ValueError if the series is shorter than length + horizon, make all slices of "
        "that many values, one step apart, and split each into its first `length` values and the rest.",
    ),
)
