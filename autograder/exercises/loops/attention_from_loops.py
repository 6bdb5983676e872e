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
    # With the identity as values the output is the matrix of weights, so that mistakes in the weights can be
    # named.
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
             "Your code assumes that there are as many keys as queries.",
             "The two numbers may differ. Which size in your code should be the number of keys?"),
        edit("LOOP-45", {TABLE: "torch.zeros(q.shape[0], q.shape[0])"}),
        edit("LOOP-45", {"k.shape[0]": "q.shape[0]", "v.shape[1]": "q.shape[1]"}),
        edit("LOOP-47 values as wide as queries taken for granted", WIDTH,
             "Your code assumes that the values are as wide as the queries.",
             "The two widths may differ. Which input decides how wide the output is?"),
        edit("LOOP-47", WIDTH | {"output[i] = output[i] + ": "output[i] += "}),
        edit("LOOP-47", WIDTH | {"= output[i] + ": "= output[i].clone() + "}),
    ),
    needs=MANY_TOKENS | {
        "other width": ("Your result is right when the values are as wide as the queries, and wrong when the "
                        "widths differ.",
                        "Which input decides how wide the output is?"),
        "other number": ("Your result is right when there are as many keys as queries, and wrong when the numbers "
                         "differ.",
                         "Which loop runs over the queries, and which over the keys?"),
    },
    hints=(
        "You have built all three steps already: scores, softmax, weighted sum. Write down the shape that each "
        "returns here, starting with (N, M) for the scores.",
        "There may be more or fewer keys than queries: one loop runs over the N queries, the other over the M "
        "keys. Between dot product and softmax there is one more step, the division by sqrt(D).",
        "In outline: for each query i and each key j, compute the dot product and divide it by sqrt(D); apply "
        "softmax to each row of the (N, M) scores; for each query, add up the M rows of v, each times its weight.",
    ),
)
