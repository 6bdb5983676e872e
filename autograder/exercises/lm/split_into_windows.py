"""A long text cut into windows, each with its targets: for every token, the token that follows it."""

import torch

from autograder.schema import SIDE_EFFECTS, VALUES, Case, Exercise, edit


def split_into_windows(ids, length):
    n = (len(ids) - 1) // length
    inputs = ids[: n * length].reshape(n, length)
    targets = ids[1 : n * length + 1].reshape(n, length)
    return inputs, targets


def reference(ids, length):
    return ids[:-1].unfold(0, length, length).clone(), ids[1:].unfold(0, length, length).clone()


def cases(draw):
    length, n = draw.sizes(2, 3, 7)
    several, rest = ("several",), ("several", "rest")
    yield _case(draw, "some windows, and a rest", n * length + 3, length, needs=rest)
    yield _case(draw, "no rest", n * length + 1, length, needs=several)
    yield _case(draw, "a text of whole windows", n * length, length, needs=rest)
    yield _case(draw, "one token short of a window more", (n + 1) * length, length, needs=rest)
    yield _case(draw, "one window", length + 1, length)
    yield _case(draw, "one window, and a rest", 2 * length, length, needs=("rest",))
    yield _case(draw, "windows of one token", 6, 1, needs=several)
    yield _case(draw, "two tokens", 2, 1)
    yield _case(draw, "as many windows as tokens in one", 18, 4, needs=rest)
    yield _case(draw, "a long text", 5000, 64, words=100_000, needs=(*rest, "long"))
    repeated = torch.tensor([3, 3, 3, 7, 7, 3, 3, 7, 3, 3, 3])
    yield Case("tokens that repeat", (repeated, 3), gradients=False, needs=rest)
    every_second = draw.integers(0, 999, 40)[::2]
    yield Case("every second entry of a tensor", (every_second, 4), gradients=False, needs=rest)


def _case(draw, family, tokens, length, words=999, **more):
    return Case(family, (draw.integers(0, words, tokens), length), gradients=False, **more)


COUNT, INPUTS = "(len(ids) - 1) // length", "ids[: n * length].reshape(n, length)"
TARGETS, LAST = "ids[1 : n * length + 1].reshape(n, length)", "return inputs, targets"

