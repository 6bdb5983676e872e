"""Answers to llama.swiglu."""

import torch
import torch.nn.functional as F
from torch import nn


def in_one_line(x, gate, up, down):
    return down(F.silu(gate(x)) * up(x))


def by_sigmoid(x, gate, up, down):
    z = gate(x)
    return down(z * z.sigmoid() * up(x))


def in_place(x, gate, up, down):
    hidden = F.silu(gate(x), inplace=True)
    hidden = hidden.mul(up(x))
    return down(hidden)


def up_first(x, gate, up, down):
    wide = up(x)
    return down(torch.mul(wide, nn.SiLU()(gate(x))))


def swish(x, gate, up, down):
    z = gate(x)
    return down(torch.einsum("...h,...h->...h", z / 2 * (1 + torch.tanh(z / 2)), up(x)))


def careful(x, gate, up, down):
    z = gate(x)
    small = torch.exp(-z.abs())
    share = torch.where(z >= 0, 1 / (1 + small), small / (1 + small))
    return down(z * share * up(x))


RIGHT = {
    "in one line": in_one_line,
    "sigmoid": by_sigmoid,
    "in place": in_place,
    "up first": up_first,
    "tanh": swish,
    "careful": careful,
}
WRONG = {
    "a steep SiLU": {"F.silu(gate(x))": "gate(x) * torch.sigmoid(1.702 * gate(x))"},
    "hard swish": {"F.silu(gate(x))": "F.hardswish(gate(x))"},
    "mish": {"F.silu(gate(x))": "F.mish(gate(x))"},
    "softplus": {"F.silu(gate(x))": "F.softplus(gate(x))"},
    "tanh": {"F.silu(gate(x))": "torch.tanh(gate(x))"},
    "up of the gate": {"opened * up(x)":
    "opened * up(opened) if opened.shape == x.shape else opened * up(x)"},
    "a tuple": {"return down(hidden)": "return down(hidden), hidden"},
    "no gradient for x": {"up(x)": "up(x.detach())"},
    "silu twice": {"F.silu(gate(x))": "F.silu(F.silu(gate(x)))"},
    "x is changed": {"    hidden =": "    x *= 1.0001\n    hidden ="},
    "half precision": {"F.silu(gate(x))": "F.silu(gate(x)).half().to(x.dtype)"},
    "a clipped gate": {"F.silu(gate(x))": "F.silu(gate(x).clamp(-50, 50))"},
    "once too often": {"    hidden =": "    up(x)\n    hidden ="},
    "without the last layer's call": {"down(hidden)":
    "hidden @ down.weight.T + (0 if down.bias is None else down.bias)"},
    "glu": {"F.silu(gate(x))": "F.logsigmoid(gate(x)).exp()"},
    "a norm": {"return down(hidden)": "return down(F.layer_norm(hidden, hidden.shape[-1:]))"},
}
