"""The scaled scores of every query with every key, computed as one matrix product."""

import math

import torch

from autograder.exercises._shared.plain_attention import ATTENTION, NEEDS, heads_just_split
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit, fitting


def attention_scores(q, k):
    scores = q @ k.transpose(-2, -1)
    scores = scores / math.sqrt(q.shape[-1])
    return scores


def reference(q, k):
    return torch.matmul(q, k.mT) * q.shape[-1] ** -0.5


def cases(draw):
    queries, keys, width = draw.sizes(3)
    front = {"needs": ("axes in front",)}
    yield Case("no axes in front", (draw.normal(queries, width), draw.normal(keys, width)), observe=True)
    yield Case("a batch", (draw.normal(2, queries, width), draw.normal(2, keys, width)), **front)
    for family, *sizes in (("300 queries", 300, 2), ("300 keys", 2, 300)):
        q, k = (draw.normal(size, 2) for size in sizes)
        yield Case(family, (q, k), gradients=False, needs=("many tokens",))
    heads = {"needs": (*front["needs"], "heads")}
    split = heads_just_split(draw, 3, 4, 5), heads_just_split(draw, 3, 6, 5)
    yield Case("batch and heads, just split", split, **heads)
    yield Case("a batch as long as its sentences", (draw.normal(4, 4, 4), draw.normal(4, 4, 4)), **front,
               float64=True)
    yield Case("as many heads as tokens", (draw.normal(2, 3, 3, 5), draw.normal(2, 3, 3, 5)), **heads)
    yield Case("one of everything", (draw.normal(1, 1, 1), draw.normal(1, 1, 1)))
    q, k = draw.eighths(2, 3, 6, limit=800), draw.eighths(2, 4, 6, limit=800)
    yield Case("large entries", (q, k), scale=100.0, needs=("axes in front", "large"))


EXERCISE = Exercise(
    number=1, minutes=8, difficulty=1,
    worked=attention_scores,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed"),
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"q": "... N D", "k": "... M D", "return": "... N M"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        *fitting(attention_scores, ATTENTION, without=("SDPA-03", "SDPA-05", "SDPA-35")),
        edit("SDPA-03 multiplied by the root of the width", {"scores / math.sqrt(": "scores * math.sqrt("},
             "Your scores are too large, and the error grows with the width of the vectors.",
             "Should the scale shrink the scores of wide vectors, or enlarge them?"),
        edit("SDPA-35 divided by the width itself", {"/ math.sqrt(q.shape[-1])": "/ q.shape[-1]"},
             "Your scores are too small, and the error grows with the width of the vectors.",
             "When the width is four times as large, by what factor does the standard deviation of a dot product "
             "grow?"),
        edit("SDPA-21 samples are mixed", {"k.transpose(-2, -1)": "k.reshape(-1, *k.shape[-2:])[0].T"},
             "Changing one sample changes the result of another.",
             "Which step mixes the samples of the batch?"),
        edit("SDPA-41 queries and keys change roles", {"return scores": "return scores.transpose(-2, -1)"},
             "Your scores are transposed: their rows belong to the keys.",
             "Should a row hold the scores of one query, or of one key?"),
        edit("SDPA-47 scaled twice", {"return scores": "return scores / math.sqrt(q.shape[-1]) ** 0.5"},
             "Your scores are too small: you divide by more than the square root of the width.",
             "How many times do you apply the scale?"),
        edit("SDPA-51 weights where scores are asked", {"return scores": "return torch.softmax(scores, dim=-1)"},
             "Your rows sum to one: you return weights.",
             "Does the formula of this exercise contain a softmax?"),
    ),
    needs=NEEDS | {
        "large": ("Your result is right for small entries, and wrong for large ones.",
                  "Which step works only while the scores are small?"),
    },
    hints=(
        "Write the shapes of q and k one below the other. A dot product sums over D. In a matrix product, which axis "
        "of each factor is summed over?",
        "k has D as its last axis, so two of its axes must be swapped before the product. Count them from the "
        "end: `transpose` takes negative numbers, and any number of axes may come before these two.",
        "In outline: swap the last two axes of k, multiply q by the result with `@`, and divide by the square "
        "root of the width, which you read off q.",
    ),
)
