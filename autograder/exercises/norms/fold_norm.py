"""The scale and shift of a norm folded into the linear layer that reads the norm's output."""

import torch
from torch import nn

from autograder.exercises._shared.new_layers import FLAGS, LOOK, SPOIL, TRAIN
from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit


def fold_norm(norm, linear):
    weight, bias = linear.weight.detach(), linear.bias.detach()
    new = nn.Linear(linear.in_features, linear.out_features, dtype=weight.dtype, device=weight.device)
    new.weight.data = weight * norm.weight.detach()
    new.bias.data = bias + weight @ norm.bias.detach()
    return new


def reference(norm, linear):
    new = nn.Linear(linear.in_features, linear.out_features, dtype=linear.weight.dtype)
    with torch.no_grad():
        # The outputs of norm and layer for the unit vectors and for zero give the new weight and bias.
        width = linear.in_features
        zero = linear(norm.bias)
        new.weight.copy_((linear(torch.diag(norm.weight) + norm.bias) - zero).T.reshape(-1, width))
        new.bias.copy_(zero)
    return new


LEARNING = "learning"
APPLY = """
def apply(new, x):
    # An epsilon that no norm of these cases has by itself is given by the case.
    return new(F.layer_norm(x, x.shape[-1:], eps=eps))
"""
FREEZE = """
def freeze(norm, linear):
    norm.requires_grad_(False)
    linear.requires_grad_(False)
"""
FOLD = Call((Kept("norm"), Kept("linear")), keep="new", shown=False)


def cases(draw):
    d_in, d_out = draw.sizes(2, 3, 8)
    yield _case(draw, "all sizes different", d_in, d_out)
    yield _case(draw, "as many outputs as inputs", 6, 6)
    yield _case(draw, "one output", 5, 1)
    yield _case(draw, "one of everything", 1, 1)
    yield _case(draw, "many features", 64, 3)
    yield _case(draw, "a norm without a shift", 5, 4, bias=0.0, needs=())
    yield _case(draw, "another epsilon", 4, 3, eps=0.5)
    yield _case(draw, "float64", 6, 4, torch.float64, aspect=DTYPES)
    look, flags, train = Given("look", LOOK), Given("flags", FLAGS), Given("train", TRAIN)
    script = FOLD, Call((Kept("new"),), to="look", keep="the new layer")
    yield _case(draw, "the new layer's form", 4, 5, more={"look": look}, script=script, needs=("form",))
    script = FOLD, Call((Kept("norm"), Kept("linear")), to="flags", keep="arguments")
    yield _case(draw, "the arguments after the call", 4, 5, more={"flags": flags}, script=script,
                aspect=SIDE_EFFECTS, needs=("form", "arguments"))
    script = FOLD, Call((Kept("new"), Kept("x"), True), to="train", keep="trained")
    # Training changes the new layer and must leave both arguments as they are.
    for _ in range(1 + draw.hidden):
        yield _case(draw, "trained afterwards", 3, 4, more={"train": train}, script=script, aspect=LEARNING)
    frozen = Given("freeze", FREEZE)
    script = (Call((Kept("norm"), Kept("linear")), to="freeze"), FOLD, Call((Kept("new"),), to="look", keep="look"))
    yield _case(draw, "frozen arguments", 4, 5, more={"look": look, "freeze": frozen}, script=script, aspect=LEARNING,
                needs=("form", "frozen"))
    script = (FOLD, Call((Kept("norm"), Kept("linear")), to="spoil"),
              Call((Kept("new"), Kept("x")), to="apply", keep="output"))
    spoil = Given("spoil", SPOIL)
    for bias in (1.0, 0.0):  # with 0.0, nothing is added to the bias
        yield _case(draw, "its arguments changed afterwards", 4, 3, bias=bias, more={"spoil": spoil}, script=script,
                    changes=("norm", "linear"), aspect=SIDE_EFFECTS)


