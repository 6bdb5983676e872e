"""Answers to norms.rms_norm."""

import torch
import torch.nn.functional as F
from torch import nn


def by_rsqrt(x, weight, eps=1e-6):
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))


def by_sum(x, weight, eps=1e-6):
    total = (x * x).sum(-1, keepdim=True)
    return x / (total / x.shape[-1] + eps).sqrt() * weight


def by_length(x, weight, eps=1e-6):
    length = x.norm(dim=-1, keepdim=True)
    return x * weight / (length.square() / x.size(-1) + eps) ** 0.5


def by_einsum(x, weight, eps=1e-6):
    mean_square = torch.einsum("...d,...d->...", x, x) / x.size(-1)
    return torch.einsum("...d,...,d->...d", x, (mean_square + eps) ** -0.5, weight)


def by_matmul(x, weight, eps=1e-6):
    square = x[..., None, :] @ x[..., None]
    return x / torch.sqrt(square[..., 0] / x.shape[-1] + eps) @ torch.diag(weight)


def token_by_token(x, weight, eps=1e-6):
    rows = [row / ((row**2).mean() + eps).sqrt() for row in x.flatten(0, -2)] if x.dim() > 1 else None
    return by_rsqrt(x, weight, eps) if rows is None else torch.stack(rows).view(x.shape) * weight


def in_double(x, weight, eps=1e-6):
    wide = x.to(torch.float64)
    return (wide / (wide.square().mean(dim=-1, keepdim=True) + eps).sqrt()).to(x.dtype) * weight


def by_log(x, weight, eps=1e-6):
    return x * torch.exp(-0.5 * torch.log(x.square().mean(-1, keepdim=True) + eps)) * weight


LAST, ROOT = "return normed * weight", "torch.sqrt(variance + eps)"
RIGHT = {
    "rsqrt": by_rsqrt,
    "sum": by_sum,
    "length": by_length,
    "einsum": by_einsum,
    "matmul": by_matmul,
    "token by token": token_by_token,
    "float64 inside": in_double,
    "exp of a log": by_log,
}
WRONG = {
    "float32 inside": lambda x, weight, eps=1e-6: (
        x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + eps)).to(x) * weight,
    "F.rms_norm": lambda x, weight, eps=1e-6: F.rms_norm(x, weight.shape, weight, eps),
    "torch.rms_norm": lambda x, weight, eps=1e-6: torch.rms_norm(x, weight.shape, weight, eps),
    "nn.RMSNorm": lambda x, weight, eps=1e-6: nn.RMSNorm(x.shape[-1], eps, False)(x) * weight,
    "layer norm": lambda x, weight, eps=1e-6: F.layer_norm(x, weight.shape, weight, None, eps),
    "layer norm of x and -x": lambda x, weight, eps=1e-6: F.layer_norm(torch.cat((x, -x), -1), (2 * len(weight),), None,
                                                                       None, eps)[..., : len(weight)] * weight,
    "normalize": {"x / torch.sqrt(variance + eps)": "torch.nn.functional.normalize(x, dim=-1) * x.shape[-1] ** 0.5"},
    "the largest": {ROOT: "(x.abs().amax(-1, keepdim=True) + eps)"},
    "no divisor": {f"x / {ROOT}": "x"},
    "half the square": {"variance + eps": "variance / 2 + eps"},
    "weight added": {LAST: "return normed + weight"},
    "weight squared": {LAST: "return normed * weight * weight"},
    "NaN cleaned": {"variance + eps": "variance", LAST: "return normed.nan_to_num() * weight"},
    "eps in the product": {LAST: "return normed * (weight + eps)", "variance + eps": "variance"},
    "float32": {LAST: "return (normed * weight).float()"},
    "in place": {LAST: "return x.copy_(normed * weight)"},
    "weight detached": {LAST: "return normed * weight.detach()"},
    "fourth root": {ROOT: "torch.sqrt(torch.sqrt(variance + eps))"},
    "clamped": {LAST: "return (normed * weight).clamp(-3, 3)"},
    "three axes only": {"square = x": "b, n, d = x.shape\n    square = x"},
}
