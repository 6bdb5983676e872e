"""Answers to positions.apply_rope."""

import math

import torch


def odd(x):
    if x.shape[-1] % 2:
        raise ValueError("odd")


def complex_product(x, positions, base=10000.0):
    odd(x)
    rates = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    turn = torch.polar(torch.ones(len(positions), len(rates), dtype=x.dtype), torch.outer(positions.to(x.dtype), rates))
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)


def complex_view(x, positions, base=10000.0):
    """Without a copy: the features of a token lie side by side in memory, wherever the tokens lie."""
    odd(x)
    rates = 1.0 / base ** (torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = torch.outer(positions.to(x.dtype), rates)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def matrices(x, positions, base=10000.0):
    """A 2x2 matrix for each position and pair."""
    odd(x)
    d = x.size(-1)
    theta = 1.0 / (base ** (torch.arange(0, d, 2).to(x.dtype) / d))
    angle = positions.to(x.dtype)[:, None] * theta[None, :]
    c, s = angle.cos(), angle.sin()
    rotation = torch.stack((torch.stack((c, -s), -1), torch.stack((s, c), -1)), -2)
    return torch.einsum("npij,...npj->...npi", rotation, x.unflatten(-1, (d // 2, 2))).flatten(-2)


def rotate_pairs(x, positions, base=10000.0):
    odd(x)
    inv_freq = torch.exp(torch.arange(0, x.shape[-1], 2) * (-math.log(base) / x.shape[-1]))
    angles = (positions[:, None] * inv_freq).repeat_interleave(2, dim=-1)
    turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)


def filled(x, positions, base=10000.0):
    odd(x)
    out = torch.empty_like(x)
    rates = torch.pow(torch.tensor(base, dtype=torch.float64), -torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = torch.outer(positions.double(), rates)
    cos, sin = torch.cos(angles).to(x), torch.sin(angles).to(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def by_loops(x, positions, base=10000.0):
    odd(x)
    d, features = x.shape[-1], []
    for i in range(d // 2):
        angle = positions.double() * base ** (-2 * i / d)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        features += [x[..., 2 * i] * c - x[..., 2 * i + 1] * s, x[..., 2 * i] * s + x[..., 2 * i + 1] * c]
    return torch.stack(features, dim=-1)


def kept_table(x, positions, base=10000.0):
    """A table for all positions up to the largest, from which rows are taken."""
    odd(x)
    width = x.shape[-1]
    rates = base ** -(torch.arange(0, width, 2) / width)
    table = torch.arange(int(positions.max()) + 1)[:, None] * rates
    cos, sin = table.cos()[positions].to(x.dtype), table.sin()[positions].to(x.dtype)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).view(x.shape)


def whole_matrix(x, positions, base=10000.0):
    """One large rotation matrix for each token."""
    odd(x)
    rows = []
    for n, p in enumerate(positions.tolist()):
        blocks = []
        for i in range(x.shape[-1] // 2):
            t = p * base ** (-2 * i / x.shape[-1])
            blocks.append(torch.tensor([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]]))
        rows.append(x[..., n, :] @ torch.block_diag(*blocks).to(x.dtype).T)
    return torch.stack(rows, dim=-2)


TURNED = "first * cos - second * sin, first * sin + second * cos"
LAST = "torch.stack(turned, dim=-1).flatten(-2)"
RIGHT = {
    "complex product": complex_product,
    "matrices": matrices,
    "rotate pairs": rotate_pairs,
    "filled": filled,
    "loops": by_loops,
    "kept table": kept_table,
    "whole matrix": whole_matrix,
    "view": {LAST: "torch.stack(turned, dim=-1).reshape(x.shape)"},
    "split last axis": {"x[..., 0::2], x[..., 1::2]": "x.unflatten(-1, (width // 2, 2)).unbind(dim=-1)"},
    "own memory in place": {LAST: "torch.stack(turned, dim=-1).flatten(-2).add_(0.0)"},
}
WRONG = {
    "a complex view": complex_view,
    "a complex view of half of the layouts": lambda x, positions, base=10000.0: complex_view(
        x if x.stride(-1) == 1 else x.contiguous(), positions, base),
    "eight bits": {"positions[:, None]": "positions[:, None].to(torch.uint8)"},
    "counted from the first": {"positions[:, None]": "(positions[0] + torch.arange(len(positions)))[:, None]"},
    "odd only where tokens are odd": {"if width % 2:": "if width % 2 and x.shape[-2] % 2:"},
    "degrees": {"base**-exponents": "base**-exponents * torch.pi / 180"},
    "turns by two pi": {"base**-exponents": "base**-exponents * 2 * torch.pi"},
    "bfloat16 angles": {"angles = positions[:, None] * base**-exponents":
                        "angles = (positions[:, None] * base**-exponents).bfloat16()"},
    "float32 result": {LAST: f"{LAST}.float()"},
    "relative to the first": {"positions[:, None]": "(positions - positions[0])[:, None]"},
    "sorted positions": {"positions[:, None]": "positions.sort().values[:, None]"},
    "scaled": {LAST: f"{LAST} / width**0.5"},
    "residual": {LAST: f"x + {LAST}"},
    "angle cut off twice": {"angles.sin()": "(2 * angles).sin()"},
    "cosines only": {TURNED: "first * cos, second * cos"},
    "in place": {f"return {LAST}": f"return x.copy_({LAST})"},
    "x cut off": {LAST: "torch.stack(turned, dim=-1).flatten(-2).detach()"},
    "half of the gradient": {"second = x[..., 0::2], x[..., 1::2]": "second = x[..., 0::2], x[..., 1::2].detach()"},
    "TypeError for odd": {"ValueError": "TypeError"},
    "a pair": {LAST: "turned"},
    "four axes only": {"width = x.shape[-1]": "b, h, n, width = x.shape"},
    "positions per sample": {"positions[:, None]": "positions[None, :, None]"},
    "no default base": {"base=10000.0)": "base)"},
    "a run from the first position": {"positions[:, None]": "(positions[0] + torch.arange(len(positions)))[:, None]"},
    "angles kept by shape": {"positions[:, None] * base**-exponents": "apply_rope.__dict__.setdefault((len(positions), "
                             "width, base), positions[:, None] * base**-exponents)"},
    "whole numbers": {"base**-exponents": "int(base) ** -(exponents.round())"},
}
