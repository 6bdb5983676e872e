"""A frozen linear layer plus a small update, which is the only part that is trained (Hu et al. 2021)."""

from dataclasses import replace

import torch
from torch import nn

from autograder.schema import (
    DTYPES, GRADIENTS, REFUSALS, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit,
)


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha=16.0):
        super().__init__()
        if rank < 1:
            raise ValueError(f"a rank of {rank} leaves nothing to learn")
        self.linear = linear
        self.linear.requires_grad_(False)
        like = {"dtype": linear.weight.dtype, "device": linear.weight.device}
        self.down = nn.Linear(linear.in_features, rank, bias=False, **like)
        self.up = nn.Linear(rank, linear.out_features, bias=False, **like)
        nn.init.zeros_(self.up.weight)
        self.scale = alpha / rank

    def forward(self, x):
        update = self.up(self.down(x))
        return self.linear(x) + self.scale * update


class Reference(nn.Module):
    def __init__(self, linear, rank, alpha=16.0):
        super().__init__()
        if rank < 1:
            raise ValueError("there must be a rank")
        kind, place = linear.weight.dtype, linear.weight.device
        self.linear, self.alpha = linear, alpha
        self.down = nn.Linear(linear.in_features, rank, False, place, kind)
        self.up = nn.Linear(rank, linear.out_features, False, place, kind)
        with torch.no_grad():
            self.up.weight.zero_()
        for parameter in linear.parameters():
            parameter.requires_grad = False

    def forward(self, x):
        # One matrix for both: the frozen weight, and the update in its full size.
        update = torch.einsum("or,ri->oi", self.up.weight, self.down.weight)
        weight = self.linear.weight + self.alpha * update / len(self.down.weight)
        return nn.functional.linear(x, weight, self.linear.bias)


START, FROZEN = "how it starts", "what learns"
# Returns the state of a new module, before it has learned anything.
LOOK = """
def look(new, linear, x):
    parameters = dict(new.named_parameters())
    down, up = new.down.weight.detach(), new.up.weight.detach()
    return {
        "learns": {name: p.requires_grad for name, p in parameters.items()},
        "shapes": {name: list(p.shape) for name, p in parameters.items()},
        "of the layer's type": {name: p.dtype == linear.weight.dtype for name, p in parameters.items()},
        "state dict": sorted(new.state_dict()),
        "the layer that was given": new.linear is linear,
        "up is zero": not bool(up.any()),
        "down is random": bool(down.numel() == 1 or (down[0, 0] != down).any()) and bool(down.any()),
        "down is zero": not bool(down.any()),
        "the same output as before": torch.allclose(new(x), linear(x), 1e-4, 1e-4),
    }
"""
MAKE = "def make(kind, linear, rank, *alpha):\n    return kind(linear, rank, *alpha)\n"


def cases(draw):
    d_in, d_out, rank = draw.sizes(3, 2, 6)
    first = _case(draw, "all sizes different", d_in, d_out, rank, alpha=5.0)
    yield first
    yield replace(first, family="the same layer, other inputs", args=(draw.normal(3, d_in),))
    yield _case(draw, "the usual alpha", d_in, d_out, rank, needs=("alpha",))
    yield _case(draw, "as many outputs as inputs", 4, 4, 2, alpha=3.0)
    yield _case(draw, "rank one", 5, 3, 1, alpha=4.0, needs=())
    yield _case(draw, "a rank above both widths", 3, 2, 7, alpha=2.0)
    yield _case(draw, "rank and alpha alike", 5, 4, 2, alpha=2.0, needs=("rank",))
    yield _case(draw, "an alpha of zero", 4, 3, 2, alpha=0.0)
    yield _case(draw, "a whole number as alpha", 4, 3, 2, alpha=8)
    yield _case(draw, "one of everything", 1, 1, 1, alpha=1.0, needs=())
    yield _case(draw, "no bias", 4, 3, 2, alpha=3.0, bias=False)
    yield _case(draw, "a batch of texts", 4, 3, 2, alpha=3.0, shape=(2, 5))
    yield _case(draw, "a single vector", 4, 3, 2, alpha=3.0, shape=())
    yield _case(draw, "float64", 5, 3, 2, alpha=3.0, dtype=torch.float64, aspect=DTYPES)
    named = _case(draw, "all by name", 5, 3, 2, alpha=3.0)
    linear, rank, alpha = named.init
    yield Case(named.family, (), {"x": named.args[0]}, init={"linear": linear, "rank": rank, "alpha": alpha},
               weights=named.weights, gradients=False, needs=named.needs)
    for family, more in (("a new module", {}), ("a new module without a bias", {"bias": False}),
                         ("a new module in float64", {"dtype": torch.float64})):
        yield _look(draw, family, **more)
    refused = {"aspect": REFUSALS, "raises": "ValueError", "gradients": False}
    for rank in (0, -1):
        yield Case(f"a rank of {rank}", (draw.normal(2, 4),), init=(_linear(draw, 4, 3), rank), **refused)


