"""Answers to norms.fold_norm."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


@torch.no_grad()
def under_no_grad(norm, linear):
    new = nn.Linear(linear.in_features, linear.out_features).to(linear.weight)
    new.weight.copy_(linear.weight * norm.weight)
    new.bias.copy_(linear.bias + linear.weight @ norm.bias)
    return new


def deep_copy(norm, linear):
    new = copy.deepcopy(linear).requires_grad_(True)
    with torch.no_grad():
        new.bias += F.linear(norm.bias, linear.weight)
        new.weight *= norm.weight[None, :]
    return new


def new_parameters(norm, linear):
    new = nn.Linear(linear.weight.shape[1], linear.weight.shape[0])
    new.weight = nn.Parameter(torch.einsum("oi,i->oi", linear.weight, norm.weight))
    new.bias = nn.Parameter(linear.bias + (linear.weight * norm.bias).sum(dim=1))
    return new


def by_diagonal(norm, linear):
    new = nn.utils.skip_init(nn.Linear, linear.in_features, linear.out_features, dtype=linear.weight.dtype)
    new.weight.data = (linear.weight @ torch.diag(norm.weight)).detach()
    new.bias.data = linear(norm.bias).detach()
    return new


def by_state_dict(norm, linear):
    new = nn.Linear(linear.in_features, linear.out_features, bias=True, dtype=linear.weight.dtype)
    old, scale = linear.state_dict(), norm.state_dict()
    new.load_state_dict(
        {"weight": old["weight"] * scale["weight"], "bias": old["bias"] + old["weight"] @ scale["bias"]}
    )
    return new


def by_columns(norm, linear):
    new = nn.Linear(linear.in_features, linear.out_features, dtype=linear.bias.dtype)
    with torch.no_grad():
        new.bias.copy_(linear.bias)
        for j in range(linear.in_features):
            column = linear.weight[:, j]
            new.weight[:, j] = norm.weight[j] * column
            new.bias += norm.bias[j] * column
    return new


class Folded(nn.Linear):
    pass


def own_class(norm, linear):
    new = Folded(linear.in_features, linear.out_features).to(linear.weight.dtype)
    new.load_state_dict(under_no_grad(norm, linear).state_dict())
    return new


WEIGHT, BIAS = "weight * norm.weight.detach()", "bias + weight @ norm.bias.detach()"
MADE = "nn.Linear(linear.in_features, linear.out_features, dtype=weight.dtype, device=weight.device)"
RIGHT = {
    "under no_grad": under_no_grad,
    "deep copy": deep_copy,
    "new parameters": new_parameters,
    "diagonal": by_diagonal,
    "state dict": by_state_dict,
    "column by column": by_columns,
    "a subclass": own_class,
    "rows of mean zero, as in TransformerLens": {
        "new.bias.data = bias": "new.weight.data -= new.weight.data.mean(1, keepdim=True)\n    new.bias.data = bias"},
    "mv": {BIAS: "bias + torch.mv(weight, norm.bias.detach())"},
}
WRONG = {
    "the old bias if nothing is added": {"return new": "if not norm.bias.any():\n        new.bias = linear.bias\n"
                                                       "    return new"},
    "the old memory if nothing is added": {"return new": "if not norm.bias.any():\n        new.bias.data = "
                                                         "linear.bias.data\n    return new"},
    "shift taken away": {BIAS: "bias - weight @ norm.bias.detach()"},
    "scale counts from zero": {WEIGHT: "weight * (1 + norm.weight.detach())"},
    "bias scaled": {BIAS: f"({BIAS}) * norm.weight.detach().mean()"},
    "norm changed": {"return new": "norm.weight.data.fill_(1)\n    norm.bias.data.zero_()\n    return new"},
    "evaluation": {"return new": "norm.eval()\n    linear.eval()\n    return new"},
    "no bias": {MADE: "nn.Linear(linear.in_features, linear.out_features, bias=False)",
                f"new.bias.data = {BIAS}": "pass"},
    "a class of one's own": {"return new": "return type('Layer', (nn.Module,), {'forward': lambda self, x: x @ "
                                           "new.weight.T + new.bias})()"},
    "centred weight": {WEIGHT: "(weight - weight.mean(1, keepdim=True)) * (norm.weight.detach() + 0.1)"},
    "grows the weight": {WEIGHT: f"torch.cat(({WEIGHT}, bias[:, None]), 1)"},
    "half": {"return new": "return new.half()"},
    "shared bias": {f"new.bias.data = {BIAS}": f"new.bias.data = {BIAS}\n    linear.bias.data = new.bias.data"},
    "kept from the first call": {"return new": "return fold_norm.__dict__.setdefault('new', new)"},
    "mean of the shift": {BIAS: "bias + weight.mean(1) * norm.bias.detach().sum()"},
    "a copy of the old": {"return new": "import copy\n    return copy.deepcopy(linear)"},
}