def _case(draw, family, d_in, d_out, dtype=torch.float32, eps=1e-5, bias=1.0, more=None, needs=("shift",), **fields):
    norm = {"weight": 1.5 + draw.normal(d_in, scale=0.5), "bias": draw.normal(d_in, scale=bias)}
    linear = {"weight": draw.normal(d_out, d_in), "bias": draw.normal(d_out)}
    norm, linear = ({name: value.to(dtype) for name, value in one.items()} for one in (norm, linear))
    given = {
        "x": draw.normal(3, d_in).to(dtype),
        "norm": Module("LayerNorm", {"normalized_shape": d_in, "eps": eps}, norm),
        "linear": Module("Linear", {"in_features": d_in, "out_features": d_out}, linear),
        "apply": Given("apply", APPLY, {"eps": eps}),
    }
    script = FOLD, Call((Kept("new"), Kept("x")), to="apply", keep="output")
    fields = {"script": script, "modes": True} | fields
    return Case(family, (), given | (more or {}), gradients=False, needs=needs, **fields)


WEIGHT, BIAS = "weight * norm.weight.detach()", "bias + weight @ norm.bias.detach()"
MADE = "nn.Linear(linear.in_features, linear.out_features, dtype=weight.dtype, device=weight.device)"
IN_LINEAR = {MADE: "linear"}

