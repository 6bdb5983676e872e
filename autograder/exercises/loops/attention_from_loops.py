"""Scores, softmax and weighted sum together: scaled dot-product attention, entry by entry."""

import math

import torch
import torch.nn.functional as F

from autograder.exercises._shared.plain_attention import ATTENTION, LOOPS, MANY_TOKENS, large_scores, low_scores, qkv
from autograder.schema import GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, edit, fitting


def attention_from_loops(q, k, v):
    scores = torch.zeros(q.shape[0], k.shape[0])
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            scores[i, j] = q[i] @ k[j]
    scores = scores / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    output = torch.zeros(q.shape[0], v.shape[1])
    for i in range(q.shape[0]):
        for j in range(k.shape[0]):
            output[i] = output[i] + weights[i, j] * v[j]
    return output


def reference(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def cases(draw):
    keys, queries, width, out = draw.sizes(4)
    keys, queries = sorted((keys, queries))
    needs = {"needs": ("other number", "other width")}
    yield Case("more queries than keys, values of another width", qkv(draw, (), queries, keys, width, out), **needs)
    long = {"needs": (*needs["needs"], "many tokens"), "gradients": False, "slow": True, "repeats": False}
    yield Case("300 keys", qkv(draw, (), 1, 300, 2, 3), **long)
    # One weight is small: it counts like any other.
    q, k, v = qkv(draw, (), 3, 3, 3, 3)
    q[0], k[0] = torch.tensor([2.0, 0.0, 1.0]), torch.tensor([-3.0, 1.0, 0.0])
    yield Case("all sizes equal", (q, k, v), observe=True)
    q, k, v = qkv(draw, (), 3, 3, 3, 3)
    q[2], k[2] = q[0], k[0]
    yield Case("a query and a key that occur twice", (q, k, v))
    yield Case("one of everything", qkv(draw, (), 1, 1, 1, 1))
    yield Case("as many queries as keys, values of another width", qkv(draw, (), 5, 5, 3, 4), needs=("other width",))
    sizes = (7, 4), (7, 6), (5, 6)
    yield Case("columns in memory order", tuple(draw.normal(*size).T for size in sizes), **needs)
    yield Case("300 queries", qkv(draw, (), 300, 1, 2, 3), **long)
    # With the identity as values the output is the table of weights: mistakes in them can be told.
    shown = draw.normal(4, 10), draw.normal(5, 10), torch.eye(5)
    yield Case("more keys than queries, values that show the weights", shown, observe=True, **needs)
    stable = {"aspect": STABILITY, "gradients": False, **needs}
    yield Case("scores in the thousands", large_scores(draw, (), 4, 5, 6, 3), scale=10.0, **stable)
    yield Case("scores about -200 for one query", low_scores(draw, (), 3, 4, 2), **stable)


PAIR, TABLE, OUTPUT = "q[i] @ k[j]", "torch.zeros(q.shape[0], k.shape[0])", "torch.zeros(q.shape[0], v.shape[1])"
WIDTH = {OUTPUT: "torch.zeros_like(q)"}

EXERCISE = Exercise(
    number=4, minutes=12, difficulty=2,
    worked=attention_from_loops,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1},
    shapes={"q": "N D", "k": "M D", "v": "M E", "return": "N E"},
    rules=Rules("required", ("a matrix product", "fused attention"), rows="N M E"),
    mistakes=(
        *LOOPS,
        *fitting(attention_from_loops, ATTENTION, without=("SDPA-45",)),
        edit("SDPA-15", {"v.shape[1]": "k.shape[1]", "* v[j]": "* k[j]"}),
        edit("SDPA-23", {"return output": "return weights"}),
        edit("LOOP-01", {PAIR: "q[i] @ k[min(i, len(k) - 1)]"}),
        edit("LOOP-03", {"k.shape[0]": "min(q.shape[0], k.shape[0])"}),
        edit("LOOP-09", {"k.shape[0]": "k.shape[1]"}),
        edit("LOOP-11", {"k.shape[0]": "6"}),
        edit("LOOP-11", {TABLE: "torch.zeros(128, 128)",
                         "scores / math": "scores[: q.shape[0], : k.shape[0]] / math"}),
        edit("LOOP-13", {PAIR: "torch.cosine_similarity(q[i], k[j], dim=0)"}),
        edit("LOOP-45 as many keys as queries taken for granted", {"k.shape[0]": "q.shape[0]"},
             "Your code takes it for granted that there are as many keys as queries.",
             "The two numbers may differ: which of your sizes should be which?"),
        edit("LOOP-45", {TABLE: "torch.zeros(q.shape[0], q.shape[0])"}),
        edit("LOOP-45", {"k.shape[0]": "q.shape[0]", "v.shape[1]": "q.shape[1]"}),
        edit("LOOP-47 values as wide as queries taken for granted", WIDTH,
             "Your code takes it for granted that values are as wide as queries.",
             "The two widths may differ: which of the inputs decides how wide the output is?"),
        edit("LOOP-47", WIDTH | {"output[i] = output[i] + ": "output[i] += "}),
        edit("LOOP-47", WIDTH | {"= output[i] + ": "= output[i].clone() + "}),
    ),
    combinable=("SDPA-01", "SDPA-03", "SDPA-35", "SDPA-13", "SDPA-07", "SDPA-31", "SMX-01", "SDPA-15", "SDPA-23",
             "LOOP-17", "LOOP-35", "LOOP-45", "LOOP-47"),
    needs=MANY_TOKENS | {
        "other width": ("Where values are as wide as queries you are right; where the widths differ you are not.",
                        "Which of the inputs decides how wide the output is?"),
        "other number": ("Where there are as many keys as queries you are right; where the numbers differ you are not.",
                         "Which loop runs over the queries, and which over the keys?"),
    },
    hints=(
        "You have built all three steps. In which order do scores, softmax and weighted sum come, and what does each "
        "hand on to the next?",
        "Queries and keys may differ in number: one loop runs over the queries, the other over the keys. And between "
        "dot product and softmax one step is left: what keeps the scores small?",
        "The shape of it: scores (N, M) by two loops, each divided by the same number; softmax over each row; then "
        "mix the M value rows for each of the N queries.",
    ),
)
