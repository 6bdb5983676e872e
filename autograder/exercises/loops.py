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


# The operations of two small cases are looked at, the second one larger in each size: a loop does more there.
def _dot_product_scores_cases(values):
    few, many = sorted(values.sizes(2))
    yield Case("more features than tokens", (values.normal(few, many),))
    yield Case("as many tokens as features", (values.normal(4, 4),), observe=True)
    yield Case("one token of one feature", (values.normal(1, 1),))
    yield Case("columns in memory order", (values.normal(5, 4).T.contiguous().T,))
    yield Case("large entries", (values.eighths(6, 5, limit=800),), scale=100.0, observe=True)


def _softmax(scores):
    return torch.softmax(scores, dim=-1)


def _softmax_cases(values):
    rows, keys = values.sizes(2)
    yield Case("a table", (values.normal(rows, keys),), observe=True)
    yield Case("one row", (values.normal(keys),))
    yield Case("batch, heads, table", (values.normal(2, 3, 4, 5),))
    yield Case("one row of one key", (values.normal(1, 1),))
    yield Case("rows and columns swapped in memory", (values.normal(6, 3).T,))
    # Among them differences that a shift by the table's largest, a sum or a mean do not survive, and rows that
    # are all far below zero.
    large = values.eighths(6, 6, limit=80000)
    large[0] = torch.tensor([1e4, 1e4, -1e4, 0.0, 9999.0, 9998.0])
    large[1] = torch.tensor([-1e4, -9999.0, -9998.5, -1e4, -9999.5, -1e4])
    large[2] = torch.tensor([0.0, -1.5, 0.25, 400.0, -0.75, 399.0])
    yield Case("scores up to 10 000", (large,), aspect=STABILITY)


def _weighted_sum(weights, values):
    return weights @ values


def _weighted_sum_cases(values):
    queries, keys, width = values.sizes(3)
    queries, keys = sorted((queries, keys))
    yield Case("all sizes different", (values.weights(queries, keys), values.normal(keys, width)))
    yield Case("all sizes equal", (values.weights(4, 4), values.normal(4, 4)), observe=True)
    picks = torch.eye(4)[[2, 0, 3, 1, 1]]
    yield Case(clues.PICKED, (picks, values.normal(4, 3)))
    yield Case("any weights", (values.normal(6, 7), values.normal(7, 5)), observe=True)
    yield Case("one of everything", (values.weights(1, 1), values.normal(1, 1)))
    yield Case("columns in memory order", (values.weights(4, 5).T, values.normal(3, 4).T))


def _attention_from_loops(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def _attention_from_loops_cases(values):
    keys, queries, width, out = values.sizes(4)
    keys, queries = sorted((keys, queries))
    yield Case("more queries than keys", _qkv(values, queries, keys, width, out))
    yield Case("all sizes equal", _qkv(values, 4, 4, 4, 4), observe=True)
    yield Case("one of everything", _qkv(values, 1, 1, 1, 1))
    yield Case("columns in memory order", tuple(values.normal(n, 4).T for n in (5, 5, 3)))
    # With the identity as values the output is the table of weights: mistakes in them can be told.
    yield Case(
        "values that show the weights",
        (values.normal(5, 10), values.normal(6, 10), torch.eye(6)),
        observe=True,
    )
    q, k, v = values.eighths(4, 6, limit=400), values.eighths(5, 6, limit=400), values.normal(5, 3)
    yield Case("scores in the thousands", (q, k, v), aspect=STABILITY, gradients=False, scale=10.0)


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
            "A number times a vector is a vector: you can add up whole value rows, no need to go feature by "
            "feature.",
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
