"""Answers to images.conv_to_linear."""

import copy

import torch
from torch import nn


def copied(conv):
    d, c, p, _ = conv.weight.shape
    linear = nn.Linear(c * p * p, d).to(conv.weight)
    with torch.no_grad():
        linear.weight.copy_(conv.weight.view(d, -1))
        linear.bias.copy_(conv.bias)
    return linear


def parameters(conv):
    new = nn.Linear(conv.in_channels * conv.kernel_size[0] * conv.kernel_size[1], conv.out_channels)
    new.weight = nn.Parameter(conv.weight.detach().clone().reshape(conv.out_channels, -1))
    new.bias = nn.Parameter(conv.bias.detach().clone())
    return new


def state(conv):
    layer = nn.Linear(conv.weight[0].numel(), conv.out_channels, dtype=conv.weight.dtype)
    weights = conv.state_dict()
    layer.load_state_dict({"weight": weights["weight"].flatten(1), "bias": weights["bias"]})
    return layer


def deep(conv):
    twin = copy.deepcopy(conv)
    layer = nn.Linear(twin.weight[0].numel(), len(twin.weight), device="meta")
    layer.weight = nn.Parameter(twin.weight.data.flatten(1))
    layer.bias = nn.Parameter(twin.bias.data)
    return layer


def row_by_row(conv):
    layer = nn.Linear(conv.weight[0].numel(), conv.out_channels).to(conv.weight.dtype)
    with torch.no_grad():
        for row, kernel in enumerate(conv.weight):
            layer.weight[row] = kernel.flatten()
            layer.bias[row] = conv.bias[row]
    return layer


def asked(conv):
    """The convolution's response to one pixel after another."""
    width, size = conv.weight[0].numel(), conv.kernel_size
    with torch.no_grad():
        pixels = torch.eye(width).to(conv.weight).view(width, conv.in_channels, *size)
        made = conv(pixels).flatten(1) - conv.bias
        layer = nn.Linear(width, conv.out_channels).to(conv.weight)
        layer.weight.data = made.T.contiguous()
        layer.bias.data = conv.bias.clone().detach()
    return layer


_LAYERS = {}


def made_at_the_first_call(conv):
    return _LAYERS.setdefault((conv.weight.shape, conv.weight.dtype, conv.weight.requires_grad), copied(conv))


RIGHT = {kind.__name__: kind for kind in (copied, parameters, state, deep, row_by_row, asked)}
LAST = "return layer"
WRONG = {
    "a layer made at the first call": made_at_the_first_call,
    "half of the bias": {"copy_(conv.bias)": "copy_(conv.bias / 2)"},
    "scaled": {"conv.weight.flatten(1))": "conv.weight.flatten(1) * conv.kernel_size[0])"},
    "a pair": {LAST: "return layer, conv"},
    "weights alone": {LAST: "return layer.weight"},
    "a bias that does not learn": {"layer.bias.copy_(conv.bias)": "layer.bias = nn.Parameter(conv.bias.clone(), "
                                   "False)"},
    "buffers": {LAST: "for name in ('weight', 'bias'):\n        value = layer._parameters.pop(name).detach()\n"
                      "        layer.register_buffer(name, value)\n    return layer"},
    "a class of its own": {LAST: "own = nn.Bilinear(1, 1, 1)\n    own.weight, own.bias = layer.weight, layer.bias\n"
                                 "    own.forward = layer.forward\n    return own"},
    "the average kernel": {"conv.weight.flatten(1)": "conv.weight.flatten(1).mean(0)"},
    "frozen afterwards": {LAST: "conv.requires_grad_(False).eval()\n    return layer"},
    "one bias for all": {"copy_(conv.bias)": "copy_(conv.bias[:1])"},
}
