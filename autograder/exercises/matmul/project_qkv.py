"""Queries, keys and values: the same inputs times three weights."""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.plain_attention import A_BATCH, heads_just_split
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Rules, edit


def project_qkv(x, w_q, w_k, w_v):
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    return q, k, v


def reference(x, w_q, w_k, w_v):
    return F.linear(x, w_q.T), F.linear(x, w_k.T), F.linear(x, w_v.T)


def cases(draw):
    tokens, d_in, d_out = draw.sizes(3)
    weights, front = {"needs": ("x", "weights")}, {"needs": ("x", "weights", "axes in front")}
    yield Case("one sentence", _xw(draw, (tokens,), d_in, d_out), observe=True, **weights)
    yield Case("a batch", _xw(draw, (2, tokens), d_in, d_out), **front)
    split = heads_just_split(draw, 3, 4, 5), *(draw.normal(5, 6) for _ in range(3))
    yield Case("batch, groups, tokens, in another order in memory", split, **front)
    yield Case("all sizes equal", _xw(draw, (4, 4), 4, 4), **front, float64=True)
    yield Case("square weights", _xw(draw, (3,), 4, 4), **weights)
    yield Case("many tokens", _xw(draw, (300,), 2, 3), gradients=False, needs=("x", "weights", "many tokens"))
    yield Case("weights that change nothing", (draw.normal(3, 4), *(torch.eye(4) for _ in range(3))), needs=("x",))
    yield Case("an x of zeros", (torch.zeros(2, 4), *(draw.normal(4, 3) for _ in range(3))))
    yield Case("one of everything", _xw(draw, (1, 1), 1, 1), **weights)


def _xw(draw, lead, d_in, d_out):
    return draw.normal(*lead, d_in), *(draw.normal(d_in, d_out) for _ in range(3))


ALL = "return q, k, v"

EXERCISE = Exercise(
    number=3, minutes=5, difficulty=1,
    worked=project_qkv,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed"),
    aspects={VALUES: 2, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "... N d_in", "w_q": "d_in d_out", "w_k": "d_in d_out", "w_v": "d_in d_out", "return": "... N d_out"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        edit("QKV-01 the results in another order", {ALL: "return k, q, v"},
             "Your three results are right, but in another order.",
             "In which order does the signature promise them?"),
        edit("QKV-01", {ALL: "return v, k, q"}),
        edit("QKV-01", {ALL: "return k, v, q"}),
        edit("QKV-01", {ALL: "return v, q, k"}),
        edit("QKV-03 one weight for all three", {"x @ w_k": "x @ w_q", "x @ w_v": "x @ w_q"},
             "All your projections use one and the same weight.",
             "How many weights were you given, and how many did you use?"),
        edit("QKV-05 the weight transposed", {f"x @ w_{one}": f"x @ w_{one}.T" for one in "qkv"},
             "Your weights are used transposed.",
             "For (..., N, d_in) times W, which axis of W must be d_in?"),
        edit("QKV-07 not a tuple of three", {ALL: "return [q, k, v]"},
             "Your three results come in another form than three tensors.",
             "What should `q, k, v = project_qkv(...)` unpack?"),
        edit("QKV-09 projects a projection", {"x @ w_k": "q @ w_k", "x @ w_v": "q @ w_v"},
             "Keys and values are computed from another projection instead of from x.",
             "What does each of the three products start from?"),
        edit("QKV-11 one result instead of three", {ALL: "return q"},
             "You return the queries only.",
             "What should `q, k, v = project_qkv(...)` unpack?"),
        edit("QKV-13 keys and values change places", {ALL: "return q, v, k"},
             "Your queries are right; where the keys should be, you return the values.",
             "In which order does the signature promise the three?"),
        edit("QKV-15 scaled already here", {f"x @ w_{one}": f"x @ w_{one} / w_q.shape[1] ** 0.5" for one in "qkv"},
             "Your projections are smaller than they should be, by the root of their width.",
             "Where in attention does the scale act?"),
        edit("QKV-17 stacked into one tensor", {ALL: "return torch.stack((q, k, v))"},
             "Your three results come stacked in one tensor.",
             "What did the signature promise: one tensor, or three?"),
        edit("HEAD-09 one weight for two roles", {"x @ w_v": "x @ w_k"},
             "Two of your projections use one and the same weight.",
             "Could a token be found by one thing and pass on another?"),
        edit("HEAD-09", {"x @ w_k": "x @ w_q"}),
        edit("HEAD-11 an activation on the projections", {ALL: "return torch.relu(q), torch.relu(k), torch.relu(v)"},
             "None of your projections ever gets negative.",
             "Are queries, keys and values meant to be linear in x?"),
    ),
    combinable=("QKV-01", "QKV-03", "QKV-05", "QKV-09", "QKV-13", "QKV-15", "HEAD-09", "HEAD-11"),
    needs=A_BATCH | {
        "weights": ("With weights that change nothing you are right; with others you are not.",
                    "Which weight does each of your three results meet, and how?"),
        "x": ("With weights that change nothing, x should come back three times; in yours it does not.",
              "What is done to x besides the three products?"),
    },
    hints=(
        "The same x is looked at in three ways. How many products is that?",
        "x has its features last, a weight has them first: which side of x does the weight stand on?",
        "The shape of it: three products in a row, given back together in the order of the signature.",
    ),
)
