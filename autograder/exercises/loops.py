"""Lesson 01, attention from loops: the four steps of attention, entry by entry."""

import torch
import torch.nn.functional as F

from autograder.exercises import clues
from autograder.exercises.exercise import GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules
from autograder.exercises.mistakes import loops as mistakes

LESSON = "01_attention_from_loops"
BY_HAND = ("a matrix product", "fused attention")


def _dot_product_scores(x):
    return x @ x.T


def _dot_product_scores_cases(values):
    tokens, width = values.sizes(2)
    yield Case(
        "more tokens than features", (values.normal(max(tokens, width), min(tokens, width)),), observe=True
    )
    yield Case("more features than tokens", (values.normal(min(tokens, width), max(tokens, width)),))
    yield Case("as many tokens as features", (values.normal(4, 4),))
    yield Case("six tokens", (values.normal(6, 3),))
    yield Case("one token", (values.normal(1, 5),))
    yield Case("one feature", (values.normal(5, 1),))
    yield Case("one token, one feature", (values.normal(1, 1),))
    yield Case("columns in memory order", (values.normal(5, 4).T,))
    yield Case("large entries", (values.eighths(4, 6, limit=800),), scale=100.0)
    yield Case("a long sentence", (values.normal(14, 11),), observe=True, gradients=False)


def _softmax(scores):
    return torch.softmax(scores, dim=-1)


def _softmax_cases(values):
    rows, keys = values.sizes(2)
    yield Case("a table", (values.normal(rows, keys),), observe=True)
    yield Case("a square table", (values.normal(5, 5, scale=2.0),))
    yield Case("one row", (values.normal(keys),))
    yield Case("a batch of tables", (values.normal(3, 4, 6),), observe=True)
    yield Case("batch, heads, table", (values.normal(2, 3, 4, 5),))
    yield Case("one key", (values.normal(4, 1),))
    yield Case("one row of one key", (values.normal(1, 1),))
    yield Case("rows and columns swapped in memory", (values.normal(6, 3).T,))
    yield Case("small differences", (values.normal(4, 7, scale=0.1),))
    large = values.eighths(5, 6, limit=80000)
    large[0] = torch.tensor([1e4, 1e4, -1e4, 0.0, 9999.0, 9998.0])
    large[1] = torch.tensor([-1e4, -9999.0, -9998.5, -1e4, -9999.5, -1e4])
    yield Case("scores up to 10 000", (large,), aspect=STABILITY)
    apart = values.normal(3, 4) + torch.tensor([[-5000.0], [0.0], [5000.0]])
    yield Case("rows far apart", (apart,), aspect=STABILITY, scale=5.0)
    alone = values.normal(3, 4)
    alone[:, 1] = torch.tensor([400.0, 1000.0, 10000.0])
    yield Case("one score far above the others", (alone,), aspect=STABILITY)
    yield Case("scores in the hundreds", (values.normal(3, 5) + 300,), aspect=STABILITY)
    yield Case("scores far below zero", (values.normal(3, 5) - 300,), aspect=STABILITY)


def _weighted_sum(weights, values):
    return weights @ values


def _weighted_sum_cases(values):
    queries, keys, width = values.sizes(3)
    yield Case(
        "all sizes different", (values.weights(queries, keys), values.normal(keys, width)), observe=True
    )
    yield Case("more keys than queries", (values.weights(3, 6), values.normal(6, 4)))
    yield Case("more queries than keys", (values.weights(6, 3), values.normal(3, 4)))
    yield Case("all sizes equal", (values.weights(4, 4), values.normal(4, 4)))
    yield Case("six of each", (values.weights(6, 6), values.normal(6, 6)))
    picks = torch.eye(4)[[2, 0, 3, 1, 1]]
    yield Case(clues.PICKED, (picks, values.normal(4, 3)))
    yield Case("any weights", (values.normal(5, 4), values.normal(4, 3)))
    yield Case("one key", (values.normal(3, 1), values.normal(1, 4)))
    yield Case("one query", (values.normal(1, 4), values.normal(4, 3)))
    yield Case("one feature", (values.normal(4, 3), values.normal(3, 1)))
    yield Case("columns in memory order", (values.normal(4, 5).T, values.normal(3, 4).T))
    yield Case(
        "a long sentence", (values.normal(12, 13), values.normal(13, 10)), observe=True, gradients=False
    )


