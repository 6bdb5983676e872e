"""Self-attention as a module that owns its three weights."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared.plain_attention import ATTENTION, A_BATCH
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Case, Exercise, Rules, edit, fitting


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.randn(d_in, d_out))
        self.W_key = nn.Parameter(torch.randn(d_in, d_out))
        self.W_value = nn.Parameter(torch.randn(d_in, d_out))

    def forward(self, x):
        q = x @ self.W_query
        k = x @ self.W_key
        v = x @ self.W_value
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        output = weights @ v
        return output


class Reference(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.empty(d_in, d_out)) for _ in range(3))

    def forward(self, x):
        return F.scaled_dot_product_attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)


def cases(draw):
    batch, tokens, d_in, d_out = draw.sizes(4)
    several, front = ("several tokens",), ("several tokens", "axes in front")
    yield _case(draw, "one sentence", (tokens,), d_in, d_out, observe=True, needs=several)
    yield _case(draw, "a batch", (batch, tokens), d_in, d_out, needs=(*front, "other weights"))
    again = (*front, "other weights")
    yield _case(draw, "other weights in the same module", (batch, tokens), d_in, d_out, needs=again)
    yield _case(draw, "batch, groups, tokens, in another order in memory", (2, 3, 4), 5, 6, swapped=True, needs=front)
    yield _case(draw, "all sizes equal", (4, 4), 4, 4, needs=front, float64=True)
    yield _case(draw, "many tokens", (300,), 2, 3, gradients=False, needs=(*several, "many tokens"))
    yield _case(draw, "one of everything", (1, 1), 1, 1)
    by_name = {"d_in": 5, "d_out": 6}
    yield _case(draw, "constructor arguments by name", (3, 4), 5, 6, init=by_name, needs=front)
    # x and W_value are the identity: the output is the matrix of weights, so that mistakes in them can be
    # named.
    shown = {name: draw.normal(5, 5) for name in ("W_query", "W_key")} | {"W_value": torch.eye(5)}
    identity = (torch.eye(5).repeat(2, 1, 1),)
    yield Case("values that show the weights", identity, init=(5, 5), weights=shown, needs=front)
    stable = {"aspect": STABILITY, "gradients": False, "needs": front}
    yield _case(draw, "large scores", (3, 5), 4, 6, stretch=12.0, scale=10.0, **stable)
    # A query depends mostly on feature 0, which is large in the first token only; a key depends mostly on
    # feature 1, which is 4 in every token. So all scores of the first token are about -200.
    x, low = draw.eighths(2, 4, 3, limit=2), {name: draw.eighths(3, 4, limit=2) for name in ("W_query", "W_key")}
    x[:, 0, 0], x[..., 1], low["W_query"][0, 0], low["W_key"][1, 0] = -5.0, 4.0, 4.0, 5.0
    low["W_value"] = draw.normal(3, 4)
    yield Case("scores about -200 for one token", (x,), init=(3, 4), weights=low, **stable)


def _case(draw, family, lead, d_in, d_out, stretch=1.0, init=None, swapped=False, **more):
    weights = {name: draw.eighths(d_in, d_out, limit=12) * stretch for name in ("W_query", "W_key")}
    weights["W_value"] = draw.normal(d_in, d_out)
    x = draw.eighths(*lead, d_in)
    x = x.transpose(0, -2).contiguous().transpose(0, -2) if swapped else x
    return Case(family, (x,), init=init or (d_in, d_out), weights=weights, **more)


NAMES = ("query", "key", "value")
NEW, MADE = "torch.randn(d_in, d_out)", "nn.Parameter(torch.randn(d_in, d_out))"
Q, K, V = "x @ self.W_query", "x @ self.W_key", "x @ self.W_value"
QUERY, KEY, VALUE = (f"self.W_{name} = {MADE}" for name in NAMES)

EXERCISE = Exercise(
    number=4, minutes=15, difficulty=2,
    worked=SelfAttention,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "new"),
    aspects={VALUES: 5, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "... N d_in", "return": "... N d_out"},
    rules=Rules(None, ("fused attention",)),
    mistakes=(
        *fitting(SelfAttention, ATTENTION, without=("SDPA-05", "SDPA-11", "SDPA-43")),
        edit("SDPA-41", {Q: K, K: Q}),
        edit("HEAD-03 scale from the model's width", {"math.sqrt(q.shape[-1])": "math.sqrt(x.shape[-1])"},
             "Your scale is computed from the width of x.",
             "Which vectors do your dot products multiply?"),
        edit("HEAD-07 weights that PyTorch does not know", {MADE: NEW},
             "PyTorch does not find all of your weights.",
             "Which of your weights does list(module.parameters()) show?"),
        edit("HEAD-09", {K: Q}),
        edit("HEAD-09", {KEY: "self.W_key = self.W_query"}),
        edit("QKV-19 keys and values from one weight", {VALUE: "self.W_value = self.W_key"},
             "Your keys and your values are made with the same weight.",
             "How many weights does the exercise ask for?"),
        edit("QKV-21 parameters that share their memory",
             {QUERY: f"w = {NEW}\n        self.W_query = nn.Parameter(w)",
              KEY: "self.W_key = nn.Parameter(w)", VALUE: "self.W_value = nn.Parameter(w)"},
             "Your parameters share storage: writing into one changes another.",
             "How many random tensors do you draw, and how many weights should be learned?"),
        edit("QKV-21", {KEY: "self.W_key = nn.Parameter(self.W_query.data)"}),
        edit("QKV-21", {VALUE: "self.W_value = nn.Parameter(self.W_key.data)"}),
        edit("QKV-21", {KEY: "self.W_key = self.W_query", VALUE: "self.W_value = self.W_query"}),
        edit("HEAD-01 weights made in forward",
             {f"self.W_{one}\n": f"torch.randn_like(self.W_{one})\n" for one in NAMES},
             "Your weights are drawn again at every call.",
             "Does a module make its weights in `__init__` or in `forward`?"),
        edit("HEAD-11", {one: f"torch.relu({one})" for one in (Q, K, V)}),
        edit("HEAD-15 weights cut off from the gradient", {Q: f"{Q}.detach()", K: f"{K}.detach()"},
             "Your output is right, but some of your weights get no gradient.",
             "Which line cuts one of the weights off from the output?"),
        edit("HEAD-19 weights transposed", {NEW: "torch.randn(d_out, d_in)"},
             "The two axes of your weights are in the wrong order.",
             "In x @ W, which axis of W meets the features of x?"),
        edit("HEAD-21 the input is added back", {"return output": "return output + x"},
             "You add x to the output of the attention.",
             "Does this exercise ask for a residual connection?"),
        edit("HEAD-23 layers instead of parameters", {MADE: "nn.Linear(d_in, d_out, bias=False)"},
             "Your weights are inside layers, so their names end in .weight.",
             "Which names does the exercise ask for, and which type should each weight have?"),
        edit("QKV-05", {one: f"{one}.T" for one in (Q, K, V)}),
    ),
    needs=A_BATCH | {
        "other weights": ("Your result is right with a module's initial weights, and wrong after they have changed.",
                          "Which value, computed from the weights, does your module keep from one call to "
                          "the next?"),
        "several tokens": ("Your result is right for a single token, so the values are right; with several "
                           "tokens the attention weights are wrong.",
                           "Which steps lead from queries and keys to the weights?"),
    },
    hints=(
        "A module holds its learned parameters, here three matrices. Assign each one to an attribute of `self` as an "
        "`nn.Parameter`, so that PyTorch finds it.",
        "`forward` receives only `x`. It computes queries, keys and values from it and then does what `attention` "
        "does. Does the scale use the width of x, or the width of the queries?",
        "In outline: in `__init__`, make three random parameters of shape (d_in, d_out); in `forward`, multiply x "
        "by each of them; then compute scores, weights and weighted sum as before.",
    ),
)
