"""The feed-forward network of a layer: two linear layers with an activation between them."""

import torch
import torch.nn.functional as F

from autograder.exercises._shared.layers import ACTIVATIONS
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, Module, edit


def feed_forward(x, linear1, linear2):
    inner = linear1(x)
    inner = F.gelu(inner)
    return linear2(inner)


def reference(x, linear1, linear2):
    return torch.nn.Sequential(linear1, torch.nn.GELU(), linear2)(x)


def cases(draw):
    batch, tokens, d_model, d_ff = draw.sizes(4)
    yield _case(draw, "a batch", (batch, tokens), d_model, d_ff)
    yield _case(draw, "one sentence", (tokens,), d_model, d_ff)
    yield _case(draw, "all sizes equal", (4, 4), 4, 4, float64=True)
    yield _case(draw, "one of everything", (1, 1), 1, 1)
    # Two identity layers: the result is the activation between them.
    same = Module("Linear", {"in_features": 4, "out_features": 4}, {"weight": torch.eye(4), "bias": torch.zeros(4)})
    yield Case("layers that change nothing", (draw.normal(2, 5, 4, scale=2.0), same, same))
    yield _case(draw, "large numbers", (2, 5), 4, 12, scale=20.0)
    x, linear1, linear2 = _case(draw, "linears by name", (2, 3), 4, 6).args
    yield Case("linears by name", (x,), {"linear1": linear1, "linear2": linear2}, needs=("layers",))


def _case(draw, family, lead, d_model, d_ff, scale=1.0, **more):
    x = draw.normal(*lead, d_model, scale=scale)
    return Case(family, (x, _linear(draw, d_model, d_ff), _linear(draw, d_ff, d_model)), needs=("layers",), **more)


def _linear(draw, d_in, d_out):
    weights = {"weight": draw.normal(d_out, d_in), "bias": draw.normal(d_out)}
    return Module("Linear", {"in_features": d_in, "out_features": d_out}, weights)


ERF = "torch.erf(inner / 2**0.5)"
LAST = "return linear2(inner)"

EXERCISE = Exercise(
    number=1, minutes=4, difficulty=1,
    worked=feed_forward,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed"),
    aspects={VALUES: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "... N d_model", "return": "... N d_model"},
    mistakes=(
        *ACTIVATIONS,
        edit("FFN-03 an activation in both places", {LAST: "return F.gelu(linear2(inner))"},
             "Your output passes through an activation once more, after the second layer.",
             "Where in the network does the activation belong?"),
        edit("FFN-03", {"F.gelu": "torch.relu", LAST: "return torch.relu(linear2(inner))"}),
        edit("FFN-07 the residual is already inside", {LAST: "return x + linear2(inner)"},
             "Your output is too large by x.",
             "Does this formula contain the residual, or does the layer around it add x?"),
        edit("FFN-31 tanh instead of GELU", {"F.gelu": "torch.tanh"},
             "Your activation never exceeds 1.", "What is your activation at 3, and what should it be?"),
        edit("FFN-33 a sigmoid instead of GELU", {"F.gelu": "torch.sigmoid"},
             "Your activation is always between 0 and 1.", "What is your activation at 3, and what should it be?"),
        edit("FFN-35 a norm is already inside", {"linear1(x)": "linear1(F.layer_norm(x, x.shape[-1:]))"},
             "Your output does not change when x is doubled.",
             "Does the docstring's formula contain a norm?"),
        edit("FFN-01 the activation comes last", {"F.gelu(inner)": "inner", LAST: "return F.gelu(linear2(inner))"},
             "Your activation comes after the second layer; between the two layers there is none.",
             "Between which two steps does the activation belong?"),
        edit("FFN-01", {"F.gelu(inner)": "inner", LAST: "return torch.relu(linear2(inner))"}),
        edit("FFN-39 another curve for negative numbers", {"F.gelu": "F.leaky_relu"},
             "Your activation differs from GELU for negative inputs.",
             "What is your activation at -1 and at -10, and what should it be?"),
        edit("FFN-39", {"F.gelu": "F.elu"}),
        edit("FFN-41 a factor of GELU's formula is missing", {"F.gelu(inner)": "inner * 0.5 * (1 + torch.erf(inner))"},
             "Your activation is GELU's formula without one of its factors.",
             "What is your activation at 1 and at 10, and what should it be?"),
        edit("FFN-41", {"F.gelu(inner)": f"inner * (1 + {ERF})"}),
        edit("FFN-41", {"F.gelu(inner)": f"0.5 * (1 + {ERF})"}),
        edit("FFN-17 the activation comes first", {"linear1(x)": "linear1(F.gelu(x))", "F.gelu(inner)": "inner"},
             "Your activation is applied to x before the first layer.",
             "Which tensor should the activation receive?"),
        edit("FFN-19 the layers in the other order", {"linear1(x)": "linear2(x)", "linear2(inner)": "linear1(inner)"},
             "You call the second layer first.",
             "Which layer takes as many features as x has?"),
        edit("FFN-21 a bias is left out", {"linear2(inner)": "inner @ linear2.weight.T"},
             "A layer's bias has no effect on your output.",
             "What does an nn.Linear add after multiplying by its weight?"),
        edit("FFN-21", {"linear1(x)": "x @ linear1.weight.T", "linear2(inner)": "inner @ linear2.weight.T"}),
        edit("FFN-23 transposed weights", {"linear1(x)": "x @ linear1.weight + linear1.bias",
             "linear2(inner)": "inner @ linear2.weight + linear2.bias"},
             "You multiply by a layer's weight without transposing it.",
             "How does nn.Linear store its weight: as (in, out), or as (out, in)?"),
        edit("FFN-25 the second layer is left out", {LAST: "return inner"},
             "Your output is d_ff wide, not d_model.", "Which layer projects back to d_model?"),
        edit("FFN-27 one layer used twice", {"linear2(inner)": "linear1(inner)"},
             "Your second step uses the first layer again.",
             "Which of the two layers is never called?"),
        edit("HEAD-01", {"linear1(x)": "torch.nn.Linear(x.shape[-1], linear1.out_features).to(x)(x)",
              "linear2(inner)": "torch.nn.Linear(inner.shape[-1], x.shape[-1]).to(x)(inner)"}),
        edit("HEAD-15", {"linear1(x)": "F.linear(x, linear1.weight.data, linear1.bias.data)",
              "linear2(inner)": "F.linear(inner, linear2.weight.data, linear2.bias.data)"}),
        edit("FFN-37 changes a layer it was given", {LAST: f"linear1.weight.data.mul_(0.99)\n    {LAST}"},
             "After the call a weight of the caller's layer holds different numbers.",
             "Which line writes into a layer that was passed in?"),
    ),
    needs={
        "": ("With identity layers the result should be GELU(x). Yours is something else.",
             "What does your code return for x = -1, 0 and 3, and what should it return?"),
        "layers": ("With identity layers your result is right, so the activation is right; with other layers the "
                   "result is wrong.",
                   "What do the two layers do to x besides multiplying by a weight?"),
    },
    hints=(
        "Each token's vector is processed on its own: project up to d_ff, apply the activation, project back down "
        "to d_model. The two layers do the projecting.",
        "Two linear layers with nothing between them can do no more than a single one. So where does the activation "
        "go? `F.gelu` computes the exact GELU by default.",
        "In outline: the first layer takes (..., d_model) to (..., d_ff); the exact GELU acts on every entry; the "
        "second layer takes the result back to (..., d_model).",
    ),
)
