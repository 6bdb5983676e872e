"""A model that continues a series by one value: each number is a token, and the head reads the last one."""

import torch
import torch.nn.functional as F  # noqa: F401 (the mistakes use it)
from torch import nn

from autograder.exercises._shared.gpt_layers import NEEDS, STACK, layer_weights, linear, needs_of
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting, samples_apart


class SequenceRegressor(nn.Module):
    def __init__(self, length, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.input_proj = nn.Linear(1, d_model)
        self.position_embedding = nn.Embedding(length, d_model)
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(
                d_model, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(n_layers)
        ])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, 1)

    def forward(self, x):
        values = x[..., None]
        places = torch.arange(x.shape[1], device=x.device)
        x = self.input_proj(values) + self.position_embedding(places)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return self.head(x[:, -1])[:, 0]


class Reference(SequenceRegressor):
    def forward(self, x):
        columns = [self.input_proj(column[:, None]) for column in x.unbind(dim=1)]
        x = torch.stack(columns, dim=1) + self.position_embedding.weight
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)).squeeze(-1).select(1, x.shape[1] - 1)


def cases(draw):
    batch, length = draw.sizes(2, 3, 7)
    yield _case(draw, "all sizes different", batch, (length, 12, 3, 8, 2), observe=True)
    yield _case(draw, "other weights in the same module", batch + 1, (length, 12, 3, 8, 2), gradients=False)
    yield _case(draw, "one layer of one head", 3, (4, 6, 1, 5, 1))
    yield _case(draw, "three layers", 2, (5, 4, 2, 6, 3), gradients=False)
    yield _case(draw, "one sample", 1, (4, 6, 2, 5, 2))
    yield _case(draw, "a series of one value", 3, (1, 6, 2, 5, 1))
    # Without gradients: a norm of one feature has none, but rounding errors, times 1 / sqrt(eps), look like one.
    yield _case(draw, "one of everything", 1, (1, 1, 1, 1, 1), gradients=False)
    yield _case(draw, "four of everything", 4, (4, 4, 4, 4, 4), gradients=False, float64=True)
    yield _case(draw, "a long series", 1, (300, 4, 2, 3, 1), gradients=False, repeats=False)
    named = {"length": 3, "d_model": 8, "n_heads": 2, "d_ff": 9, "n_layers": 2}
    yield _case(draw, "constructor arguments by name", 2, (3, 8, 2, 9, 2), init=named, gradients=False)
    first = _case(draw, "two samples", 2, (4, 8, 2, 6, 2), gradients=False)
    yield first
    second = torch.cat((first.args[0][:1], draw.normal(1, 4)))
    same = {"init": first.init, "weights": first.weights, "gradients": False, "needs": first.needs}
    yield Case("another second sample", (second,), **same)
    yield Case("the values in another order", (first.args[0][:, [2, 0, 1, 3]],), **same)


def _case(draw, family, batch, sizes, **more):
    length, width, heads, d_ff, layers = sizes
    weights = linear(draw, "input_proj", width, 1) | {"position_embedding.weight": draw.normal(length, width)}
    weights |= layer_weights(draw, layers, width, d_ff) | linear(draw, "head", 1, width)
    needs = needs_of(layers=layers, heads=heads, length=length)
    return Case(family, (draw.normal(batch, length),), **{"init": sizes, "weights": weights, "needs": needs} | more)


VALUES_IN, PLACES, CALL = "self.input_proj(values)", "self.position_embedding(places)", "layer(x)"
NORMED, LAST = "x = self.norm(x)", "return self.head(x[:, -1])[:, 0]"
FUTURE = "torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)"

