"""A feed-forward network with a gate (Shazeer 2020)."""

import torch
import torch.nn.functional as F

from autograder.schema import (
    DTYPES, GRADIENTS, SIDE_EFFECTS, STABILITY, VALUES, Call, Case, Exercise, Kept, Module, edit,
)


def swiglu(x, gate, up, down):
    opened = F.silu(gate(x))
    hidden = opened * up(x)
    return down(hidden)


def reference(x, gate, up, down):
    gated = gate(x)
    return down(up(x) * gated * torch.sigmoid(gated))


CALLS = "each layer called once"
COUNTING = """
class Counting(nn.Linear):
    '''A layer with a twist of its own; without an argument it tells how often it was called.'''

    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.calls = 0

    def forward(self, x=None):
        if x is None:
            return self.calls
        self.calls += 1
        return super().forward(x) + torch.sin(x).sum(-1, keepdim=True)
"""


def cases(draw):
    batch, tokens, width, d_ff = draw.sizes(4, 3, 8)
    layers = {"needs": ("sizes", "biases")}
    yield _case(draw, "all sizes different", (batch, tokens, width), d_ff, width + 9, **layers)
    yield _case(draw, "one vector", (5,), 4, 3, **layers)
    yield _case(draw, "one sentence", (4, 6), 9, 6, **layers)
    yield _case(draw, "four axes", (2, 3, 2, 4), 5, 4, **layers)
    yield _case(draw, "layers without a bias", (2, 3, 4), 6, 5, bias=False, needs=("sizes",))
    yield _case(draw, "a bias in the last layer only", (2, 3), 4, 3, bias=(False, False, True), **layers)
    yield _case(draw, "four of everything", (4, 4, 4), 4, 4, **layers, float64=True)
    yield _case(draw, "one of everything", (1, 1), 1, 1, bias=False)
    # exp(89) is too large for float32, exp(710) for float64.
    yield _case(draw, "gates of some hundreds", (3, 4), 6, 2, stretch=150.0, aspect=STABILITY, scale=3.0,
        **layers)
    far = _case(draw, "gates of some hundreds, float64", (3, 4), 6, 2, dtype=torch.float64, aspect=STABILITY,
        **layers)
    far.args[1].weights["bias"].copy_(torch.tensor([900.0, -900.0, 740.0, -740.0, 0.0, -95.0]))
    yield far
    counting = [Module("Counting", {"d_in": 4, "d_out": d_out}, _weights(draw, 4, d_out, True), COUNTING)
                for d_out in (4, 4, 4)]
    script = (Call((Kept("0"), Kept("1"), Kept("2"), Kept("3")), keep="result"),
              *(Call(to=str(i), keep=f"calls of {name}") for i, name in enumerate(("gate", "up", "down"),
                  start=1)))
    yield Case("layers that count their calls", (draw.normal(2, 3, 4), *counting), script=script,
        aspect=CALLS,
               needs=("calls",))


def _case(draw, family, shape, d_ff, d_out, bias=True, stretch=1.0, dtype=torch.float32, **more):
    d_in = shape[-1]
    biases = bias if isinstance(bias, tuple) else (bias,) * 3
    layers = [
        Module("Linear", {"in_features": a, "out_features": b, "bias": has_bias},
               {name: weight.to(dtype) for name, weight in _weights(draw, a, b, has_bias).items()})
        for (a, b), has_bias in zip(((d_in, d_ff), (d_in, d_ff), (d_ff, d_out)), biases, strict=True)
    ]
    for weight in layers[0].weights.values():
        weight.mul_(stretch)
    return Case(family, (draw.normal(*shape).to(dtype), *layers), **more)


def _weights(draw, d_in, d_out, bias):
    weights = {"weight": draw.normal(d_out, d_in, scale=1.2 / d_in**0.5)}
    return weights | {"bias": draw.normal(d_out, scale=0.5)} if bias else weights


GATED, HIDDEN, LAST = "F.silu(gate(x))", "opened * up(x)", "return down(hidden)"

