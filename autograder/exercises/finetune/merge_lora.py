"""A low-rank update merged into the weight of its layer, so that it no longer costs extra computation (Hu et
al. 2021).
"""

import torch
from torch import nn

from autograder.exercises._shared.new_layers import FLAGS, LOOK, SPOIL, TRAIN
from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit


def merge_lora(linear, down, up, scale):
    weight = linear.weight.detach()
    merged = nn.Linear(linear.in_features, linear.out_features, bias=linear.bias is not None,
                       dtype=weight.dtype, device=weight.device)
    update = up.weight.detach() @ down.weight.detach()
    merged.weight.data = weight + scale * update
    if linear.bias is not None:
        merged.bias.data = linear.bias.detach().clone()
    return merged


def reference(linear, down, up, scale):
    merged = nn.Linear(linear.in_features, linear.out_features, linear.bias is not None, dtype=linear.weight.dtype)
    with torch.no_grad():
        # The outputs of the three layers for the unit vectors are the columns of the new weight.
        units = torch.eye(linear.in_features, dtype=linear.weight.dtype)
        zero = linear(torch.zeros_like(units))
        merged.weight.copy_((linear(units) - zero + scale * up(down(units))).T)
        if linear.bias is not None:
            merged.bias.copy_(zero[0])
    return merged


LEARNING = "learning"
APPLY = "def apply(new, x):\n    return new(x)\n"
FREEZE = "def freeze(linear):\n    linear.requires_grad_(False)\n"
PARTS = ("linear", "down", "up")
MERGE = Call((*map(Kept, PARTS), Kept("scale")), keep="merged", shown=False)
OUTPUT = Call((Kept("merged"), Kept("x")), to="apply", keep="output")


def cases(draw):
    d_in, d_out, rank = draw.sizes(3, 2, 7)
    yield _case(draw, "all sizes different", d_in, d_out, rank)
    yield _case(draw, "as many outputs as inputs", 5, 5, 2)
    yield _case(draw, "rank one", 4, 3, 1)
    yield _case(draw, "a rank above both widths", 3, 2, 6)
    yield _case(draw, "rank, inputs and outputs alike", 4, 4, 4)
    yield _case(draw, "one of everything", 1, 1, 1)
    yield _case(draw, "a layer without a bias", 5, 3, 2, bias=False, needs=("no bias",))
    yield _case(draw, "a scale of zero", 4, 3, 2, scale=0.0)
    yield _case(draw, "a scale below zero", 4, 3, 2, scale=-1.5)
    yield _case(draw, "a scale of one", 4, 3, 2, scale=1.0, needs=())
    yield _case(draw, "float64", 4, 3, 2, dtype=torch.float64, aspect=DTYPES)
    names = {"kwargs": {name: Kept(name) for name in (*PARTS, "scale")}, "keep": "merged", "shown": False}
    yield _case(draw, "arguments by name", 4, 3, 2, script=(Call(**names), OUTPUT))
    look = {"look": Given("look", LOOK)}, Call((Kept("merged"),), to="look", keep="the new layer")
    yield _case(draw, "the new layer's form", 4, 5, 2, more=look[0], script=(MERGE, look[1]), needs=("form",))
    yield _case(draw, "the new layer's form, without a bias", 4, 5, 2, bias=False, more=look[0],
                script=(MERGE, look[1]), needs=("form", "no bias"))
    freeze = Call((Kept("linear"),), to="freeze")
    yield _case(draw, "a frozen layer", 4, 5, 2, more=look[0] | {"freeze": Given("freeze", FREEZE)},
                script=(freeze, MERGE, look[1]), aspect=LEARNING, needs=("form",))
    flags = {"flags": Given("flags", FLAGS)}, Call(tuple(map(Kept, PARTS)), to="flags", keep="arguments")
    yield _case(draw, "the arguments after the call", 4, 5, 2, more=flags[0], script=(MERGE, flags[1]),
                aspect=SIDE_EFFECTS, needs=("form", "arguments"))
    train = Call((Kept("merged"), Kept("x")), to="train", keep="trained")
    # Training changes the new layer and must leave the arguments as they are.
    yield _case(draw, "trained afterwards", 3, 4, 2, more={"train": Given("train", TRAIN)}, script=(MERGE, train),
                aspect=LEARNING)
    spoil = Call(tuple(map(Kept, PARTS)), to="spoil")
    yield _case(draw, "its arguments changed afterwards", 4, 3, 2, more={"spoil": Given("spoil", SPOIL)},
                script=(MERGE, spoil, OUTPUT), changes=PARTS, aspect=SIDE_EFFECTS)