def _attention_from_loops(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def _attention_from_loops_cases(values):
    queries, keys, width, out = values.sizes(4)
    yield Case("all sizes different", _qkv(values, queries, keys, width, out), observe=True)
    yield Case("more keys than queries", _qkv(values, 3, 6, 5, 4))
    yield Case("more queries than keys", _qkv(values, 6, 3, 5, 4))
    yield Case("all sizes equal", _qkv(values, 4, 4, 4, 4))
    yield Case("keys as wide as values", _qkv(values, 3, 4, 5, 5))
    yield Case("six of each", _qkv(values, 6, 6, 6, 6))
    yield Case("eight features", _qkv(values, 4, 5, 8, 3))
    yield Case("one key", _qkv(values, 3, 1, 5, 4))
    yield Case("one query", _qkv(values, 1, 4, 3, 5))
    yield Case("one feature", _qkv(values, 3, 4, 1, 2))
    yield Case("columns in memory order", tuple(values.normal(n, 4).T for n in (5, 5, 3)))
    # With the identity as values the output is the table of weights: mistakes in them can be told.
    yield Case("values that show the weights", (values.normal(4, 3), values.normal(5, 3), torch.eye(5)))
    yield Case("values that show more weights", (values.normal(5, 7), values.normal(3, 7), torch.eye(3)))
    q, k, v = values.eighths(4, 6, limit=400), values.eighths(5, 6, limit=400), values.normal(5, 3)
    yield Case("scores in the thousands", (q, k, v), aspect=STABILITY, gradients=False, scale=10.0)
    yield Case("a long sentence", _qkv(values, 11, 12, 13, 10), observe=True, gradients=False)


def _qkv(values, queries, keys, width, out):
    return values.normal(queries, width), values.normal(keys, width), values.normal(keys, out)


EXERCISES = (
    Exercise(
        id="loops.dot_product_scores",
        lesson=LESSON,
        minutes=8,
        difficulty=1,
        reference=_dot_product_scores,
        cases=_dot_product_scores_cases,
        aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1},
        shapes={"x": "N D", "return": "N N"},
        rules=Rules("required", BY_HAND),
        mistakes=mistakes.DOT_PRODUCT_SCORES,
        variant=mistakes.scores_with,
        hints=(
            "Entry (i, j) compares token i with token j. How many pairs are there, and which two loops visit "
            "them all?",
            "A dot product multiplies two vectors feature by feature and adds the products up. Try it on paper "
            "for one pair before you write the loop.",
            "The shape of it: make an empty (N, N) table; for each i, for each j, put one number into it.",
        ),
    ),
    Exercise(
        id="loops.softmax",
        lesson=LESSON,
        minutes=10,
        difficulty=2,
        reference=_softmax,
        cases=_softmax_cases,
        aspects={VALUES: 3, STABILITY: 2, GRADIENTS: 1, SIDE_EFFECTS: 1},
        shapes={"scores": "... M", "return": "... M"},
        rules=Rules(None, ("torch's softmax family",)),
        mistakes=mistakes.SOFTMAX,
        variant=mistakes.softmax_with,
        hints=(
            "Softmax makes every score positive and then turns each row into shares of its sum. Which two "
            "operations are that?",
            "Adding one number to every score of a row changes nothing. Which number keeps exp from "
            "overflowing?",
            "The shape of it: shift each row, exponentiate, divide by the row's sum; keep the last axis "
            "(keepdim) wherever you reduce it.",
        ),
    ),
    Exercise(
        id="loops.weighted_sum",
        lesson=LESSON,
        minutes=8,
        difficulty=1,
        reference=_weighted_sum,
        cases=_weighted_sum_cases,
        aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1},
        shapes={"weights": "N M", "values": "M E", "return": "N E"},
        rules=Rules("required", BY_HAND),
        mistakes=mistakes.WEIGHTED_SUM,
        variant=mistakes.sum_with,
        clues=clues.MIXES,
        hints=(
            "Each output is one row: a mix of all value rows. Which weights belong to output i?",
            "A number times a vector is a vector: you can add up whole value rows, feature by feature is not "
            "needed.",
            "The shape of it: for each query start from zeros, and for each key add weight times value.",
        ),
    ),
    Exercise(
        id="loops.attention_from_loops",
        lesson=LESSON,
        minutes=12,
        difficulty=2,
        reference=_attention_from_loops,
        cases=_attention_from_loops_cases,
        aspects={VALUES: 3, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1},
        shapes={"q": "N D", "k": "M D", "v": "M E", "return": "N E"},
        rules=Rules("required", BY_HAND),
        mistakes=mistakes.ATTENTION_FROM_LOOPS,
        variant=mistakes.attention_with,
        hints=(
            "You have built all three steps. In which order do scores, softmax and weighted sum come, and what "
            "does each hand on to the next?",
            "Queries and keys may differ in number: one loop runs over the queries, the other over the keys. "
            "And between dot product and softmax one step is left: what keeps the scores small?",
            "The shape of it: scores (N, M) by two loops, each divided by the same number; softmax over each "
            "row; then mix the M value rows for each of the N queries.",
        ),
    ),
)
