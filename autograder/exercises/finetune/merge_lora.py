"""A low-rank update added into the layer that it belongs to: nothing is left to compute beside it (Hu et al. 2021)."""

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
        # What the three layers make of the unit vectors are the columns of the new weight.
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
    look = {"look": Given("look", LOOK)}, Call((Kept("merged"),), to="look", keep="look")
    yield _case(draw, "what comes back", 4, 5, 2, more=look[0], script=(MERGE, look[1]), needs=("form",))
    yield _case(draw, "what comes back without a bias", 4, 5, 2, bias=False, more=look[0], script=(MERGE, look[1]),
                needs=("form", "no bias"))
    freeze = Call((Kept("linear"),), to="freeze")
    yield _case(draw, "a frozen layer", 4, 5, 2, more=look[0] | {"freeze": Given("freeze", FREEZE)},
                script=(freeze, MERGE, look[1]), aspect=LEARNING, needs=("form",))
    flags = {"flags": Given("flags", FLAGS)}, Call(tuple(map(Kept, PARTS)), to="flags", keep="arguments")
    yield _case(draw, "whether its arguments still learn", 4, 5, 2, more=flags[0], script=(MERGE, flags[1]),
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
             "Your update is the transpose of the right one.",
             "Which layer does x meet first, and on which side of the product does that one stand?"),
        edit("LORA-31", {UPDATE: "down.weight.detach() @ up.weight.detach()"}),
        edit("LORA-33 the scale is left out", {WEIGHT: "weight + update"},
             "Your update is added without its scale.", "By what is up(down(x)) multiplied?"),
        edit("LORA-35 the update is taken away", {WEIGHT: "weight - scale * update"},
             "You take the update away.", "Is what was learned added to the weight, or taken away?"),
        edit("LORA-37 the layer is scaled too", {WEIGHT: "scale * (weight + update)"},
             "Your scale also stands before the old weight.", "Which of the two terms has the scale?"),
        edit("LORA-39 the update alone", {WEIGHT: "scale * update"},
             "Your new layer has forgotten the old weight.", "Which two terms does the output have?"),
        edit("LORA-41 nothing is added", {WEIGHT: "weight.clone()"},
             "Your new layer is the old one.", "Where does what was learned go?"),
        edit("LORA-43 the bias is lost", {BIAS: "merged.bias.data.zero_()"},
             "Your new layer has lost the old one's bias.", "Which parts has the old layer besides its weight?"),
        edit("LORA-43", {BIAS: "pass"}),
        edit("LORA-45 a bias where there was none", {"bias=linear.bias is not None": "bias=True"},
             "Your new layer has a bias that the old one did not have.", "What is linear.bias of such a layer?"),
        edit("LORA-47 a layer without a bias is not foreseen", {"if linear.bias is not None:": "if True:"},
             "A layer without a bias is not merged.", "What is linear.bias of such a layer?"),
        edit("LORA-49 the bias is scaled", {BIAS: "merged.bias.data = linear.bias.detach() * (1 + scale)"},
             "Your bias is scaled.", "Does the update have a bias?"),
        edit("LORA-51 the layer that was given is changed", {
             "nn.Linear(linear.in_features, linear.out_features, bias=linear.bias is not None,\n"
             "                       dtype=weight.dtype, device=weight.device)": "linear"},
             "After the call the caller's linear layer holds other numbers than before.",
             "Whose layer do you write into?"),
        edit("LORA-53 memory is shared", {BIAS: "merged.bias = linear.bias"},
             "Your new layer and the old one share a parameter.", "Is a parameter copied by naming it again?"),
        edit("LORA-53", {BIAS: "merged.bias.data = linear.bias.detach()"}),
        edit("LORA-55 the new layer does not learn", {LAST: "return merged.requires_grad_(False)"},
             "The parameters of your new layer ask for no gradient.",
             "What does requires_grad say of the new layer's parameters?"),
        edit("LORA-55", {LAST: "merged.requires_grad_(linear.weight.requires_grad)\n    return merged"}),
        edit("LORA-57 the parameters hang on the old ones",
             {f"merged.weight.data = {WEIGHT}": "del merged.weight\n    merged.weight = linear.weight + scale * "
              "(up.weight @ down.weight)"},
             "Your new layer has no weight of its own: its numbers are results of the old ones.",
             "What does an optimiser find in the new layer's parameters()?"),
        edit("LORA-59 three layers instead of one", {LAST: "return lambda x: linear(x) + scale * up(down(x))"},
             "You put the three layers together, and merge nothing.", "How many layers should be left?"),
        edit("LORA-61 float32 whatever was given", {"dtype=weight.dtype, ": "",
             WEIGHT: f"({WEIGHT}).float()", BIAS: "merged.bias.data = linear.bias.detach().float()"},
             "A float64 layer comes back as float32.", "Which type of number should the new layer have?"),
        edit("LORA-63 sizes exchanged", {"linear.in_features, linear.out_features": "linear.out_features, "
             "linear.in_features"},
             "Your new layer says that its inputs are its outputs.", "In which order does nn.Linear take its sizes?"),
        edit("LORA-65 the scale counts twice", {WEIGHT: "weight + scale * scale * update"},
             "Your scale counts twice.", "How often does the scale stand in the formula?"),
        edit("LORA-67 divided by the rank once more", {WEIGHT: "weight + scale * update / down.out_features"},
             "Your update becomes smaller as its rank grows.", "What is in `scale` already?"),
    ),
    combinable=("LORA-33", "LORA-35", "LORA-43"),
    needs={
        "no bias": ("With a bias you are right; without one you are not.", "What is linear.bias of such a layer?"),
        "arguments": ("Your new layer is right, but a parameter of the caller's modules asks for no gradient any "
                      "more, or holds one.", "What should be true of the arguments after the call?"),
        "form": ("Your new layer computes the right numbers, but it is another thing than an nn.Linear should be.",
                 "What should be true of its class, its sizes and its parameters?"),
        "scale": ("With a scale of 1 you are right; with another you are not.",
                  "Where does the scale stand in the formula, and how often?"),
        "": ("Even with a scale of 1 the outputs are other ones.",
             "Which product of the two small weights is the update?"),
    },
    hints=(
        "Write linear(x) + scale * up(down(x)) with the three weights, and look for what stands before x.",
        "x meets `down` first, so its weight stands on the right of the product. Which shape has the product, and "
        "which has the weight of `linear`?",
        "The shape of it: (d_out, rank) times (rank, d_in), scaled and added to (d_out, d_in), in a new layer that "
        "owns its numbers; the bias is copied if there is one.",
    ),
)
