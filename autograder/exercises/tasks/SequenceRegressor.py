"""A series continued by one value: numbers become tokens, and the last of them is read."""

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
    yield _case(draw, "one of everything", 1, (1, 1, 1, 1, 1))
    yield _case(draw, "four of everything", 4, (4, 4, 4, 4, 4), gradients=False)
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
             "Your head reads the first token.", "Which value is the newest?"),
        edit("REG-03 the mean is read", {"x[:, -1]": "x.mean(dim=1)"},
             "Your head reads the mean of all tokens.", "Which token does the exercise read?"),
        edit("REG-05 an axis is left", {LAST: "return self.head(x[:, -1])"},
             "Your result has an axis for features.", "How many numbers are forecast for each series?"),
        edit("REG-07 a single sample loses its axis", {LAST: "return self.head(x[:, -1]).squeeze()"},
             "With a single series your result has no axis left.",
             "Which axes does squeeze() take away, if none is named?"),
        edit("REG-09 a value for every token", {LAST: "return self.head(x)[..., 0]"},
             "Your result has a value for every token.", "How many numbers are forecast for each series?"),
        edit("CLS-07 no negative forecast", {LAST: "return torch.relu(self.head(x[:, -1])[:, 0])"},
             "Your forecasts are never negative.", "Can your model predict a negative number?"),
        edit("CLS-07", {LAST: "return torch.sigmoid(self.head(x[:, -1])[:, 0])"},
             "Your forecasts lie between 0 and 1.", "Can your model predict a negative number?"),
        edit("CLS-07", {LAST: "return torch.tanh(self.head(x[:, -1])[:, 0])"},
             "Your forecasts lie between -1 and 1.", "How large may a forecast be?"),
        edit("GPT-01 no positions", {f" + {PLACES}": ""},
             "The order of the values changes nothing in yours.", "Does order matter to your model?"),
        edit("REG-11 causal", {CALL: f"layer(x, src_mask={FUTURE})"},
             "Your tokens see only what comes before them.",
             "All values are known when the forecast is made: must the first wait for the last?"),
        edit("REG-13 a change instead of a value", {"values = x[..., None]": "values, last = x[..., None], x[:, -1]",
             LAST: f"{LAST} + last"},
             "Your result is added to the last value.", "Does the exercise ask for the value or for the change?"),
        edit("REG-15 places backwards", {PLACES: "self.position_embedding(places.flip(0))"},
             "Your last value gets the first place.", "In which order do the values come?"),
        edit("REG-17 values scaled", {VALUES_IN: f"{VALUES_IN} * self.norm.normalized_shape[0] ** 0.5"},
             "Your tokens are too long by the root of their width.", "Does this exercise ask for a factor?"),
        edit("REG-25 an activation after the projection", {VALUES_IN: f"torch.relu({VALUES_IN})"},
             "Between projection and positions your tokens lose their negative numbers.",
             "Which steps lie between a value and the first layer?"),
        edit("REG-25", {VALUES_IN: f"F.gelu({VALUES_IN})"}),
        edit("REG-19 standardised once more", {"values = x[..., None]": "values = ((x - x.mean(1, keepdim=True)) / "
             "(x.std(1, correction=0, keepdim=True) + 1e-8))[..., None]"},
             "Your model sees no difference between a high series and a low one.", "Who scales the series: the model?"),
        edit("REG-21 all values in one token", {"values = x[..., None]": "values = x.mean(dim=1)[:, None, "
                                                "None].expand(*x.shape, 1)"},
             "Every token holds the same value.", "Which value is the third token made of?"),
        edit("REG-23 the positions are left out of the batch", {PLACES: "self.position_embedding.weight[: "
                                                                "len(x), None]"},
             "Your positions change from sample to sample.", "Which axis of x are the positions counted along?"),
    ),
    needs=NEEDS | {
        "length": ("For a series of one value you are right; for longer ones you are not.",
                   "What do the tokens tell each other, where does each stand, and which is read?"),
        "": ("For a series of one value your number is already another.",
             "Which steps does a single value go through from number to forecast?"),
    },
    hints=(
        "A number is no id. What makes a vector of d_model features out of one number?",
        "The last token has seen all others. Which axis does it stand in, and how many axes should be left at the end?",
        "The shape of it: (B, length) to (B, length, 1) to (B, length, d_model), plus places, layers, norm; of "
        "the last "
        "token one number.",
    ),
)