EXERCISE = Exercise(
    number=5, minutes=12, difficulty=2,
    worked=SequenceRegressor,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "B length", "return": "B"},
    invariants=(samples_apart("two samples", "another second sample"),),
    mistakes=(
        *fitting(SequenceRegressor, STACK),
        edit("REG-01 the first token is read", {"x[:, -1]": "x[:, 0]"},
             "Your head reads the first token.", "Which value is the most recent?"),
        edit("REG-03 the mean is read", {"x[:, -1]": "x.mean(dim=1)"},
             "Your head reads the mean of all tokens.", "Which token does the docstring say is read?"),
        edit("REG-05 an axis is left", {LAST: "return self.head(x[:, -1])"},
             "Your result has an axis of size 1 at the end.", "What shape should the result have?"),
        edit("REG-07 a single sample loses its axis", {LAST: "return self.head(x[:, -1]).squeeze()"},
             "For a single series your result loses its sample axis.",
             "Which axes does squeeze() remove if you name none?"),
        edit("REG-09 a value for every token", {LAST: "return self.head(x)[..., 0]"},
             "Your result has a value for every token.",
             "How many numbers should be forecast for each series?"),
        edit("CLS-07 no negative forecast", {LAST: "return torch.relu(self.head(x[:, -1])[:, 0])"},
             "Your forecasts are never negative.",
             "Does the docstring ask for an activation after the head?"),
        edit("CLS-07", {LAST: "return torch.sigmoid(self.head(x[:, -1])[:, 0])"},
             "Your forecasts lie between 0 and 1.",
             "Does the docstring ask for an activation after the head?"),
        edit("CLS-07", {LAST: "return torch.tanh(self.head(x[:, -1])[:, 0])"},
             "Your forecasts lie between -1 and 1.", "Does the docstring limit the size of a forecast?"),
        edit("GPT-01 no positions", {f" + {PLACES}": ""},
             "The order of the values changes nothing in your result.",
             "Which line of your model adds the position embeddings?"),
        edit("REG-11 causal", {CALL: f"layer(x, src_mask={FUTURE})"},
             "Your tokens see only themselves and what comes before them.", "Does the exercise ask for a causal mask?"),
        edit("REG-13 a change instead of a value", {"values = x[..., None]": "values, last = x[..., None], x[:, -1]",
             LAST: f"{LAST} + last"},
             "You add the last value to your result.",
             "Does the exercise ask for the next value or for the change?"),
        edit("REG-15 places backwards", {PLACES: "self.position_embedding(places.flip(0))"},
             "Your last value gets the first position.", "Which position does the first value have?"),
        edit("REG-17 values scaled", {VALUES_IN: f"{VALUES_IN} * self.norm.normalized_shape[0] ** 0.5"},
             "You multiply the projected values by the square root of their width.",
             "Does this exercise ask for such a factor?"),
        edit("REG-25 an activation after the projection", {VALUES_IN: f"torch.relu({VALUES_IN})"},
             "The projected values go through an activation before the positions are added.",
             "What comes between input_proj and the positions in the docstring?"),
        edit("REG-25", {VALUES_IN: f"F.gelu({VALUES_IN})"}),
        edit("REG-19 standardised once more", {"values = x[..., None]": "values = ((x - x.mean(1, keepdim=True)) / "
             "(x.std(1, correction=0, keepdim=True) + 1e-8))[..., None]"},
             "Your model cannot distinguish a series of high values from one of low values.",
             "Does the docstring ask the model to scale the series?"),
        edit("REG-21 all values in one token", {"values = x[..., None]": "values = x.mean(dim=1)[:, None, "
                                                "None].expand(*x.shape, 1)"},
             "You make every token from the same value.", "Which value should the third token be made from?"),
        edit("REG-23 the positions are left out of the batch", {PLACES: "self.position_embedding.weight[: "
                                                                "len(x), None]"},
             "Your position embeddings change from sample to sample.",
             "Along which axis of x do the positions run?"),
    ),
    needs=NEEDS | {
        "length": ("Your answer is wrong only for series of more than one value.",
                   "Which tokens may attend to which, and which one is read?"),
        "": ("Your answer is wrong even for a series of one value.",
             "Which steps does a single value go through, from number to forecast?"),
    },
    hints=(
        "A number is not an id, so there is no embedding to look it up in. input_proj is a linear layer "
        "from 1 feature to d_model features; give x a last axis of size 1 for it.",
        "Every token attends to all others, and the head reads only the last token of each series. At the "
        "end, remove the last axis, of size 1, and no other: the result is (B,).",
        "In outline: turn x (B, length) into (B, length, 1), project it to (B, length, d_model), add the "
        "position embeddings, go through the layers, take the last token, and apply the norm and the head.",
    ),
)