def _linear(draw, d_in, d_out, bias=True, dtype=torch.float32):
    weights = {"weight": draw.normal(d_out, d_in)} | ({"bias": draw.normal(d_out)} if bias else {})
    sizes = {"in_features": d_in, "out_features": d_out, "bias": bias}
    return Module("Linear", sizes, {name: value.to(dtype) for name, value in weights.items()})


def _case(draw, family, d_in, d_out, rank, alpha=None, bias=True, shape=(3,), dtype=torch.float32,
          needs=("rank", "alpha"), **more):
    linear = _linear(draw, d_in, d_out, bias, dtype)
    weights = {f"linear.{name}": value for name, value in linear.weights.items()}
    weights |= {"down.weight": draw.normal(rank, d_in).to(dtype), "up.weight": draw.normal(d_out, rank).to(dtype)}
    init = (linear, rank) + (() if alpha is None else (alpha,))
    x = draw.normal(*shape, d_in).to(dtype)
    return Case(family, (x,), init=init, weights=weights, exact_state_dict=True, needs=needs, **more)


def _look(draw, family, **more):
    """Return a case whose script builds the module from a linear layer, and then inspects both."""
    linear, x = _linear(draw, 5, 4, **more), draw.normal(3, 5).to(more.get("dtype", torch.float32))
    first = _case(draw, family, 5, 4, 2, **more)
    given = {"old": linear, "rank": 3, "y": x, "make": Given("make", MAKE), "look": Given("look", LOOK),
             "type": Given("kind", "kind = type\n")}
    script = (Call((Kept("answer"),), to="type", keep="class", shown=False),
              Call((Kept("class"), Kept("old"), Kept("rank")), to="make", keep="new", shown=False),
              Call((Kept("new"), Kept("old"), Kept("y")), to="look", keep="a new module"))
    return Case(family, (), given, init=first.init, weights=first.weights, script=script, changes=("old",),
                gradients=False, repeats=False, aspect=START, needs=("start",))


SCALE, OUT, UP = "alpha / rank", "self.linear(x) + self.scale * update", "nn.init.zeros_(self.up.weight)"
FREEZE, LIKE = "        self.linear.requires_grad_(False)\n", "bias=False, **like"
UPDATE = "self.up(self.down(x))"

