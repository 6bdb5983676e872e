"""Queries, keys and values: the same inputs multiplied by three weights."""

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
    aspects={VALUES: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "... N d_in", "w_q": "d_in d_out", "w_k": "d_in d_out", "w_v": "d_in d_out", "return": "... N d_out"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        edit("QKV-01 the results in another order", {ALL: "return k, q, v"},
             "You return the three results in the wrong order.",
             "In which order does the docstring list them?"),
        edit("QKV-01", {ALL: "return v, k, q"}),
        edit("QKV-01", {ALL: "return k, v, q"}),
        edit("QKV-01", {ALL: "return v, q, k"}),
        edit("QKV-03 one weight for all three", {"x @ w_k": "x @ w_q", "x @ w_v": "x @ w_q"},
             "All your projections use the same weight.",
             "How many weights are passed in, and how many do you use?"),
        edit("QKV-05 the weight transposed", {f"x @ w_{one}": f"x @ w_{one}.T" for one in "qkv"},
             "Your weights are used transposed.",
             "For (..., N, d_in) times W, which axis of W must be d_in?"),
        edit("QKV-07 not a tuple of three", {ALL: "return [q, k, v]"},
             "You return the three results, but not as a tuple.",
             "In the docstring's example, which brackets enclose the three tensors?"),
        edit("QKV-09 projects a projection", {"x @ w_k": "q @ w_k", "x @ w_v": "q @ w_v"},
             "Your keys and values are computed from another projection, not from x.",
             "Which tensor should each of the three products start from?"),
        edit("QKV-11 one result instead of three", {ALL: "return q"},
             "You return only the queries.",
             "What should `q, k, v = project_qkv(...)` unpack?"),
        edit("QKV-13 keys and values change places", {ALL: "return q, v, k"},
             "You return the keys and the values in swapped positions.",
             "In which order does the docstring list the three?"),
        edit("QKV-15 scaled already here", {f"x @ w_{one}": f"x @ w_{one} / w_q.shape[1] ** 0.5" for one in "qkv"},
             "Your projections are too small by a factor of the square root of their width.",
             "Which step of attention applies the scale?"),
        edit("QKV-17 stacked into one tensor", {ALL: "return torch.stack((q, k, v))"},
             "Your three results are stacked into one tensor.",
             "Does the docstring ask for one tensor, or for three?"),
        edit("HEAD-09 one weight for two roles", {"x @ w_v": "x @ w_k"},
             "Two of your projections use the same weight.",
             "Which weight belongs to each of the three results?"),
        edit("HEAD-09", {"x @ w_k": "x @ w_q"}),
        edit("HEAD-11 an activation on the projections", {ALL: "return torch.relu(q), torch.relu(k), torch.relu(v)"},
             "None of your projections is ever negative.",
             "Are queries, keys and values meant to be linear in x?"),
    ),
    needs=A_BATCH | {
        "weights": ("Your result is right when the weights are identity matrices, and wrong with other weights.",
                    "By which weight is x multiplied for each of the three results, and from which side?"),
        "x": ("With identity matrices as weights, x should come back three times, but it does not.",
              "What do you do to x besides the three products?"),
    },
    hints=(
        "The same x is multiplied by three different matrices: one product each for queries, keys and values.",
        "The features are x's last axis and the weight's first. On which side of x does the weight go?",
        "In outline: multiply x by each of the three weights with `@`, without a transpose anywhere; return "
        "the results together, in the order queries, keys, values.",
    ),
)
