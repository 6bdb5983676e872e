"""Answers to decoder.feed_forward."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import einsum, nn


def erf_gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def normal_gelu(x):
    return x * torch.distributions.Normal(0.0, 1.0).cdf(x)


def by_matmul(x, linear1, linear2):
    inner = x @ linear1.weight.T + linear1.bias
    return erf_gelu(inner) @ linear2.weight.T + linear2.bias


def by_einsum(x, linear1, linear2):
    inner = F.gelu(einsum("...i,oi->...o", x, linear1.weight) + linear1.bias)
    return einsum("...i,oi->...o", inner, linear2.weight) + linear2.bias


def token_by_token(x, linear1, linear2):
    tokens = [linear2(F.gelu(linear1(token))) for token in x.reshape(-1, x.shape[-1])]
    return torch.stack(tokens).reshape(*x.shape[:-1], -1)


def by_addmm(x, linear1, linear2):
    flat = x.reshape(-1, x.shape[-1])
    inner = torch.addmm(linear1.bias, flat, linear1.weight.t())
    return torch.addmm(linear2.bias, F.gelu(inner), linear2.weight.t()).view(*x.shape[:-1], -1)


def own_work_in_place(x, linear1, linear2):
    hidden = linear1(x)
    hidden = hidden * torch.special.ndtr(hidden)
    out = F.linear(hidden, linear2.weight)
    out += linear2.bias
    return out


def feature_by_feature(x, linear1, linear2):
    hidden = F.gelu(linear1(x))
    out = linear2.bias.expand(*x.shape[:-1], -1).clone()
    for i in range(hidden.shape[-1]):
        out = out + hidden[..., i : i + 1] * linear2.weight[:, i]
    return out


class Caller:
    def __init__(self):
        self.activation = nn.GELU()

    def __call__(self, x, linear1, linear2, dropout=0.0):
        return F.dropout(linear2(self.activation(linear1(x))), dropout)


CURVE, LAST = "F.gelu(inner)", "linear2(inner)"
TANH = "0.5 * inner * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (inner + 0.044715 * inner**3)))"
RIGHT = {
    "one line": lambda x, linear1, linear2: linear2(nn.GELU()(linear1(x))),
    "nn.Sequential": lambda x, linear1, linear2: nn.Sequential(linear1, nn.GELU(), linear2)(x),
    "cumulated normal": lambda x, linear1, linear2: linear2(normal_gelu(linear1(x))),
    "matmul": by_matmul,
    "einsum": by_einsum,
    "token by token": token_by_token,
    "addmm": by_addmm,
    "own work in place": own_work_in_place,
    "feature by feature": feature_by_feature,
    "callable object": Caller(),
    "partial": functools.partial(lambda act, x, linear1, linear2: linear2(act(linear1(x))), F.gelu),
    "evaluation mode": lambda x, linear1, linear2: linear2.eval()(F.gelu(linear1.eval()(x))),
}
WRONG = {
    "tanh form by hand": {CURVE: TANH},
    "tanh form for large numbers only": {CURVE: f"torch.where(inner.abs() > 2, {TANH}, F.gelu(inner))"},
    "cubic term of another size": {CURVE: TANH.replace("0.044715", "0.04")},
    "large numbers cut": {CURVE: "F.gelu(inner.clamp(-6, 6))"},
    "ReLU far from zero": {CURVE: "torch.where(inner.abs() > 3, torch.relu(inner), F.gelu(inner))"},
    "exp instead of erf": {CURVE: "inner * (1 - 0.5 * torch.exp(-inner.clamp(min=0)))"},
    "mish": {CURVE: "F.mish(inner)"},
    "softplus": {CURVE: "F.softplus(inner)"},
    "a tanh GELU of both": {CURVE: "(F.gelu(inner) + F.gelu(inner, approximate='tanh')) / 2"},
    "GELU twice": {CURVE: "F.gelu(F.gelu(inner))"},
    "gated by itself": {CURVE: "F.gelu(inner) * inner"},
    "dropout": {CURVE: "F.dropout(F.gelu(inner), 0.1)"},
    "hidden normed": {LAST: "linear2(F.normalize(inner, dim=-1))"},
    "bias twice": {LAST: "linear2(inner) + linear2.bias"},
    "first bias left out": {"linear1(x)": "F.linear(x, linear1.weight)"},
    "last feature left out": {LAST: "F.linear(inner[..., :-1], linear2.weight[:, :-1], linear2.bias)"},
    "residual of the inside": {LAST: "linear2(inner + linear1(x))"},
    "mean over the tokens": {LAST: "linear2(inner - inner.mean(-2, keepdim=True))"},
    "linears in float32": {"linear1(x)": "linear1.float()(x.float())", LAST: "linear2.float()(inner)"},
    "the inside cut off": {LAST: "linear2(inner.detach())"},
    "no_grad": torch.no_grad()(by_einsum),
    "in place on x": {f"return {LAST}": f"return x.copy_({LAST})"},
}
