"""Answers to norms.layer_norm."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def by_var(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


def by_var_mean(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * (var + eps).rsqrt(), weight)


def by_std(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1)[..., None]
    std = x.std(-1, correction=0, keepdim=True)
    return weight * centred * (std**2 + eps) ** -0.5 + bias


def by_sums(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    c = x - x.sum(-1, keepdim=True) / d
    return weight * c / (c.pow(2).sum(-1, keepdim=True) / d + eps).sqrt() + bias


def by_einsum(x, weight, bias, eps=1e-5):
    c = x - torch.einsum("...d->...", x).unsqueeze(-1) / x.size(-1)
    variance = torch.einsum("...d,...d->...", c, c).unsqueeze(-1) / x.size(-1)
    return torch.einsum("...d,d->...d", c / torch.sqrt(variance + eps), weight) + bias


def token_by_token(x, weight, bias, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        centred = row - row.mean()
        rows.append(centred / (centred @ centred / len(row) + eps).sqrt())
    return torch.stack(rows).reshape(x.shape) * weight + bias


def centring_matrix(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centre = torch.eye(d, dtype=x.dtype) - 1 / d
    # Numbers with mean 10,000 are first shifted close to zero, which does not change the result.
    c = (x - x[..., :1].detach()) @ centre
    return c / ((c * c).mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def in_double(x, weight, bias, eps=1e-5):
    y = x.double()
    y = (y - y.mean(-1, keepdim=True)) / (y.square().mean(-1, keepdim=True) - y.mean(-1,
                                                                                     keepdim=True) ** 2 + eps).sqrt()
    return (y * weight + bias).to(x.dtype)


def by_length(x, weight, bias, eps=1e-5):
    c = x - x.mean(dim=-1, keepdim=True)
    length = torch.linalg.vector_norm(c, dim=-1, keepdim=True)
    return c / torch.sqrt(length**2 / x.shape[-1] + eps) * weight + bias


def by_hypot(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    return torch.div(x - mean, torch.hypot(x.std(-1, correction=0, keepdim=True), x.new_tensor(math.sqrt(eps)))).mul(
        weight
    ).add(bias)


VARIANCE = "centred.square().mean(dim=-1, keepdim=True)"
ROOT, LAST = "torch.sqrt(variance + eps)", "return normed * weight + bias"
RIGHT = {
    "var": by_var,
    "var_mean": by_var_mean,
    "std squared": by_std,
    "sums": by_sums,
    "einsum": by_einsum,
    "token by token": token_by_token,
    "centring matrix": centring_matrix,
    "float64 inside": in_double,
    "by the length": by_length,
    "hypot": by_hypot,
    "own memory in place": {LAST: "normed *= weight\n    normed += bias\n    return normed",
                            f"centred / {ROOT}": f"(centred / {ROOT}).clone()"},
}
WRONG = {
    "F.layer_norm": lambda x, weight, bias, eps=1e-5: F.layer_norm(x, weight.shape, weight, bias, eps),
    "torch.layer_norm": lambda x, weight, bias, eps=1e-5: torch.layer_norm(x, weight.shape, weight, bias, eps),
    "native": lambda x, weight, bias, eps=1e-5: torch.native_layer_norm(x, weight.shape, weight, bias, eps)[0],
    "kernel": lambda x, weight, bias, eps=1e-5: torch.ops.aten.layer_norm(x, weight.shape, weight, bias, eps),
    "nn.LayerNorm": lambda x, weight, bias, eps=1e-5: nn.LayerNorm(x.shape[-1], eps, False).to(x)(x) * weight + bias,
    "its forward": lambda x, weight, bias, eps=1e-5: nn.LayerNorm(x.shape[-1], eps, False).forward(x) * weight + bias,
    "group norm": lambda x, weight, bias, eps=1e-5: F.group_norm(x.reshape(-1, x.shape[-1]), 1, weight, bias, eps)
    .reshape(x.shape),
    "rms norm of what is centred": lambda x, weight, bias, eps=1e-5: F.rms_norm(x - x.mean(-1, keepdim=True),
                                                                               weight.shape, weight, eps) + bias,
    "batch norm of tokens": lambda x, weight, bias, eps=1e-5: F.batch_norm(x.reshape(1, -1, x.shape[-1]), None, None,
                                                                          training=True, eps=eps).reshape(x.shape)
    * weight + bias,
    "normalize": lambda x, weight, bias, eps=1e-5: F.normalize(x - x.mean(-1, keepdim=True), dim=-1)
    * x.shape[-1] ** 0.5 * weight + bias,
    "median": {"x.mean(dim=-1, keepdim=True)": "x.median(dim=-1, keepdim=True).values"},
    "range": {ROOT: "(x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps)"},
    "softmax": {LAST: "return torch.softmax(normed, -1) * weight + bias"},
    "bias taken away": {LAST: "return normed * weight - bias"},
    "weight divides": {LAST: "return normed / weight + bias"},
    "float32": {LAST: "return (normed * weight + bias).float()"},
    "in place": {LAST: "return x.copy_(normed * weight + bias)"},
    "NaN cleaned": {"variance + eps": "variance", LAST: "return normed.nan_to_num() * weight + bias"},
    "eps squared": {"variance + eps": "variance + eps**2"},
    "x detached": {"centred = x - mean": "centred = x.detach() - mean"},
    "weight detached": {LAST: "return normed * weight.detach() + bias"},
    "three axes only": {"mean = x": "b, n, d = x.shape\n    mean = x"},
    "half": {"x.mean(": "x.half().mean("},
}