def _case(draw, family, d_in, d_out, rank, scale=0.75, bias=True, dtype=torch.float32, more=None, needs=("scale",),
          **fields):
    weights = {
        "linear": {"weight": draw.normal(d_out, d_in)} | ({"bias": draw.normal(d_out)} if bias else {}),
        "down": {"weight": draw.normal(rank, d_in)},
        "up": {"weight": draw.normal(d_out, rank)},
    }
    sizes = {"linear": (d_in, d_out, bias), "down": (d_in, rank, False), "up": (rank, d_out, False)}
    given = {
        name: Module("Linear", dict(zip(("in_features", "out_features", "bias"), sizes[name])),
                     {key: value.to(dtype) for key, value in weights[name].items()})
        for name in PARTS
    }
    given |= {"scale": scale, "x": draw.normal(3, d_in).to(dtype), "apply": Given("apply", APPLY)} | (more or {})
    fields = {"script": (MERGE, OUTPUT), "modes": True} | fields
    return Case(family, (), given, gradients=False, needs=needs, **fields)


WEIGHT, UPDATE = "weight + scale * update", "up.weight.detach() @ down.weight.detach()"
BIAS = "merged.bias.data = linear.bias.detach().clone()"
LAST = "return merged"

EXERCISE = Exercise(
    number=5, minutes=10, difficulty=2,
    worked=merge_lora,
    reference=reference,
    cases=cases,
    aspects={VALUES: 4, LEARNING: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    mistakes=(
        edit("LORA-31 the update in the wrong order",
             {UPDATE: "(down.weight.detach().T @ up.weight.detach().T)[: len(weight), : weight.shape[1]]"},
             "Your update is transposed, or its factors are in the wrong order.",
             "Which layer does x go through first, and on which side of the product is its weight?"),
        edit("LORA-31", {UPDATE: "down.weight.detach() @ up.weight.detach()"}),
        edit("LORA-33 the scale is left out", {WEIGHT: "weight + update"},
             "You add the update without its scale.", "What is up(down(x)) multiplied by in the formula?"),
        edit("LORA-35 the update is taken away", {WEIGHT: "weight - scale * update"},
             "You subtract the update.", "Is the update added or subtracted?"),
        edit("LORA-37 the layer is scaled too", {WEIGHT: "scale * (weight + update)"},
             "You also scale the old weight.", "Which of the two terms is scaled?"),
        edit("LORA-39 the update alone", {WEIGHT: "scale * update"},
             "Your new layer leaves out the old weight.", "Which two terms does the formula add?"),
        edit("LORA-41 nothing is added", {WEIGHT: "weight.clone()"},
             "Your new layer leaves out the update.",
             "Where should the product of the two small weights be added?"),
        edit("LORA-43 the bias is lost", {BIAS: "merged.bias.data.zero_()"},
             "Your new layer has lost the bias.",
             "Which parameters does the old layer have besides its weight?"),
        edit("LORA-43", {BIAS: "pass"}),
        edit("LORA-45 a bias where there was none", {"bias=linear.bias is not None": "bias=True"},
             "Your new layer has a bias although the old one has none.",
             "What is linear.bias for a layer without a bias?"),
        edit("LORA-45", {"bias=linear.bias is not None": "bias=True", "    return merged":
             "    if linear.bias is None:\n        merged.bias.data.zero_()\n    return merged"}),
        edit("LORA-47 a layer without a bias is not foreseen", {"if linear.bias is not None:": "if True:"},
             "Your answer stops with an error for a layer without a bias.",
             "What is linear.bias for such a layer?"),
        edit("LORA-49 the bias is scaled", {BIAS: "merged.bias.data = linear.bias.detach() * (1 + scale)"},
             "You scale the bias.", "Do the small layers have a bias?"),
        edit("LORA-51 the layer that was given is changed", {
             "nn.Linear(linear.in_features, linear.out_features, bias=linear.bias is not None,\n"
             "                       dtype=weight.dtype, device=weight.device)": "linear"},
             "You change the caller's layer.", "Into which layer do you write?"),
        edit("LORA-53 memory is shared", {BIAS: "merged.bias = linear.bias"},
             "Your new layer and the old one share storage.", "Does an assignment copy a tensor?"),
        edit("LORA-53", {BIAS: "merged.bias.data = linear.bias.detach()"}),
        edit("LORA-55 the new layer does not learn", {LAST: "return merged.requires_grad_(False)"},
             "Your new layer is frozen, at least if `linear` is.",
             "What should requires_grad be for the new layer's parameters?"),
        edit("LORA-55", {LAST: "merged.requires_grad_(linear.weight.requires_grad)\n    return merged"}),
        edit("LORA-57 the parameters hang on the old ones",
             {f"merged.weight.data = {WEIGHT}": "del merged.weight\n    merged.weight = linear.weight + scale * "
              "(up.weight @ down.weight)"},
             "The weight of your new layer is not a parameter, but computed from the old ones.",
             "What would an optimiser find in the new layer's parameters()?"),
        edit("LORA-59 three layers instead of one", {LAST: "return lambda x: linear(x) + scale * up(down(x))"},
             "You combine the three layers without merging them.",
             "How many layers should there be in the end?"),
        edit("LORA-61 float32 whatever was given", {"dtype=weight.dtype, ": "",
             WEIGHT: f"({WEIGHT}).float()", BIAS: "merged.bias.data = linear.bias.detach().float()"},
             "For a float64 layer you return a float32 one.", "What dtype should the new layer have?"),
        edit("LORA-63 sizes exchanged", {"linear.in_features, linear.out_features": "linear.out_features, "
             "linear.in_features"},
             "You have swapped in_features and out_features of the new layer.",
             "In which order does nn.Linear take its sizes?"),
        edit("LORA-65 the scale counts twice", {WEIGHT: "weight + scale * scale * update"},
             "You multiply by the scale twice.", "How many times does the scale occur in the formula?"),
        edit("a scale of zero counts as one", {WEIGHT: "weight + (scale or 1.0) * update"},
             "You treat a scale of zero as a scale of one.", "What is `0.0 or 1.0` in Python?"),
        edit("LORA-67 divided by the rank once more", {WEIGHT: "weight + scale * update / down.out_features"},
             "Your update becomes smaller as the rank grows.", "Does the formula divide by the rank?"),
    ),
    needs={
        "no bias": ("Your answer is wrong only for a layer without a bias.",
                    "What is linear.bias for such a layer?"),
        "arguments": ("Your new layer is right, but you change the parameters of the caller's modules.",
                      "Should the three given layers have changed after the call?"),
        "form": ("Your new layer computes the right numbers, but it is not the nn.Linear that the "
                 "docstring asks for.",
                 "Which class, which sizes and which trainable parameters should it have?"),
        "scale": ("Your answer is wrong only when the scale is not 1.",
                  "Where does the scale occur in the formula, and how many times?"),
        "": ("Even with a scale of 1 the outputs are wrong.",
             "Which product of the two small weights is the update?"),
    },
    hints=(
        "Write linear(x) + scale * up(down(x)) with the three weights: W x + b + scale * U (D x). The two terms "
        "with x can be combined into one matrix times x.",
        "The input goes through `down` first, so its weight is on the right of the product. With "
        "nn.Linear's (out, in) weights, up's (d_out, rank) times down's (rank, d_in) has the same shape "
        "as the weight of `linear`.",
        "In outline: make a new nn.Linear with the sizes, dtype and device of the old one, and with a bias only "
        "if the old one has a bias. Set its weight to the old weight plus the scaled product, and its bias to a "
        "copy of the old bias; detach all the old tensors, so that the new layer shares nothing with the old "
        "ones.",
    ),
)
