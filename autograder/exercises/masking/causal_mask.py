"""The mask of a token that sees itself and what came before."""

import torch

from autograder.exercises._shared.masks import FORMS, TOO_SHORT
from autograder.schema import VALUES, Case, Exercise, Rules, edit, fitting


def causal_mask(n):
    query = torch.arange(n)[:, None]
    key = torch.arange(n)[None, :]
    mask = key <= query
    return mask


def reference(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def cases(draw):
    yield Case("a sentence", (draw.sizes(1, 5, 7)[0],), gradients=False, observe=True)
    yield Case("one token", (1,), gradients=False)
    yield Case("a longer sentence", (draw.sizes(1, 33, 40)[0],), gradients=False)
    # Beyond what a buffer of 256 tokens or positions of 8 bits can hold.
    yield Case("a long sentence", (draw.sizes(1, 290, 310)[0],), gradients=False, needs=("long",))


PAIR = "key <= query"

EXERCISE = Exercise(
    number=1, minutes=5, difficulty=1,
    worked=causal_mask,
    reference=reference,
    cases=cases,
    standard=("by name",),
    aspects={VALUES: 3},
    shapes={"return": "N N"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        edit("MSK-01 the mask is inverted", {"<=": ">"},
             "Blocked keys are allowed in your mask, and allowed keys are blocked.",
             "What does True mean in this course's masks, and which keys may the first token attend to in yours?"),
        edit("MSK-11 the diagonal is blocked", {"<=": "<"},
             "In your mask no token attends to itself.",
             "May a token attend to itself?"),
        edit("MSK-15 the triangle upside down", {"<=": ">="},
             "In your mask a token attends to itself and to what comes after it.",
             "Which token should see the whole sentence: the first or the last?"),
        edit("MSK-37 one token of the future is seen", {PAIR: "key <= query + 1"},
             "In your mask a token sees the one right after it.",
             "How many keys should the first token see?"),
        edit("MSK-43 everything is allowed", {PAIR: "key + query >= 0"},
             "Your mask blocks nothing.",
             "Which of these positions should not be seen, and which line makes that so?"),
        edit("MSK-45 the diagonal only", {"<=": "=="},
             "In your mask a token sees itself and nothing else.",
             "Which tokens before it may a token see?"),
        *fitting(causal_mask, FORMS),
        edit("MSK-47", {"return mask": "return mask[None, None]"}),
        edit("LOOP-11", {"arange(n)": "arange(8)"}),
        *TOO_SHORT,
        *(edit("MSK-111", {"arange(n)": f"arange(min(n, {limit}))"}) for limit in (64, 128, 256)),
    ),
    combinable=("MSK-01", "MSK-11", "MSK-15", "MSK-37", "MSK-39", "MSK-41", "MSK-47"),
    needs={"long": ("Short sentences come out right, a long one does not.",
                    "Does any number in your code hold only up to some length?")},
    hints=(
        "Draw the table for four tokens: rows are queries, columns are keys. Which cells may be True?",
        "Row i is the query at position i. Compare a column's position with i: what must hold, and what "
        "happens when the two are equal?",
        "The shape of it: a square Boolean table, of which one triangle is kept, with its diagonal.",
    ),
)
