"""The mask under which each token sees itself and the tokens before it."""

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
             "Your mask is inverted: it allows the blocked keys and blocks the allowed ones.",
             "What does True mean in this course's masks?"),
        edit("MSK-11 the diagonal is blocked", {"<=": "<"},
             "In your mask no token attends to itself.",
             "Under a causal mask, may a token attend to itself?"),
        edit("MSK-15 the triangle upside down", {"<=": ">="},
             "In your mask a token attends to itself and to the tokens after it.",
             "Which token should see the whole sentence: the first or the last?"),
        edit("MSK-37 one token of the future is seen", {PAIR: "key <= query + 1"},
             "In your mask a token also sees the one right after it.",
             "How many keys may the first token see?"),
        edit("MSK-43 everything is allowed", {PAIR: "key + query >= 0"},
             "Your mask blocks nothing.",
             "Which positions should a token not see?"),
        edit("MSK-45 the diagonal only", {"<=": "=="},
             "In your mask a token sees only itself.",
             "Which of the earlier tokens may a token see?"),
        *fitting(causal_mask, FORMS),
        edit("MSK-47", {"return mask": "return mask[None, None]"}),
        edit("LOOP-11", {"arange(n)": "arange(8)"}),
        *TOO_SHORT,
        *(edit("MSK-111", {"arange(n)": f"arange(min(n, {limit}))"}) for limit in (64, 128, 256)),
    ),
    needs={"long": ("Your result is right for short sentences, and wrong for long ones.",
                    "Does a number in your code limit the length of a sentence?")},
    hints=(
        "Draw the table for four tokens, with queries as rows and keys as columns, and mark each cell in which "
        "the key is not later than the query.",
        "Row i is the query at position i. It may attend to column j when j <= i, so the marked cells form a "
        "triangle that includes the diagonal. In PyTorch, `tril` and `triu` keep a triangle of a matrix.",
        "In outline: make an n x n Boolean tensor of True; keep the triangle on and below the diagonal; return it.",
    ),
)