EXERCISE = Exercise(
    number=2, minutes=8, difficulty=1,
    worked=swiglu,
    reference=reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 4, CALLS: 1, STABILITY: 1, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"x": "... D"},
    mistakes=(
        edit("GLU-01 gate and up change places", {GATED: "F.silu(up(x))", HIDDEN: "opened * gate(x)"},
             "Gate and up have changed places.", "Which of the two goes through the SiLU?"),
        edit("GLU-03 SiLU on both", {HIDDEN: "opened * F.silu(up(x))"},
             "Both of your branches go through a SiLU.", "Which of the two is a gate?"),
        edit("GLU-05 SiLU on the product", {GATED: "gate(x)", HIDDEN: "F.silu(opened * up(x))"},
             "Your SiLU acts on the product.",
             "What goes through the SiLU: the gate, or what it has let through?"),
        edit("GLU-07 no activation", {GATED: "gate(x)"},
             "Your gate is linear.", "Which function stands around gate(x) in the formula?"),
        edit("GLU-09 a sigmoid", {GATED: "torch.sigmoid(gate(x))"},
             "Your gate lies between 0 and 1.",
             "SiLU(z) is z times something: what is missing?"),
        edit("GLU-11 GELU", {GATED: "F.gelu(gate(x))"},
             "Your numbers are close, but your gate is a GELU.",
             "SwiGLU or GEGLU: which curve does each of them use?"),
        edit("GLU-11", {GATED: "F.gelu(gate(x), approximate='tanh')"}),
        edit("GLU-13 ReLU", {GATED: "F.relu(gate(x))"},
             "Your gate cuts negative numbers off.", "What is SiLU(-1)?"),
        edit("GLU-15 a sum", {HIDDEN: "opened + up(x)"},
             "You add the two branches.", "What should a gate of zero let through?"),
        edit("GLU-17 no way up", {HIDDEN: "opened"},
             "Your layer `up` takes no part.", "What does the gate let through?"),
        edit("GLU-19 the gate on the input", {HIDDEN: "opened * gate(x)"},
             "Your gate is multiplied with itself.", "Which three layers take part?"),
        edit("GLU-21 a residual",
             {LAST: "out = down(hidden)\n    return out + x if out.shape == x.shape else out"},
             "Where it fits, your output holds x itself.",
             "Is the residual part of this network, or of what is around it?"),
        edit("GLU-23 weights instead of layers",
             {f"{one}({x})": f"F.linear({x}, {one}.weight, {one}.bias)"
              for one, x in (("gate", "x"), ("up", "x"), ("down", "hidden"))},
             "You use the weights of a layer without calling it.",
             "A layer may do more than multiply: what would a hook, or a layer put in its place, see of "
             "your call?"),
        *(edit("GLU-23", {f"{one}({x})": f"F.linear({x}, {one}.weight, {one}.bias)"})
          for one, x in (("gate", "x"), ("up", "x"), ("down", "hidden"))),
        edit("GLU-25 biases left out",
             {f"{one}({x})": f"F.linear({x}, {one}.weight)"
              for one, x in (("gate", "x"), ("up", "x"), ("down", "hidden"))},
             "Your layers leave out their biases.",
             "What does a layer compute besides the product with its weight?"),
        edit("GLU-27 a layer is called twice", {GATED: "gate(x) * torch.sigmoid(gate(x))"},
             "The result is right, but a layer is called more often than once.",
             "How many calls does one result take, and what does each of them cost?"),
        edit("GLU-29 an exponential that overflows",
             {GATED: "(lambda z: z * z.exp() / (1 + z.exp()))(gate(x))"},
             "Large gates come out as NaN.", "What is exp(500), and what is it divided by?"),
        edit("GLU-31 NaN on the way back", {GATED: "(lambda z: z / (1 + torch.exp(-z)))(gate(x))"},
             "The values are right, but a very negative gate has a gradient of NaN.",
             "On its way back the gradient meets exp(500): what is infinity times 0?"),
        edit("GLU-31", {GATED: "torch.nan_to_num((lambda z: z * z.exp() / (1 + z.exp()))(gate(x)))"}),
        edit("GLU-33 the gate is cut off", {GATED: "F.silu(gate(x)).detach()"},
             "The values are right, but no gradient reaches the gate.",
             "Which step cuts the gate off from what made it?"),
        edit("GLU-35 no way down", {LAST: "return hidden"},
             "Your output is as wide as the hidden layer.",
             "Which layer brings it back to the width asked for?"),
    ),
    combinable=("GLU-01", "GLU-07", "GLU-09", "GLU-13", "GLU-15", "GLU-21"),
    needs={
        "calls": ("Your results are right with ordinary layers; with layers that count their calls they are "
                  "not.",
                  "How often is each layer called in yours, and is it called at all?"),
        "biases": ("Without biases you are right; with them you are not.",
                   "What does a layer compute besides the product with its weight?"),
        "sizes": ("With one of everything you are right; with more you are not.",
                  "Which of the three layers reads x, and which axis do they act on?"),
        "": ("Already with one of everything your result is another.",
             "What goes through the SiLU, what is it multiplied with, and who comes last?"),
    },
    hints=(
        "Draw two arrows out of x. What happens on each of them, and where do they meet?",
        "One arrow goes through a curve, the other does not. PyTorch has this curve under the name SiLU; "
        "where would "
        "you look for it?",
        "The shape of it: x (..., D), twice (..., d_ff), one product entry by entry, and one layer that "
        "changes the "
        "width.",
    ),
)
