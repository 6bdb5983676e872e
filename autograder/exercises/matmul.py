"""Lesson 02, attention as matrix products: the same numbers, all positions at once."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises import clues
from autograder.exercises.exercise import (
    DTYPES,
    GRADIENTS,
    SIDE_EFFECTS,
    STABILITY,
    VALUES,
    Case,
    Exercise,
    Rules,
)
from autograder.exercises.mistakes import matmul as mistakes

LESSON = "02_attention_as_matmul"
DOUBLE = torch.float64


def _attention_scores(q, k):
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5


def _attention_scores_cases(values):
    queries, keys, width = values.sizes(3)
    yield Case(
        "all sizes different", (values.normal(queries, width), values.normal(keys, width)), observe=True
    )
    yield Case("batch and heads", (values.normal(2, 3, 4, 5), values.normal(2, 3, 6, 5)))
    yield Case("a batch as long as its sentences", (values.normal(4, 4, 4), values.normal(4, 4, 4)))
    yield Case("as many heads as tokens", (values.normal(2, 3, 3, 5), values.normal(2, 3, 3, 5)))
    yield Case("one of everything", (values.normal(1, 1, 1), values.normal(1, 1, 1)))
    yield Case("columns in memory order", (values.normal(2, 5, 3).mT, values.normal(2, 5, 4).mT))
    q, k = values.eighths(2, 3, 6, limit=800), values.eighths(2, 4, 6, limit=800)
    yield Case("large entries", (q, k), scale=100.0)
    yield Case(
        "float64", (values.normal(2, 3, 5, dtype=DOUBLE), values.normal(2, 4, 5, dtype=DOUBLE)), aspect=DTYPES
    )


def _attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def _attention_cases(values):
    batch, queries, keys, width, out = values.sizes(5)
    yield Case("all sizes different", _qkv(values, (), queries, keys, width, out))
    yield Case("a batch", _qkv(values, (batch,), queries, keys, width, out), observe=True)
    yield Case("batch and heads", _qkv(values, (2, 3), 4, 5, 6, 7))
    yield Case("a batch as long as its sentences", _qkv(values, (4,), 4, 4, 4, 4))
    yield Case("as many heads as tokens", _qkv(values, (2, 3), 3, 3, 5, 5))
    yield Case("one of everything", _qkv(values, (1,), 1, 1, 1, 1))
    yield Case("columns in memory order", tuple(values.normal(2, n, 5).mT for n in (3, 3, 4)))
    # With the identity as values the output is the table of weights: mistakes in them can be told.
    q, k = values.normal(2, 4, 3), values.normal(2, 5, 3)
    yield Case("values that show the weights", (q, k, torch.eye(5).repeat(2, 1, 1)))
    q, k, v = values.eighths(3, 4, 6, limit=400), values.eighths(3, 5, 6, limit=400), values.normal(3, 5, 2)
    yield Case("scores in the thousands", (q, k, v), aspect=STABILITY, gradients=False, scale=10.0)
    yield Case("float64", _qkv(values, (2,), 3, 4, 5, 6, DOUBLE), aspect=DTYPES)
    yield Case(
        "a longer batch of longer sentences",
        _qkv(values, (12,), 13, 14, 11, 10),
        observe=True,
        gradients=False,
    )


def _qkv(values, lead, queries, keys, width, out, dtype=torch.float32):
    return (
        values.normal(*lead, queries, width, dtype=dtype),
        values.normal(*lead, keys, width, dtype=dtype),
        values.normal(*lead, keys, out, dtype=dtype),
    )


def _project_qkv(x, w_q, w_k, w_v):
    return F.linear(x, w_q.T), F.linear(x, w_k.T), F.linear(x, w_v.T)


def _project_qkv_cases(values):
    tokens, d_in, d_out = values.sizes(3)
    yield Case("one sentence", _xw(values, (tokens,), d_in, d_out), observe=True)
    yield Case("batch, groups, tokens", _xw(values, (2, 3, 4), 5, 6))
    yield Case("all sizes equal", _xw(values, (4, 4), 4, 4))
    yield Case(clues.IDENTITY, (values.normal(2, 3, 4), *(torch.eye(4) for _ in range(3))))
    yield Case("one of everything", _xw(values, (1, 1), 1, 1))
    x = values.normal(2, 4, 6)
    yield Case("columns in memory order", (x.mT, *(values.normal(3, 4).T for _ in range(3))))
    yield Case("float64", _xw(values, (2, 4), 5, 3, DOUBLE), aspect=DTYPES)


def _xw(values, lead, d_in, d_out, dtype=torch.float32):
    return values.normal(*lead, d_in, dtype=dtype), *(
        values.normal(d_in, d_out, dtype=dtype) for _ in range(3)
    )


class _SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.empty(d_in, d_out)) for _ in range(3))

    def forward(self, x):
        return F.scaled_dot_product_attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)


def _self_attention_cases(values):
    batch, tokens, d_in, d_out = values.sizes(4)
    yield _module_case(values, "one sentence", (tokens,), d_in, d_out, observe=True)
    yield _module_case(values, "a batch", (batch, tokens), d_in, d_out)
    yield _module_case(values, "other weights in the same module", (batch, tokens), d_in, d_out)
    yield _module_case(values, "batch, groups, tokens", (2, 3, 4), 5, 6)
    yield _module_case(values, "all sizes equal", (4, 4), 4, 4)
    yield _module_case(values, "one of everything", (1, 1), 1, 1)
    yield _module_case(values, "constructor arguments by name", (3, 4), 5, 6, by_name=True)
    # x and W_value are the identity: the output is the table of weights, and mistakes in them can be told.
    shown = {name: values.normal(5, 5) for name in ("W_query", "W_key")} | {"W_value": torch.eye(5)}
    yield Case("values that show the weights", (torch.eye(5).repeat(2, 1, 1),), init=(5, 5), weights=shown)
    yield _module_case(
        values, "large scores", (3, 5), 4, 6, stretch=12.0, aspect=STABILITY, gradients=False, scale=10.0
    )
    yield _module_case(values, "float64", (2, 4), 5, 3, dtype=DOUBLE, aspect=DTYPES)


def _module_case(values, family, lead, d_in, d_out, stretch=1.0, dtype=torch.float32, by_name=False, **more):
    weights = {name: values.eighths(d_in, d_out, limit=12) * stretch for name in ("W_query", "W_key")}
    weights["W_value"] = values.normal(d_in, d_out)
    init = {"d_in": d_in, "d_out": d_out} if by_name else (d_in, d_out)
    return Case(
        family,
        (values.eighths(*lead, d_in).to(dtype),),
        init=init,
        weights={name: weight.to(dtype) for name, weight in weights.items()},
        **more,
    )


EXERCISES = (
    Exercise(
        id="matmul.attention_scores",
        lesson=LESSON,
        minutes=8,
        difficulty=1,
        reference=_attention_scores,
        cases=_attention_scores_cases,
        aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={"q": "... N D", "k": "... M D", "return": "... N M"},
        rules=Rules(None, ("fused attention",)),
        mistakes=mistakes.ATTENTION_SCORES,
        variant=mistakes.product_with,
        hints=(
            "Write the shapes of q and k below each other. Over which axis does the sum of a dot product run, "
            "and where must that axis stand in each factor?",
            "There may be any number of axes in front. Counted from the end, which two axes of k change places?",
            "The shape of it: one matrix product of q with k turned on its side, divided by a root that you "
            "read off the inputs.",
        ),
    ),
    Exercise(
        id="matmul.attention",
        lesson=LESSON,
        minutes=10,
        difficulty=2,
        reference=_attention,
        cases=_attention_cases,
        aspects={VALUES: 3, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={"q": "... N D", "k": "... M D", "v": "... M E", "return": "... N E"},
        rules=Rules("forbidden", ("fused attention",)),
        mistakes=mistakes.ATTENTION,
        variant=mistakes.attention_with,
        hints=(
            "Three steps, no loop: scores, weights, mix. Which of them are matrix products?",
            "Every query's weights must sum to one over the keys. Counted from the end, which axis of the "
            "scores is that?",
            "The shape of it: (N, D) times (D, M) gives the scores, softmax keeps their shape, (N, M) times "
            "(M, E) gives the output.",
        ),
    ),
    Exercise(
        id="matmul.project_qkv",
        lesson=LESSON,
        minutes=5,
        difficulty=1,
        reference=_project_qkv,
        cases=_project_qkv_cases,
        aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={
            "x": "... N d_in",
            "w_q": "d_in d_out",
            "w_k": "d_in d_out",
            "w_v": "d_in d_out",
            "return": "... N d_out",
        },
        rules=Rules(None, ("fused attention",)),
        mistakes=mistakes.PROJECT_QKV,
        variant=mistakes.projections_with,
        clues=clues.PROJECTIONS,
        hints=(
            "The same x is looked at in three ways. How many products is that?",
            "x has its features last, a weight has them first: which side of x does the weight stand on?",
            "The shape of it: three products in a row, given back together in the order of the signature.",
        ),
    ),
    Exercise(
        id="matmul.SelfAttention",
        lesson=LESSON,
        minutes=15,
        difficulty=2,
        reference=_SelfAttention,
        cases=_self_attention_cases,
        procedure="class",
        aspects={VALUES: 4, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
        shapes={"x": "... N d_in", "return": "... N d_out"},
        rules=Rules(None, ("fused attention",)),
        mistakes=mistakes.SELF_ATTENTION,
        variant=mistakes.self_attention_with,
        clues=clues.kept("a batch"),
        hints=(
            "A module owns what is learned. Which three tensors are learned here, and what makes PyTorch know "
            "them?",
            "`forward` has only `x`: it makes queries, keys and values from it and then does what `attention` does. "
            "Which width belongs into the scale?",
            "The shape of it: three parameters made in `__init__`; in `forward` three products, then scores, "
            "weights, mix.",
        ),
    ),
)
