"""A convolution with non-overlapping patches, rewritten as the equivalent linear layer."""

import torch
from torch import nn

from autograder.exercises._shared.new_layers import TRAIN
from autograder.schema import DTYPES, SIDE_EFFECTS, VALUES, Call, Case, Exercise, Given, Kept, Module, edit


def conv_to_linear(conv):
    numbers = conv.weight[0].numel()
    layer = nn.Linear(numbers, conv.out_channels, dtype=conv.weight.dtype, device=conv.weight.device)
    with torch.no_grad():
        layer.weight.copy_(conv.weight.flatten(1))
        layer.bias.copy_(conv.bias)
    return layer


def reference(conv):
    channels, size = conv.in_channels, conv.kernel_size[0]
    width = channels * size**2
    # The convolution's outputs for each single pixel, and for none, give the layer's weight and bias.
    pixels = torch.eye(width, dtype=conv.weight.dtype).reshape(width, channels, size, size)
    layer = nn.Linear(width, conv.out_channels, dtype=conv.weight.dtype)
    with torch.no_grad():
        zero = conv(torch.zeros_like(pixels[:1]))[0, :, 0, 0]
        layer.weight.copy_((conv(pixels)[:, :, 0, 0] - zero).T)
        layer.bias.copy_(zero)
    return layer


LEARNING = "learning"
LOOK = """
def look(layer):
    plain = {name: type(layer._parameters.get(name)) is nn.Parameter for name in ("weight", "bias")}
    learns = {f"{name} learns": layer._parameters[name].requires_grad for name, is_plain in plain.items() if is_plain}
    return plain | learns | {"an nn.Linear": isinstance(layer, nn.Linear), "sizes": list(layer.weight.shape)}
"""
SPOIL = """
def spoil(conv):
    with torch.no_grad():
        [p.zero_() for p in conv.parameters()]
    return {f"{name} learns": p.requires_grad for name, p in conv.named_parameters()}
"""
MAKE = Call((Kept("conv"),), keep="layer", shown=False)
USE = Call((Kept("x"),), to="layer", keep="output")


def cases(draw):
    channels, size, width = draw.sizes(3, 2, 6)
    yield _case(draw, "all sizes different", channels, size, width)
    yield _case(draw, "one channel", 1, 3, 4)
    yield _case(draw, "patches of one pixel", 4, 1, 3)
    yield _case(draw, "one output", 2, 3, 1)
    yield _case(draw, "three of everything", 3, 3, 3)
    yield _case(draw, "as wide as a patch", 2, 2, 8)
    yield _case(draw, "one of everything", 1, 1, 1)
    yield _case(draw, "a convolution without gradients", 2, 3, 4, frozen=True)
    yield _case(draw, "float64", 2, 3, 4, torch.float64, aspect=DTYPES)
    script = MAKE, Call((Kept("layer"),), to="look", keep="look")
    yield _case(draw, "the new layer's form", 2, 2, 3, more={"look": Given("look", LOOK)}, script=script,
                needs=("form",))
    # Training changes the new layer and must leave the convolution as it is.
    script = MAKE, Call((Kept("layer"), Kept("x")), to="train", keep="trained")
    given = {"train": Given("train", TRAIN)}
    for frozen in (False, True):
        yield _case(draw, "trained afterwards", 2, 2, 3, frozen=frozen, more=given, script=script, aspect=LEARNING)
    script = MAKE, Call((Kept("conv"),), to="spoil", keep="spoiled"), USE
    yield _case(draw, "the convolution changed afterwards", 2, 2, 3, more={"spoil": Given("spoil", SPOIL)},
                script=script,
                changes=("conv",), aspect=SIDE_EFFECTS)


FROZEN = """
class Frozen(nn.Conv2d):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.requires_grad_(False)
"""


def _case(draw, family, channels, size, width, dtype=torch.float32, frozen=False, more=None, **fields):
    weights = {"weight": draw.normal(width, channels, size, size), "bias": draw.normal(width)}
    sizes = {"in_channels": channels, "out_channels": width, "kernel_size": size, "stride": size}
    kind = ("Frozen", FROZEN) if frozen else ("Conv2d", "")
    conv = Module(kind[0], sizes, {name: value.to(dtype) for name, value in weights.items()}, kind[1])
    given = {"conv": conv, "x": draw.normal(2, 3, channels * size**2).to(dtype), **(more or {})}
    sizes = {"channels": channels, "pixels": size, "outputs": width}
    needs = tuple(name for name, count in sizes.items() if count > 1)
    fields = {"script": (MAKE, USE), "modes": True, "needs": needs} | fields
    return Case(family, (), given, gradients=False, **fields)


WEIGHT, SET_WEIGHT = "conv.weight.flatten(1)", "layer.weight.copy_(conv.weight.flatten(1))"
SET_BIAS, LAST = "layer.bias.copy_(conv.bias)", "return layer"
MADE = "nn.Linear(numbers, conv.out_channels, dtype=conv.weight.dtype, device=conv.weight.device)"
SHARED_WEIGHT, SHARED_BIAS = "layer.weight.data = conv.weight.data.flatten(1)", "layer.bias.data = conv.bias.data"