EXERCISE = Exercise(
    number=1, minutes=8, difficulty=2,
    worked=split_into_windows,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 4, SIDE_EFFECTS: 1},
    shapes={"ids": "T", "return": "n length"},
    mistakes=(
        edit("TRN-01 the tokens themselves are the targets", {TARGETS: "inputs.clone()"},
             "Your targets are the inputs.", "Which token should be predicted at position 0?"),
        edit("TRN-03 the token before", {LAST: "return targets, inputs"},
             "Each of your targets is the token before its input.",
             "Which token should be predicted: the next one or the previous one?"),
        edit("TRN-13 windows overlap", {INPUTS: "ids[:-1].unfold(0, length, 1)",
             TARGETS: "ids[1:].unfold(0, length, 1)"},
             "Your windows begin one token apart.", "In how many windows should a token be an input?"),
        edit("TRN-21 a token between windows is lost",
             {COUNT: "len(ids) // (length + 1)", INPUTS: "ids[: n * (length + 1)].reshape(n, length + 1)[:, :-1]",
              TARGETS: "ids[: n * (length + 1)].reshape(n, length + 1)[:, 1:]"},
             "In your result, the last target of each window is never an input.",
             "At which token should the second window begin?"),
        edit("TRN-23 the target of a window's last token is its first",
             {TARGETS: "inputs.roll(-1, dims=1)"},
             "In each of your windows the last target is that window's first input.",
             "Which token of the text follows the last one of a window?"),
        edit("TRN-25 one window too many", {COUNT: "len(ids) // length"},
             "Your last window needs a target beyond the end of the text.",
             "How many of the T tokens have a next token?"),
        edit("TRN-25", {COUNT: "len(ids) // length", TARGETS: "ids.roll(-1)[: n * length].reshape(n, length)"}),
        edit("TRN-27 the rest is filled up", {COUNT: "-(-(len(ids) - 1) // length)",
             INPUTS: "torch.cat((ids[:-1], ids.new_zeros(n * length + 1 - len(ids)))).reshape(n, length)",
             TARGETS: "torch.cat((ids[1:], ids.new_zeros(n * length + 1 - len(ids)))).reshape(n, length)"},
             "You pad your last window to its full length.",
             "What should happen to tokens that fill no window?"),
        edit("TRN-29 two tokens later", {TARGETS: "ids.roll(-2)[: n * length].reshape(n, length)"},
             "Your targets are two tokens ahead of the inputs.", "How far ahead of an input should its target be?"),
        edit("TRN-31 the window after", {TARGETS: "ids.roll(-length)[: n * length].reshape(n, length)"},
             "Your targets are the next window.", "How far ahead of an input should its target be?"),
        edit("TRN-33 windows down the columns", {INPUTS: "ids[: n * length].reshape(length, n).T",
             TARGETS: "ids[1 : n * length + 1].reshape(length, n).T"},
             "In your result, neighbouring tokens of the text are in different windows.",
             "Which tokens of the text belong in the first row?"),
        edit("TRN-33", {INPUTS: "ids[: n * length].reshape(n, length).T.reshape(n, length)",
             TARGETS: "ids[1 : n * length + 1].reshape(n, length).T.reshape(n, length)"}),
        edit("TRN-35 rows and columns", {INPUTS: f"{INPUTS}.T", TARGETS: f"{TARGETS}.T"},
             "The two axes of your result are in the wrong order.",
             "Which axis comes first: the windows or the tokens in them?"),
        edit("TRN-35", {COUNT: "(len(ids) - 1) // length\n    n, length = length, n"}),
        edit("TRN-37 the beginning is dropped", {INPUTS: "ids[-n * length - 1 : -1].reshape(n, length)",
             TARGETS: "ids[-n * length :].reshape(n, length)"},
             "Your first window does not start at the beginning of the text.",
             "At which end of the text are the leftover tokens dropped?"),
        edit("TRN-39 one window only", {LAST: "return inputs[:1], targets[:1]"},
             "You return only the first window.", "How many windows fit into the text?"),
        edit("TRN-41 one tensor", {LAST: "return torch.stack((inputs, targets))"},
             "You return a single tensor.", "Which two tensors does the exercise ask for?"),
        edit("TRN-43 the last target alone", {TARGETS: "ids[1 : n * length + 1].reshape(n, length)[:, -1]"},
             "You have only one target per window.",
             "How many predictions does a language model make in one window?"),
        edit("TRN-45 one window too few", {COUNT: "(len(ids) - 1) // length - 1"},
             "Your last whole window is missing.", "How many windows fit into the text?"),
        edit("TRN-45", {COUNT: "max((len(ids) - 2) // length, 1)"}),
    ),
    needs={
        "long": ("Your answer is wrong only for a long text.",
                 "Does a number in your code limit the length of the text?"),
        "rest": ("Your answer is wrong only when some tokens are left over at the end of the text.",
                 "What should happen to tokens that fill no window?"),
        "several": ("Your answer is wrong only when there are several windows.",
                    "At which token does the second window begin?"),
        "": ("Your answer is wrong even for a single window.",
             "Which tokens are the inputs of the first window, and which its targets?"),
    },
    hints=(
        "Write the ids 0 to 7 in a row, and below each id its target, the id that follows. Which id has "
        "no target?",
        "Cut both rows at the same positions. The last token can only be a target, so how many windows of "
        "`length` tokens fit?",
        "In outline: compute the number of windows n from T - 1, take the first n * length ids as inputs "
        "and the same number starting one token later as targets, and reshape both to (n, length).",
    ),
)