EXERCISE = Exercise(
    number=3, minutes=15, difficulty=2,
    worked=LoRALinear,
    reference=Reference,
    cases=cases,
    standard=("transposed",),
    aspects={VALUES: 3, START: 2, GRADIENTS: 1, REFUSALS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    mistakes=(
        edit("LORA-01 the scale is alpha", {SCALE: "alpha"},
             "Your update becomes too large as the rank grows.", "What does the formula divide alpha by?"),
        edit("LORA-03 the scale is left out", {SCALE: "1.0"},
             "A different alpha changes nothing in your result.",
             "Which factor multiplies the update in the formula?"),
        edit("LORA-05 one over the rank", {SCALE: "1 / rank"},
             "You scale the update by 1 / rank, whatever alpha is.",
             "Which two numbers make up the factor of the update?"),
        edit("LORA-07 the rank over alpha", {SCALE: "rank / alpha if alpha else 0.0"},
             "Your update shrinks as alpha grows.", "Is alpha divided by the rank, or the rank by alpha?"),
        edit("LORA-09 the root of the rank", {SCALE: "alpha / rank**0.5"},
             "You divide by the square root of the rank.", "What does the formula divide alpha by?"),
        edit("LORA-185 rounded down", {SCALE: "alpha // rank"},
             "You round alpha / rank down.", "Which of Python's division operators keeps the fraction?"),
        edit("LORA-11 everything is scaled", {OUT: "self.scale * (self.linear(x) + update)"},
             "You also scale the output of the frozen layer.", "Which of the two terms is scaled?"),
        edit("LORA-13 the update alone", {OUT: "self.scale * update"},
             "Your output leaves out the frozen layer.", "Which two terms does the formula add?"),
        edit("LORA-15 the update is taken away", {OUT: "self.linear(x) - self.scale * update"},
             "You subtract the update.", "Is the update added or subtracted?"),
        edit("LORA-17 nothing is frozen", {FREEZE: ""},
             "The given layer still requires gradients.", "Which of the three parts should learn?"),
        edit("LORA-19 the bias is not frozen", {FREEZE: "        self.linear.weight.requires_grad_(False)\n"},
             "The bias of the given layer still requires gradients.",
             "Which parameters does a linear layer have besides its weight?"),
        edit("LORA-21 nothing learns", {"        self.scale": "        self.requires_grad_(False)\n        self.scale"},
             "Your two small layers do not require gradients.", "Which of the three parts should learn?"),
        edit("LORA-23 no gradient for the input", {"self.linear(x) +": "self.linear(x.detach()) +"},
             "The values are right, but no gradient flows through the frozen layer to its input.",
             "How should the layers before this one get their gradients?"),
        edit("LORA-23", {OUT: "torch.no_grad()(self.linear)(x) + self.scale * update"}),
        edit("LORA-25 both start as zeros", {UP: UP + "\n        nn.init.zeros_(self.down.weight)"},
             "Both of your small layers start at zero.",
             "What is the gradient of a product when both factors are 0?"),
        edit("LORA-183 one number everywhere in down", {UP: UP + "\n        nn.init.constant_(self.down.weight, 0.01)"},
             "`down` starts with the same number everywhere.",
             "If all rows of `down` are equal, can training make them different?"),
        edit("LORA-27 the wrong one starts as zeros", {UP: "nn.init.zeros_(self.down.weight)"},
             "Your `down` starts at zero, and `up` does not.",
             "Which of the two starts at zero according to the docstring?"),
        edit("LORA-29 both start at random", {UP: "pass"},
             "A new module does not give the same output as the frozen layer.",
             "What should the update be before anything is learned?"),
        edit("LORA-69 a bias in the small layers", {LIKE: "bias=True, **like"},
             "Your small layers have biases.",
             "According to the docstring, which of the three layers may have a bias?"),
        edit("LORA-71 a rank of zero is taken", {"if rank < 1:": "if False:"},
             "You raise no ValueError for a rank below 1.", "What can be learned with a rank of 0?"),
        edit("LORA-71", {"if rank < 1:": "if rank < 0:"}),
        edit("LORA-73 a layer of its own", {"self.linear = linear": "self.linear = nn.Linear(linear.in_features, "
             "linear.out_features, bias=linear.bias is not None, dtype=linear.weight.dtype)\n"
             "        self.linear.load_state_dict(linear.state_dict())"},
             "Your module holds a copy of the layer.", "Which layer should be `self.linear`?"),
        edit("LORA-75 float32 whatever was given", {"**like)": "dtype=torch.float32)",
             UPDATE: "self.up(self.down(x.float())).to(x.dtype)"},
             "Your small layers are float32 although the given layer is float64.",
             "What dtype and device should they have?"),
        edit("LORA-77 a nonlinear update", {UPDATE: "self.up(torch.relu(self.down(x)))"},
             "You apply a nonlinear function between `down` and `up`.",
             "Could the update still be merged into one matrix?"),
        edit("LORA-79 another default", {"alpha=16.0": "alpha=1.0"},
             "Your default for alpha is not 16.", "Which default does the signature give?"),
        edit("LORA-79", {"alpha=16.0": "alpha=32.0"}),
        edit("LORA-81 the update reads the output", {OUT: "self.linear(x + 0 * x) + self.scale * update.detach()"},
             "The values are right, but no gradient reaches the small layers.",
             "Which step detaches the update?"),
    ),
    needs={
        "alpha": ("Your answer is wrong only when alpha / rank is not 1.",
                  "Which factor multiplies the update in the formula?"),
        "rank": ("Your answer is wrong only when the rank is above 1.",
                 "What is alpha divided by, and which sizes do the two small layers have?"),
        "start": ("The output is right, but the parts of a new module do not start as they should.",
                  "Which part starts at zero, which is random, and which of them learn?"),
        "": ("Even with rank 1 the output is wrong.", "Which two terms does the formula add?"),
    },
    hints=(
        "Suppose that the layer has 5 inputs and 4 outputs, and the rank is 2. Then `down` maps 5 features to 2 and "
        "`up` maps 2 to 4, so up(down(x)) has the same shape as the layer's output.",
        "Freeze the given layer with requires_grad_(False) in __init__. `up` starts at zero, with "
        "nn.init.zeros_, so at first the module gives what the layer gives. `down` keeps its random "
        "start; if both were zero, neither would ever learn.",
        "In outline: in __init__, raise ValueError for a rank below 1, keep and freeze the layer, make `down` and `up` "
        "without bias with the layer's dtype and device, set `up` to zero, and store alpha / rank. In "
        "forward, add the scaled update to the frozen layer's output.",
    ),
)