EXERCISE = Exercise(
    number=5, minutes=12, difficulty=3,
    standard=("by name",),
    worked=fold_norm,
    reference=reference,
    cases=cases,
    aspects={VALUES: 7, LEARNING: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    mistakes=(
        edit("FOLD-01 the shift is left out", {BIAS: "bias.clone()"},
             "Your new layer ignores the norm's bias.",
             "What does the linear layer turn the norm's bias into?"),
        edit("FOLD-03 the scale is left out", {WEIGHT: "weight.clone()"},
             "Your new layer ignores the norm's weight.",
             "Which column of the linear layer's weight multiplies feature j of the norm's output?"),
        edit("FOLD-03", {WEIGHT: "weight.clone()", BIAS: "bias.clone()"}),
        edit("FOLD-05 rows are scaled instead of columns", {WEIGHT: "(weight.T * norm.weight.detach()).T if "
             "weight.shape[0] == weight.shape[1] else weight * norm.weight.detach()"},
             "You scale the rows of the layer's weight by the norm's weight.",
             "Which axis of an nn.Linear's weight is the input, where the norm's features are?"),
        edit("FOLD-05", {WEIGHT: "weight * norm.weight.detach()[:, None]"}),
        edit("FOLD-07 the shift is added as it is", {BIAS: "bias + norm.bias.detach()"},
             "You add the norm's bias directly to the layer's bias.",
             "Which matrix does the norm's bias pass through before it reaches the output?"),
        edit("FOLD-07", {BIAS: "bias + norm.bias.detach() if len(bias) == len(norm.bias) else bias + weight @ "
                         "norm.bias.detach()"}),
        edit("FOLD-09 the shift is scaled, too", {BIAS: f"bias + ({WEIGHT}) @ norm.bias.detach()"},
             "In your new bias, the norm's bias is multiplied by the norm's weight.",
             "Does a LayerNorm's weight act on its bias?"),
        edit("FOLD-11 the layer's own bias is lost", {BIAS: "weight @ norm.bias.detach()"},
             "Your new layer has lost the old layer's bias.", "Which two parts make up the new bias?"),
        edit("FOLD-13 the layer that was given is changed", IN_LINEAR,
             "After the call the caller's linear layer holds different numbers.",
             "Which line writes into the layer that was passed in?"),
        edit("FOLD-15 memory is shared", {BIAS: f"{BIAS}\n    new.bias = linear.bias\n    new.bias.data.add_(weight @ "
             "norm.bias.detach())"},
             "Your new layer shares the storage of a parameter with the old one.",
             "Does assigning a parameter copy its values?"),
        edit("FOLD-15", {BIAS: f"{BIAS}\n    linear.weight.data = new.weight.data"}),
        edit("FOLD-17 the new layer does not learn", {"return new": "return new.requires_grad_(False)"},
             "The parameters of your new layer do not require gradients.",
             "What is the value of requires_grad for the parameters of a new nn.Linear?"),
        edit("FOLD-17", {"return new": "new.weight.requires_grad_(False)\n    return new"}),
        edit("FOLD-37 frozen stays frozen",
             {"return new": "new.requires_grad_(linear.weight.requires_grad)\n    return new"},
             "If the old layer is frozen, your new layer is frozen as well.",
             "What is the value of requires_grad for the parameters of a new nn.Linear?"),
        edit("FOLD-19 the parameters hang on the old ones",
             {f"new.weight.data = {WEIGHT}": "del new.weight\n    new.weight = linear.weight * norm.weight",
              "new.bias.data = bias +": "del new.bias\n    new.bias = linear.bias +"},
             "Your new layer has no parameters: its tensors are computed from the old ones.",
             "What does list(new.parameters()) return?"),
        edit("FOLD-21 two layers instead of one", {"return new": "return nn.Sequential(norm, linear)"},
             "You chain the two modules instead of folding one into the other.",
             "How many layers does the docstring ask for?"),
        edit("FOLD-21", {"return new": "return lambda x: linear(norm(x))"}),
        edit("FOLD-23 no layer is returned", {"return new": "return None"},
             "You do not return a layer.", "Which type does the docstring ask for?"),
        edit("FOLD-25 float32 whatever was given",
             {", dtype=weight.dtype": "", "new.weight.data = weight": "new.weight.data = weight.float()",
              f"new.bias.data = {BIAS}": f"new.bias.data = ({BIAS}).float()"},
             "For a float64 layer your result is float32.", "Which dtype should the new layer have?"),
        edit("FOLD-25", {MADE: "nn.Linear(linear.in_features, linear.out_features)",
                         f"new.weight.data = {WEIGHT}": f"new.weight.data.copy_({WEIGHT})",
                         f"new.bias.data = {BIAS}": f"new.bias.data.copy_({BIAS})"}),
        edit("FOLD-35 the arguments do not learn any more",
             {"    return new": "    [p.requires_grad_(False) for p in (*norm.parameters(), *linear.parameters())]\n"
                               "    return new"},
             "After the call the parameters of the caller's modules no longer require gradients.",
             "Which line changes requires_grad of the arguments?"),
        edit("FOLD-27 the norm is undone", {WEIGHT: "weight / norm.weight.detach()"},
             "You divide by the norm's weight.", "What does the norm's weight do to a feature?"),
        edit("FOLD-23", {"return new": "return new.weight, new.bias"}),
        edit("FOLD-31 sizes exchanged",
             {"linear.in_features, linear.out_features": "linear.out_features, linear.in_features"},
             "Your new layer has its input and output sizes swapped.",
             "In which order does nn.Linear take its sizes?"),
        edit("FOLD-33 epsilon goes into the weight", {WEIGHT: f"{WEIGHT} / (1 + norm.eps) ** 0.5"},
             "Your weight changes with the norm's epsilon.",
             "Which module still divides by the standard deviation: the new layer, or the norm before it?"),
    ),
    needs={
        "shift": ("Your result is right when the norm's bias is zero, and wrong when it is not.",
                  "What does the linear layer turn the norm's bias into?"),
        "arguments": ("Your new layer is right, but a parameter of the caller's modules has lost requires_grad, "
                      "or has received a gradient.", "Which line changes the arguments?"),
        "frozen": ("Your new layer is right, except when the modules that are passed in are frozen.",
                   "What is the value of requires_grad for the parameters of a new nn.Linear?"),
        "form": ("Your new layer computes the right numbers, but differs from a plain nn.Linear.",
                 "What should its class, its sizes and its parameters be?"),
        "": ("Even when the norm's bias is zero, your result is wrong.",
             "Which column of the linear layer's weight multiplies feature j of the norm's output?"),
    },
    hints=(
        "Write linear(norm(x)) as one formula. Let z be what the norm computes before its weight and bias, so that "
        "norm(x) = z * weight + bias.",
        "Multiply the formula out. What multiplies z is the new weight; the terms without z add up to the new "
        "bias.",
        "In outline: make a new nn.Linear of the same sizes; multiply each column of the old weight by the norm's "
        "weight for the same feature; multiply the old weight by the norm's bias, and add the product to the old "
        "bias; write the new weight and the new bias into the new layer under torch.no_grad().",
    ),
)