EXERCISE = Exercise(
    number=3, minutes=8, difficulty=2,
    standard=("by name",),
    worked=conv_to_linear,
    reference=reference,
    cases=cases,
    aspects={VALUES: 3, LEARNING: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    mistakes=(
        edit("VIT-61 the bias is lost", {SET_BIAS: "nn.init.zeros_(layer.bias)"},
             "Your layer leaves out the convolution's bias.", "What does the convolution give for a patch of zeros?"),
        edit("VIT-61", {MADE: MADE.replace(", dtype", ", bias=False, dtype"), SET_BIAS: "pass"}),
        edit("VIT-63 a bias of its own", {SET_BIAS: "pass"},
             "You leave the bias of the new layer as it was initialised.",
             "What does the convolution give for a patch of zeros?"),
        edit("VIT-65 weights of its own", {SET_WEIGHT: "pass"},
             "You leave the weight of the new layer as it was initialised.",
             "Where should the convolution's weights go?"),
        edit("VIT-67 channels change fastest", {WEIGHT: "conv.weight.permute(0, 2, 3, 1).flatten(1)"},
             "Your weights are ordered pixel by pixel.",
             "In which order does `patchify` put channels, rows and columns?"),
        edit("VIT-69 patches on their sides", {WEIGHT: "conv.weight.mT.flatten(1)"},
             "You have swapped the rows and columns of the kernel.",
             "In which order does `patchify` put channels, rows and columns?"),
        edit("VIT-71 the kernel turned", {WEIGHT: "conv.weight.flip(2, 3).flatten(1)"},
             "You have flipped the kernel.", "Does nn.Conv2d flip its kernel?"),
        edit("VIT-73 inputs and outputs exchanged", {WEIGHT: "conv.weight.transpose(0, 1).flatten(1)"},
             "You have swapped the input and output channels.",
             "Which axis of a convolution's weight belongs to the outputs?"),
        edit("VIT-73", {WEIGHT: "conv.weight.flatten(1).T"}),
        edit("VIT-75 memory is shared", {SET_WEIGHT: SHARED_WEIGHT, SET_BIAS: SHARED_BIAS},
             "Your layer and the convolution share storage.",
             "Should the convolution change when the new layer is trained?"),
        edit("VIT-75", {SET_WEIGHT: SHARED_WEIGHT}),
        edit("VIT-75", {SET_BIAS: SHARED_BIAS}),
        edit("VIT-75", {SET_BIAS: "layer.bias = conv.bias"}),
        edit("VIT-75", {SET_WEIGHT: SHARED_WEIGHT, SET_BIAS: "layer.bias = conv.bias"}),
        edit("VIT-77 a layer that cannot learn", {LAST: "return layer.requires_grad_(False)"},
             "You switch off gradients for the new layer.",
             "What must requires_grad be for a parameter to learn?"),
        edit("VIT-77", {SET_WEIGHT: "layer.weight = nn.Parameter(conv.weight.flatten(1).clone(), False)"}),
        edit("VIT-91 as trainable as the convolution", {LAST: "return layer.requires_grad_(conv.weight.requires_grad)"},
             "Your layer is frozen when the convolution is frozen.",
             "Should the new layer be able to learn in that case?"),
        edit("VIT-79 the convolution itself", {LAST: "return conv"},
             "You return the convolution.", "Which class of layer does the docstring ask for?"),
        edit("VIT-81 a function", {LAST: "return lambda x: x @ conv.weight.flatten(1).T + conv.bias"},
             "You return a function.", "Which class of layer does the docstring ask for?"),
        edit("VIT-83 a layer of another type", {MADE: "nn.Linear(numbers, conv.out_channels)"},
             "For a convolution in float64 you return a layer in float32.",
             "What dtype do the convolution's weights have?"),
        edit("VIT-85 one weight for each channel", {WEIGHT: "conv.weight.mean((2, 3), keepdim=True)"
             ".expand_as(conv.weight).flatten(1)"},
             "You give all pixels of a channel the same weight.",
             "How many weights does the kernel have for each channel?"),
        edit("VIT-87 the convolution is changed", {LAST: "conv.weight.data = conv.weight.data * 0\n    return layer"},
             "You change the convolution's weights.", "Which line writes into the argument?"),
        edit("VIT-99 the convolution no longer learns", {LAST: "conv.requires_grad_(False)\n    return layer"},
             "After your call, the convolution can no longer learn.", "Which line changes the argument?"),
        edit("VIT-99", {LAST: "conv.weight.requires_grad_(False)\n    return layer"}),
        edit("VIT-89 a sequence", {LAST: "return nn.Sequential(layer)"},
             "You wrap the layer in another module.", "Which class of layer does the docstring ask for?"),
    ),
    needs={
        "form": ("Your layer computes the right numbers, but it is not the nn.Linear that the docstring "
                 "asks for.",
                 "Which class, which sizes and which trainable parameters should it have?"),
        "channels": ("Your answer is wrong only when there are several channels.",
                     "In which order are channels, rows and columns in a patch?"),
        "outputs": ("Your answer is wrong only when there are several outputs.",
                    "Which weights and which bias belong to each output?"),
        "pixels": ("Your answer is wrong only for patches of more than one pixel.",
                   "Which weight of the kernel is multiplied by which number of a patch?"),
        "": ("Your answer is wrong even for one pixel, one channel and one output.",
             "What is the pixel multiplied by, and what is added?"),
    },
    hints=(
        "Where a kernel lies on a patch, every weight is multiplied by one pixel, and the products and "
        "the bias are added up. A linear layer does the same with the numbers of a flattened patch.",
        "The kernel has the shape (d, C, patch, patch); the weight of the linear layer has the shape (d, C * "
        "patch * patch). Both count channels, then rows, then columns, so flattening the last three axes is "
        "enough. Copy the numbers, under torch.no_grad().",
        "In outline: flatten the kernel, make an nn.Linear of matching sizes with the kernel's dtype and device, "
        "copy the flattened kernel and the bias of `conv` into the new layer, and return it.",
    ),
)
