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
             "You have swapped `gate` and `up`.", "Which of the two goes through the SiLU?"),
        edit("GLU-03 SiLU on both", {HIDDEN: "opened * F.silu(up(x))"},
             "You apply a SiLU to both branches.", "Which of the two goes through the SiLU?"),
        edit("GLU-05 SiLU on the product", {GATED: "gate(x)", HIDDEN: "F.silu(opened * up(x))"},
             "You apply the SiLU to the product.", "Does the SiLU apply to gate(x) or to the product?"),
        edit("GLU-07 no activation", {GATED: "gate(x)"},
             "Your gate has no activation.", "Which function is applied to gate(x) in the formula?"),
        edit("GLU-09 a sigmoid", {GATED: "torch.sigmoid(gate(x))"},
             "Your gate lies between 0 and 1.",
             "SiLU(z) is z times the sigmoid of z; which factor is missing?"),
        edit("GLU-11 GELU", {GATED: "F.gelu(gate(x))"},
             "Your numbers are close, but your gate is a GELU.", "Which activation does SwiGLU use?"),
        edit("GLU-11", {GATED: "F.gelu(gate(x), approximate='tanh')"}),
        edit("GLU-13 ReLU", {GATED: "F.relu(gate(x))"},
             "Your gate is 0 for negative numbers.", "What is SiLU(-1)?"),
        edit("GLU-15 a sum", {HIDDEN: "opened + up(x)"},
             "You add the two branches.",
             "When the gate is zero, what should remain of the other branch?"),
        edit("GLU-17 no way up", {HIDDEN: "opened"},
             "You do not use `up`.", "What is the gate multiplied by in the formula?"),
        edit("GLU-19 the gate on the input", {HIDDEN: "opened * gate(x)"},
             "You multiply the gate by itself.", "Which three layers does the formula use?"),
        edit("GLU-21 a residual",
             {LAST: "out = down(hidden)\n    return out + x if out.shape == x.shape else out"},
             "You add x to your output where the shapes allow it.",
             "Is the residual connection part of this network, or of the layer around it?"),
        edit("GLU-23 weights instead of layers",
             {f"{one}({x})": f"F.linear({x}, {one}.weight, {one}.bias)"
              for one, x in (("gate", "x"), ("up", "x"), ("down", "hidden"))},
             "You use a layer's weight without calling the layer.",
             "What would be skipped if the layer computed more than a product, or had a hook?"),
        *(edit("GLU-23", {f"{one}({x})": f"F.linear({x}, {one}.weight, {one}.bias)"})
          for one, x in (("gate", "x"), ("up", "x"), ("down", "hidden"))),
        edit("GLU-25 biases left out",
             {f"{one}({x})": f"F.linear({x}, {one}.weight)"
              for one, x in (("gate", "x"), ("up", "x"), ("down", "hidden"))},
             "You leave out the biases of the layers.",
             "What does a layer compute besides the product with its weight?"),
        edit("GLU-27 a layer is called twice", {GATED: "gate(x) * torch.sigmoid(gate(x))"},
             "The result is right, but you call a layer more than once.",
             "How can you use the result of one call twice?"),
        edit("GLU-29 an exponential that overflows",
             {GATED: "(lambda z: z * z.exp() / (1 + z.exp()))(gate(x))"},
             "Large gates come out as NaN.", "What is exp(500) in float32, and what do you divide it by?"),
        edit("GLU-31 NaN on the way back", {GATED: "(lambda z: z / (1 + torch.exp(-z)))(gate(x))"},
             "The values are right, but a very negative gate has a gradient of NaN.",
             "In the backward pass a gradient of 0 is multiplied by exp(500). What is infinity times 0?"),
        edit("GLU-31", {GATED: "torch.nan_to_num((lambda z: z * z.exp() / (1 + z.exp()))(gate(x)))"},
             "Large gates come out as 0.", "What is exp(500) in float32, and what do you divide it by?"),
        edit("GLU-33 the gate is cut off", {GATED: "F.silu(gate(x)).detach()"},
             "The values are right, but no gradient reaches the gate.", "Which step detaches the gate?"),
        edit("GLU-35 no way down", {LAST: "return hidden"},
             "Your output is as wide as the hidden layer.", "Which layer comes last in the formula?"),
    ),
    needs={
        "calls": ("Your answer is wrong only with layers that count their calls.",
                  "How many times do you call each layer?"),
        "biases": ("Your answer is wrong only when the layers have biases.",
                   "What does a layer compute besides the product with its weight?"),
        "sizes": ("Your answer is wrong only for sizes above one.", "Which axis do the layers act on?"),
        "": ("Even when all sizes are one, your result is wrong.",
             "What goes through the SiLU, and what is it multiplied by?"),
    },
    hints=(
        "The input goes through two layers, `gate` and `up`. The results are multiplied entry by entry, "
        "and `down` reads the product.",
        "Only the gate's branch has an activation. In PyTorch it is F.silu, which computes z times the sigmoid of "
        "z.",
        "In outline: call `gate` and `up` on x, which gives two tensors (..., d_ff); apply F.silu to the output of "
        "`gate`, multiply the two, and call `down` on the product.",
    ),
)
