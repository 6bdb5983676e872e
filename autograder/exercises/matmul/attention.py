"""Scaled dot-product attention for all positions at once, without a loop."""

import math

import torch
import torch.nn.functional as F

from autograder.exercises._shared.plain_attention import (
    ATTENTION, NEEDS, heads_just_split, large_scores, low_scores, qkv,
)
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, edit, fitting


def attention(q, k, v):
    scores = q @ k.transpose(-2, -1)
    scores = scores / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    return output


def reference(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def cases(draw):
    batch, queries, keys, width, out = draw.sizes(5)
    front = {"needs": ("several tokens", "axes in front")}
    yield Case("no axes in front", qkv(draw, (), queries, keys, width, out), needs=("several tokens",))
    yield Case("a batch", qkv(draw, (batch,), queries, keys, width, out), **front)
    long = {"needs": ("several tokens", "many tokens"), "gradients": False}
    yield Case("300 queries", qkv(draw, (), 300, 2, 2, 3), **long)
    yield Case("300 keys", qkv(draw, (), 2, 300, 2, 3), **long)
    heads = {"needs": (*front["needs"], "heads")}
    split = tuple(heads_just_split(draw, 3, *size) for size in ((4, 6), (5, 6), (5, 7)))
    yield Case("batch and heads, just split", split, observe=True, **heads)
    yield Case("a batch as long as its sentences", qkv(draw, (4,), 4, 4, 4, 4), **front, float64=True)
    yield Case("as many heads as tokens", qkv(draw, (2, 3), 3, 3, 5, 6), **heads)
    yield Case("one of everything", qkv(draw, (1,), 1, 1, 1, 1))
    # With the identity as values the output is the matrix of weights, so that mistakes in the weights can be
    # named.
    shown = draw.normal(2, 4, 3), draw.normal(2, 5, 3), torch.eye(5).repeat(2, 1, 1)
    yield Case("values that show the weights", shown, **front)
    stable = {"aspect": STABILITY, "gradients": False, **front}
    yield Case("scores in the thousands", large_scores(draw, (3,), 4, 5, 6, 2), scale=10.0, **stable)
    yield Case("scores about -200 for one query", low_scores(draw, (2,), 3, 4, 2), **stable)
    larger = (draw.normal(5, *size).transpose(1, 2) for size in ((31, 6, 11), (33, 6, 11), (33, 6, 12)))
    yield Case("more heads and longer sentences, just split", (*larger,), observe=True, gradients=False, **heads)


FLAT = {"q @ k.transpose(-2, -1)": "q.reshape(-1, q.shape[-1]) @ k.reshape(-1, k.shape[-1]).T",
        "weights @ v": "(weights @ v.reshape(-1, v.shape[-1])).reshape(*q.shape[:-1], v.shape[-1])"}

EXERCISE = Exercise(
    number=2, minutes=10, difficulty=2,
    worked=attention,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed"),
    aspects={VALUES: 3, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... M D", "v": "... M E", "return": "... N E"},
    rules=Rules("forbidden", ("fused attention",)),
    mistakes=(
        *fitting(attention, ATTENTION),
        edit("SDPA-21", FLAT),
    ),
    needs=NEEDS | {
        "several tokens": ("Your result is right for a single token; with several tokens the attention "
                           "weights are wrong.",
                           "Which steps lead from queries and keys to the weights?"),
    },
    hints=(
        "There are three steps and no loop: scores, weights, weighted sum. The first and the last are matrix "
        "products; you have just written the first.",
        "Each query's weights must sum to 1 over the keys. In the scores (..., N, M), which axis holds the keys, "
        "counted from the end?",
        "In outline: (N, D) times (D, M), divided by sqrt(D), gives the scores; softmax along the keys keeps "
        "their shape; the weights (N, M) times v (M, E) give the output.",
    ),
)
