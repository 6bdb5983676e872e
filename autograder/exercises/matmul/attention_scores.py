"""Scaled scores of every query with every key, as one matrix product."""

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
             "Your scores are larger than they should be, the more the wider the vectors.",
             "Should the scale make up for wide vectors, or add to their effect?"),
        edit("SDPA-35 divided by the width itself", {"/ math.sqrt(q.shape[-1])": "/ q.shape[-1]"},
             "Your scores are smaller than they should be, the more the wider the vectors.",
             "By how much does the standard deviation of a dot product grow when the width is four times as large?"),
        edit("SDPA-21 samples are mixed", {"k.transpose(-2, -1)": "k.reshape(-1, *k.shape[-2:])[0].T"},
             "Changing one sample moves the result of another.",
             "Change sentence 2: should the result for sentence 1 move?"),
        edit("SDPA-41 queries and keys change roles", {"return scores": "return scores.transpose(-2, -1)"},
             "Your table of scores is transposed: its rows are the keys.",
             "Which position owns a row: the one that asks, or the one that is asked?"),
        edit("SDPA-47 scaled twice", {"return scores": "return scores / math.sqrt(q.shape[-1]) ** 0.5"},
             "Your scores are smaller than they should be, the more the wider the vectors.",
             "How many times does the scale act on its way to the result?"),
        edit("SDPA-51 weights where scores are asked", {"return scores": "return torch.softmax(scores, dim=-1)"},
             "Your rows sum to one: they are weights already.",
             "Where does this exercise end, and which step comes only after it?"),
    ),
    combinable=("SDPA-01", "SDPA-03", "SDPA-13", "SDPA-35", "SDPA-09", "SDPA-11", "SDPA-25", "SDPA-43", "SDPA-41",
             "SDPA-51"),
    needs=NEEDS | {
        "large": ("Small entries come out right, large ones do not.",
                  "Which step is only right as long as the scores are small?"),
    },
    hints=(
        "Write the shapes of q and k below each other. Over which axis does the sum of a dot product run, and where "
        "must that axis stand in each factor?",
        "There may be any number of axes in front. Counted from the end, which two axes of k change places?",
        "The shape of it: one matrix product of q with the transposed k, divided by a root that you read off the "
        "inputs.",
    ),
)
