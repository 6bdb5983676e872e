"""The mask under which a token sees itself and a few tokens before it (Beltagy et al. 2020; Jiang et al. 2023)."""

import torch

from autograder.exercises._shared.masks import FORMS, TOO_SHORT
from autograder.schema import VALUES, Case, Exercise, edit, fitting


def sliding_window_mask(n, window):
    query = torch.arange(n)[:, None]
    key = torch.arange(n)[None, :]
    back = query - key
    mask = (back >= 0) & (back < window)
    return mask


def reference(n, window):
    return torch.ones(n, n, dtype=torch.bool).tril().triu(1 - window)


def cases(draw):
    window, n = draw.sizes(1, 3, 4)[0], draw.sizes(1, 8, 11)[0]
    narrow = {"gradients": False, "needs": ("narrow",)}
    yield Case("a window in a sentence", (n, window), observe=True, **narrow)
    yield Case("a window of two", (5, 2), **narrow)
    yield Case("all but the first", (7, 6), **narrow)
    # As many tokens as in the case before: a mask cached for a length must not be reused for another window.
    yield Case("a window of one", (7, 1), **narrow)
    yield Case("a window as long as the sentence", (6, 6), gradients=False)
    yield Case("a window longer than the sentence", (4, 9), gradients=False)
    yield Case("one token", (1, 1), gradients=False)
    yield Case("one token, a wide window", (1, 5), gradients=False)
    # Beyond what a buffer of 256 tokens or positions of 8 bits can hold.
    yield Case("a long sentence", (draw.sizes(1, 290, 310)[0], 12), gradients=False, needs=("narrow", "long"))
    yield Case("a long window", (300, 270), gradients=False, needs=("narrow", "long"))


NOT_LATER, NEAR, LAST = "(back >= 0)", "(back < window)", "return mask"
BOTH = f"{NOT_LATER} & {NEAR}"

EXERCISE = Exercise(
    number=4, minutes=5, difficulty=1,
    worked=sliding_window_mask,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 3},
    shapes={"return": "N N"},
    mistakes=(
        edit("WIN-01 one token too many", {NEAR: "(back <= window)"},
             "Your tokens see one token too many.", "Which tokens are in a window of one?"),
        edit("WIN-03 one token too few", {NEAR: "(back < window - 1)"},
             "Your tokens see one token too few.", "Does a token count as part of its own window?"),
        edit("WIN-05 the window lies on both sides", {BOTH: "back.abs() < window"},
             "Your tokens see what comes after them.", "On which side of a token is its window?"),
        edit("WIN-05", {BOTH: "back.abs() <= window // 2"},
             "Your window is centred on the token.", "On which side of a token is its window?"),
        edit("WIN-05", {BOTH: "back.abs() <= window"},
             "Your tokens see what comes after them.", "On which side of a token is its window?"),
        edit("WIN-31 a wide window looks ahead", {NOT_LATER: "((back >= 0) | (window > n))"},
             "When the window is longer than the sentence, your tokens see what comes after them.",
             "May a token ever attend to a later one?"),
        edit("WIN-07 the window lies ahead", {"query - key": "key - query"},
             "Your tokens see themselves and what comes after them.",
             "On which side of a token is its window?"),
        edit("WIN-09 no window", {BOTH: NOT_LATER},
             "Your tokens see everything before them.", "Which line uses `window`?"),
        edit("WIN-11 the future is not hidden", {BOTH: NEAR},
             "Your tokens see everything that comes after them.", "Which condition hides the later tokens?"),
        edit("WIN-13 the mask is inverted", {BOTH: f"~({BOTH})"},
             "Blocked keys are allowed in your mask, and allowed keys are blocked.",
             "What does True mean in this course's masks?"),
        edit("WIN-15 the diagonal is blocked", {NOT_LATER: "(back > 0)"},
             "In your mask no token attends to itself.", "Should a token attend to itself?"),
        edit("WIN-17 the window without the token itself", {BOTH: "(back > 0) & (back <= window)"},
             "Your window does not include the token itself.",
             "Does a token count as part of its own window?"),
        edit("WIN-19 blocks instead of a window", {BOTH: f"{NOT_LATER} & (query // window == key // window)"},
             "You split the sentence into blocks, and a token sees only tokens from its own block.",
             "How many tokens should the first token of your second block see?"),
        edit("WIN-21 what lies before the window", {NEAR: "(back >= window)"},
             "Your tokens see what lies before their window.",
             "Which distances belong to a window of three?"),
        edit("WIN-23 the first tokens for everybody", {BOTH: f"{NOT_LATER} & (key < window)"},
             "All your tokens attend to the beginning of the sentence.",
             "Do you measure the distance from the query or from the beginning of the sentence?"),
        edit("WIN-25 the first tokens look round the corner", {BOTH: "back % n < window"},
             "Your first tokens see the last ones.", "Which tokens come before the first one?"),
        *fitting(sliding_window_mask, FORMS),
        edit("MSK-47", {LAST: "return mask[None, None]"}),
        edit("WIN-27 a row for the last token only", {LAST: "return mask[-1]"},
             "Your mask has only one row.", "How many queries are there?"),
        *TOO_SHORT,
        edit("WIN-29 counts that start again", {"query - key": "(query - key).to(torch.int8)"},
             "In a long sentence, your window includes tokens that are far away.",
             "What is the largest number that your dtype can hold?"),
    ),
    needs={
        "long": ("Your answer is wrong only for long sentences.",
                 "Does a number in your code limit the length of a sentence?"),
        "narrow": ("Your answer is wrong only when the window is shorter than the sentence.",
                   "Going back from the last token, which is the first one that it should not see?"),
        "": ("Your answer is wrong even when the window holds the whole sentence.",
             "For four tokens and a window of nine, which entries are True?"),
    },
    hints=(
        "Draw the mask for six tokens and a window of three. The main diagonal is True, and so are the "
        "two diagonals below it.",
        "Only the distance, query index minus key index, matters. The smallest allowed distance is 0. What is the "
        "largest, if the window counts the token itself? torch.arange as a column minus torch.arange as a row gives "
        "all distances.",
        "In outline: make the (n, n) matrix of distances, write one condition for the future and one for "
        "the window, and combine them with &.",
    ),
)
