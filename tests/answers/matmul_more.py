"""More answers to lesson 02, as people who never saw the course's own might write them."""

import functools
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

RIGHT, WRONG = {}, {}
SCORES, ATTENTION = "matmul.attention_scores", "matmul.attention"
PROJECT, MODULE = "matmul.project_qkv", "matmul.SelfAttention"


def _keep(answers, exercise_id):
    def keep(answer):
        answers.setdefault(exercise_id, {})[answer.__name__] = answer
        return answer

    return keep


right, wrong = functools.partial(_keep, RIGHT), functools.partial(_keep, WRONG)


@torch.jit.script
def _scripted_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return torch.matmul(q, k.transpose(-1, -2)) / float(q.shape[-1]) ** 0.5


class _Scores:
    def __call__(self, q, k, scale=None):
        return q.matmul(k.mT).mul(scale or q.size(-1) ** -0.5)


RIGHT[SCORES] = {
    "scripted": _scripted_scores,
    "an object": _Scores(),
    "its method": _Scores().__call__,
    "swapaxes": lambda q, k: torch.matmul(q, k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1]),
    "permuted": lambda q, k: q @ k.permute(*range(k.dim() - 2), -1, -2) * (1 / math.sqrt(k.shape[-1])),
    "divided in place": lambda q, k: (q @ k.movedim(-1, -2)).div_(math.sqrt(q.size(-1))),
    "multiplied in place": lambda q, k: torch.einsum("...id,...jd->...ij", q, k).mul_(q.size(-1) ** -0.5),
    "rsqrt": lambda q, k: q @ k.mT * torch.tensor(q.shape[-1], dtype=q.dtype).rsqrt(),
    "linear": lambda q, k: (
        F.linear(q, k) / q.shape[-1] ** 0.5
        if k.dim() == 2
        else torch.stack([RIGHT[SCORES]["linear"](a, b) for a, b in zip(q, k, strict=True)])
    ),
    "broadcast": lambda q, k: (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1).div(math.sqrt(k.size(-1))),
    "vmap": lambda q, k: torch.vmap(lambda a, b: a @ b.T / a.shape[-1] ** 0.5)(
        q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:])
    ).view(*q.shape[:-1], k.shape[-2]),
    "transposed back": lambda q, k: (k @ q.mT).mT / math.sqrt(q.shape[-1]),
    "mH": lambda q, k: q @ k.mH / q.shape[-1] ** 0.5,
    "baddbmm": lambda q, k: torch.baddbmm(
        q.new_zeros(1, 1, 1),
        q.flatten(0, -3) if q.dim() > 2 else q[None],
        (k.flatten(0, -3) if k.dim() > 2 else k[None]).mT,
        alpha=q.shape[-1] ** -0.5,
    ).view(*q.shape[:-1], k.shape[-2]),
    "power of the width": lambda q, k: q @ k.transpose(-2, -1) / pow(k.size(-1), 0.5),
}
WRONG[SCORES] = {
    "no scale": lambda q, k: q @ k.mT,
    "scale of the width": lambda q, k: q @ k.mT / q.shape[-1],
    "scale times": lambda q, k: q @ k.mT * math.sqrt(q.shape[-1]),
    "negative power": lambda q, k: q @ k.mT / q.shape[-1] ** -0.5,
    "scale of the keys": lambda q, k: q @ k.mT / math.sqrt(k.shape[-2]),
    "scale of the queries": lambda q, k: q @ k.mT / math.sqrt(q.shape[-2]),
    "scale of the first axis": lambda q, k: q @ k.mT / math.sqrt(q.shape[0]),
    "scale of eight": lambda q, k: q @ k.mT / 8,
    "whole root": lambda q, k: q @ k.mT / int(q.shape[-1] ** 0.5),
    "both scaled": lambda q, k: (q / q.shape[-1] ** 0.5) @ (k / k.shape[-1] ** 0.5).mT,
    "not transposed": lambda q, k: q @ k / q.shape[-1] ** 0.5,
    "transposed two axes": lambda q, k: q @ k.transpose(0, 1) / q.shape[-1] ** 0.5,
    "transposed one and two": lambda q, k: q @ k.transpose(1, 2) / q.shape[-1] ** 0.5,
    "T": lambda q, k: q @ k.T / q.shape[-1] ** 0.5,
    "reshaped": lambda q, k: q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / q.shape[-1] ** 0.5,
    "keys ask": lambda q, k: k @ q.mT / q.shape[-1] ** 0.5,
    "queries with themselves": lambda q, k: q @ q.mT / q.shape[-1] ** 0.5,
    "softmax": lambda q, k: torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1),
    "float": lambda q, k: (q.float() @ k.float().mT) / q.shape[-1] ** 0.5,
    "root in float": lambda q, k: (q @ k.mT) / torch.sqrt(torch.tensor([q.shape[-1]], dtype=torch.float64)),
    "q in place": lambda q, k: q.div_(math.sqrt(q.shape[-1])) @ k.mT,
    "mean for sum": lambda q, k: (q.unsqueeze(-2) * k.unsqueeze(-3)).mean(-1),
    "no grad": torch.no_grad()(lambda q, k: q @ k.mT / q.shape[-1] ** 0.5),
    "numpy": lambda q, k: torch.from_numpy(
        q.detach().numpy() @ k.detach().mT.numpy() / math.sqrt(q.shape[-1])
    ),
    "distances": lambda q, k: -torch.cdist(q, k) / q.shape[-1] ** 0.5,
    "batch mixed": lambda q, k: torch.einsum("...id,...jd->ij", q, k) / q.shape[-1] ** 0.5,
    "a list": lambda q, k: [a @ b.mT / q.shape[-1] ** 0.5 for a, b in zip(q, k, strict=False)],
    "no scale and turned": lambda q, k: k @ q.mT,
    "noise": lambda q, k: q @ k.mT / q.shape[-1] ** 0.5 + 1e-3 * torch.randn(1),
}


def _weights(q, k):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)


@torch.jit.script
def _scripted(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / float(k.size(-1)) ** 0.5, dim=-1)
    return torch.matmul(weights, v)


@right(ATTENTION)
def with_named_steps(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, dropout: float = 0.0) -> torch.Tensor:
    d_k = k.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / torch.sqrt(torch.tensor(d_k, dtype=q.dtype))
    weights = F.dropout(F.softmax(scores, dim=-1), p=dropout)
    return torch.matmul(weights, v)


@right(ATTENTION)
def exponentials_in_place(q, k, v):
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    grown = scores.sub(scores.amax(-1, keepdim=True)).exp_()
    return (grown @ v) / grown.sum(-1, keepdim=True)


@right(ATTENTION)
def with_asserts(q, k, v):
    assert q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]
    logits = torch.einsum("...nd,...md->...nm", q, k).div(q.shape[-1] ** 0.5)
    return torch.einsum("...nm,...me->...ne", logits.softmax(-1), v)


@right(ATTENTION)
def helper_inside(q, k, v):
    def softmax(x):
        x = x - x.max(dim=-1, keepdim=True).values
        return x.exp() / x.exp().sum(dim=-1, keepdim=True)

    return softmax(q @ k.mT / q.shape[-1] ** 0.5) @ v


@right(ATTENTION)
def by_transposed_values(q, k, v):
    return (v.mT @ _weights(q, k).mT).mT


@right(ATTENTION)
def by_bmm_of_flat(q, k, v):
    lead = q.shape[:-2]
    a, b, c = (t.reshape(-1, *t.shape[-2:]) for t in (q, k, v))
    weights = torch.bmm(a, b.transpose(1, 2)).div(math.sqrt(a.size(2))).softmax(2)
    return torch.bmm(weights, c).reshape(*lead, q.shape[-2], v.shape[-1])


@right(ATTENTION)
def by_vmap(q, k, v):
    def one(q, k, v):
        return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, -1) @ v

    flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
    return torch.vmap(one)(*flat).reshape(*q.shape[:-1], v.shape[-1])


class _Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)
        self.dropout = nn.Identity()

    def forward(self, q, k, v, *, return_weights=False):
        weights = self.dropout(self.softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5))
        return (weights @ v, weights) if return_weights else weights @ v


RIGHT[ATTENTION] |= {
    "scripted": _scripted,
    "a module with parts": _Attends(),
    "staticmethod": staticmethod(with_named_steps).__func__,
    "lambda": lambda q, k, v: _weights(q, k) @ v,
    "softmax of numbers": lambda q, k, v: (q @ k.mT).div(k.shape[-1] ** 0.5).softmax(dim=k.dim() - 1) @ v,
    "partial": functools.partial(with_named_steps, dropout=0.0),
    "one axis more": lambda q, k, v: (_weights(q, k)[..., None] * v[..., None, :, :]).sum(-2),
    "by log": lambda q, k, v: F.log_softmax(q @ k.mT / q.shape[-1] ** 0.5, -1).exp().matmul(v),
}


def _in_place_keys(q, k, v):
    k.mul_(k.shape[-1] ** -0.5)
    return torch.softmax(q @ k.mT, -1) @ v


_KEPT = {}


def _kept_by_shape(q, k, v):
    if q.shape not in _KEPT:
        _KEPT[q.shape] = _weights(q, k).detach()
    weights = _KEPT[q.shape]
    return (weights if weights.shape[-1] == k.shape[-2] and weights.dtype == v.dtype else _weights(q, k)) @ v


def _chunks(q, k, v):
    return torch.cat([_weights(part, k) @ v for part in q.split(1, dim=-2)], dim=-2)


WRONG[ATTENTION] = {
    "no scale": lambda q, k, v: torch.softmax(q @ k.mT, -1) @ v,
    "scale of the width": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1], -1) @ v,
    "scale of the values": lambda q, k, v: torch.softmax(q @ k.mT / v.shape[-1] ** 0.5, -1) @ v,
    "scale of the keys": lambda q, k, v: torch.softmax(q @ k.mT / k.shape[-2] ** 0.5, -1) @ v,
    "scale of the second axis": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[1] ** 0.5, -1) @ v,
    "scale times": lambda q, k, v: torch.softmax(q @ k.mT * q.shape[-1] ** 0.5, -1) @ v,
    "scale after": lambda q, k, v: torch.softmax(q @ k.mT, -1) / q.shape[-1] ** 0.5 @ v,
    "whole root": lambda q, k, v: torch.softmax(q @ k.mT / max(1, int(q.shape[-1] ** 0.5)), -1) @ v,
    "scale of eight": lambda q, k, v: torch.softmax(q @ k.mT / 8.0, -1) @ v,
    "softmax over queries": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -2) @ v,
    "softmax over axis 1": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, 1) @ v,
    "softmax over axis 0": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, 0) @ v,
    "softmax over axis 2": lambda q, k, v: torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, 2) @ v,
    "no softmax": lambda q, k, v: q @ k.mT / q.shape[-1] ** 0.5 @ v,
    "softmax twice": lambda q, k, v: torch.softmax(_weights(q, k), -1) @ v,
    "log-softmax": lambda q, k, v: F.log_softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v,
    "sigmoid": lambda q, k, v: torch.sigmoid(q @ k.mT / q.shape[-1] ** 0.5) @ v,
    "no shift": lambda q, k, v: (e := (q @ k.mT / q.shape[-1] ** 0.5).exp()) @ v / e.sum(-1, keepdim=True),
    "keys mixed": lambda q, k, v: _weights(q, k) @ k,
    "queries mixed": lambda q, k, v: _weights(q, k) @ q,
    "weights back": lambda q, k, v: _weights(q, k),
    "both back": lambda q, k, v: (_weights(q, k) @ v, _weights(q, k)),
    "residual": lambda q, k, v: _weights(q, k) @ v + (q if q.shape[-1] == v.shape[-1] else 0),
    "dropout": lambda q, k, v: F.dropout(_weights(q, k), 0.1) @ v,
    "detached": lambda q, k, v: (_weights(q, k) @ v).detach(),
    "queries detached": lambda q, k, v: _weights(q.detach(), k) @ v,
    "values' data": lambda q, k, v: _weights(q, k) @ v.data,
    "float32": lambda q, k, v: _weights(q.float(), k.float()) @ v.float(),
    "k.T": lambda q, k, v: torch.softmax(q @ k.T / q.shape[-1] ** 0.5, -1) @ v,
    "k reshaped": lambda q, k, v: (
        torch.softmax(q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / q.shape[-1] ** 0.5, -1) @ v
    ),
    "keys in place": _in_place_keys,
    "kept by shape": _kept_by_shape,
    "comprehension over chunks": _chunks,
    "no scale and softmax over queries": lambda q, k, v: torch.softmax(q @ k.mT, -2) @ v,
    "no scale and keys mixed": lambda q, k, v: torch.softmax(q @ k.mT, -1) @ k,
    "samples flattened": lambda q, k, v: (
        _weights(q.reshape(-1, q.shape[-1]), k.reshape(-1, k.shape[-1])) @ v.reshape(-1, v.shape[-1])
    ).view(*q.shape[:-1], v.shape[-1]),
    "causal": lambda q, k, v: (
        torch.softmax(
            (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(
                torch.ones(q.shape[-2], k.shape[-2]).triu(1).bool(), -1e9
            ),
            -1,
        )
        @ v
    ),
    "best only": lambda q, k, v: F.one_hot((q @ k.mT).argmax(-1), k.shape[-2]).to(v.dtype) @ v,
    "normed": lambda q, k, v: torch.softmax(F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT, -1) @ v,
    "first sample's keys": lambda q, k, v: _weights(q, k[:1] if k.dim() > 2 else k) @ v,
}


# project_qkv


RIGHT[PROJECT] = {
    "mm of flat": lambda x, w_q, w_k, w_v: tuple(
        x.reshape(-1, x.shape[-1]).mm(w).view(*x.shape[:-1], -1) for w in (w_q, w_k, w_v)
    ),
    "matmul": lambda x, w_q, w_k, w_v: (torch.matmul(x, w_q), torch.matmul(x, w_k), torch.matmul(x, w_v)),
    "one einsum": lambda x, w_q, w_k, w_v: torch.einsum(
        "...i,pio->p...o", x, torch.stack((w_q, w_k, w_v))
    ).unbind(0),
    "chunked": lambda x, w_q, w_k, w_v: (x @ torch.cat([w_q, w_k, w_v], dim=-1)).chunk(3, dim=-1),
    "tensor_split": lambda x, w_q, w_k, w_v: tuple((x @ torch.hstack((w_q, w_k, w_v))).tensor_split(3, -1)),
    "unflattened": lambda x, w_q, w_k, w_v: (
        (x @ torch.cat((w_q, w_k, w_v), 1)).unflatten(-1, (3, -1)).unbind(-2)
    ),
    "typed": lambda x, w_q, w_k, w_v, *, verbose=False: (x @ w_q, x @ w_k, x @ w_v),
    "vmap over weights": lambda x, w_q, w_k, w_v: tuple(
        torch.vmap(lambda w: x @ w)(torch.stack([w_q, w_k, w_v]))
    ),
    "inner": lambda x, w_q, w_k, w_v: tuple(torch.inner(x, w.T) for w in (w_q, w_k, w_v)),
    "transposed": lambda x, w_q, w_k, w_v: tuple((w.T @ x.mT).mT for w in (w_q, w_k, w_v)),
    "bilinear names": lambda x, w_q, w_k, w_v: (q := x @ w_q, x @ w_k, x @ w_v) and (q, x @ w_k, x @ w_v),
    "broadcast sum": lambda x, w_q, w_k, w_v: tuple((x[..., None] * w).sum(-2) for w in (w_q, w_k, w_v)),
}


def _x_in_place(x, w_q, w_k, w_v):
    x += 0.1
    return x @ w_q, x @ w_k, x @ w_v


WRONG[PROJECT] = {
    "a list": lambda x, w_q, w_k, w_v: [x @ w_q, x @ w_k, x @ w_v],
    "stacked": lambda x, w_q, w_k, w_v: torch.stack((x @ w_q, x @ w_k, x @ w_v)),
    "concatenated": lambda x, w_q, w_k, w_v: torch.cat((x @ w_q, x @ w_k, x @ w_v), -1),
    "q, v, k": lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_v, x @ w_k),
    "k, q, v": lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_q, x @ w_v),
    "queries thrice": lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q, x @ w_q),
    "keys for values": lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_k),
    "chained": lambda x, w_q, w_k, w_v: (
        q := x @ w_q,
        q @ w_k if w_k.shape[0] == w_k.shape[1] else x @ w_k,
        x @ w_v,
    ),
    "transposed": lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T),
    "weight first": lambda x, w_q, w_k, w_v: (w_q @ x, w_k @ x, w_v @ x),
    "elementwise": lambda x, w_q, w_k, w_v: (x * w_q, x * w_k, x * w_v),
    "relu": lambda x, w_q, w_k, w_v: tuple(torch.relu(x @ w) for w in (w_q, w_k, w_v)),
    "scaled": lambda x, w_q, w_k, w_v: (x @ w_q / w_q.shape[1] ** 0.5, x @ w_k, x @ w_v),
    "normed": lambda x, w_q, w_k, w_v: tuple(F.layer_norm(x, x.shape[-1:]) @ w for w in (w_q, w_k, w_v)),
    "two of them": lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k),
    "detached": lambda x, w_q, w_k, w_v: tuple((x @ w).detach() for w in (w_q, w_k, w_v)),
    "keys detached": lambda x, w_q, w_k, w_v: (x @ w_q, (x @ w_k).detach(), x @ w_v),
    "x detached": lambda x, w_q, w_k, w_v: tuple(x.data @ w for w in (w_q, w_k, w_v)),
    "float": lambda x, w_q, w_k, w_v: tuple(x.float() @ w.float() for w in (w_q, w_k, w_v)),
    "turned results": lambda x, w_q, w_k, w_v: tuple((x @ w).mT for w in (w_q, w_k, w_v)),
    "x in place": _x_in_place,
    "x kept too": lambda x, w_q, w_k, w_v: (x, x @ w_q, x @ w_k, x @ w_v),
    "residual": lambda x, w_q, w_k, w_v: tuple(
        x @ w + (x if w.shape[0] == w.shape[1] else 0) for w in (w_q, w_k, w_v)
    ),
    "softmax": lambda x, w_q, w_k, w_v: tuple(torch.softmax(x @ w, -1) for w in (w_q, w_k, w_v)),
    "summed weights": lambda x, w_q, w_k, w_v: (x @ (w_q + w_k), x @ w_k, x @ w_v),
    "values of the keys": lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_k),
}


# SelfAttention


class _Base(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.randn(d_in, d_out))
        self.W_key = nn.Parameter(torch.randn(d_in, d_out))
        self.W_value = nn.Parameter(torch.randn(d_in, d_out))

    def qkv(self, x):
        return x @ self.W_query, x @ self.W_key, x @ self.W_value


def _module(answers):
    def keep(forward):
        answers.setdefault(MODULE, {})[forward.__name__] = type(
            "SelfAttention", (_Base,), {"forward": forward}
        )
        return forward

    return keep


@_module(RIGHT)
def in_steps(self, x):
    q, k, v = self.qkv(x)
    scores = torch.matmul(q, k.transpose(-1, -2)) / torch.sqrt(torch.tensor(k.shape[-1], dtype=x.dtype))
    return torch.softmax(scores, dim=-1) @ v


@_module(RIGHT)
def with_linear(self, x):
    q, k, v = (F.linear(x, w.T) for w in (self.W_query, self.W_key, self.W_value))
    return F.softmax(q.matmul(k.mT).mul(q.size(-1) ** -0.5), -1).matmul(v)


@_module(RIGHT)
def by_parameters(self, x):
    q, k, v = (x @ p for p in self.parameters())
    return _weights(q, k) @ v


@_module(RIGHT)
def packed(self, x):
    q, k, v = (x @ torch.cat((self.W_query, self.W_key, self.W_value), -1)).chunk(3, -1)
    return _weights(q, k) @ v


@_module(RIGHT)
def associated_otherwise(self, x):
    between = self.W_query @ self.W_key.T / self.W_query.shape[1] ** 0.5
    return torch.softmax(x @ between @ x.mT, -1) @ x @ self.W_value


@_module(RIGHT)
def with_more_arguments(self, x, *, verbose=False, **unused):
    q, k, v = self.qkv(x)
    return torch.einsum("...nm,...me->...ne", _weights(q, k), v)


@_module(RIGHT)
def keeps_what_it_saw(self, x):
    q, k, v = self.qkv(x)
    self.weights = _weights(q, k).detach()
    self.calls = getattr(self, "calls", 0) + 1
    return _weights(q, k) @ v


class _Initialised(_Base):
    """Parameters that start otherwise, made in a loop, and more inside."""

    def __init__(self, d_in: int, d_out: int, bias: bool = False):
        nn.Module.__init__(self)
        for name in ("value", "key", "query"):
            self.register_parameter(f"W_{name}", nn.Parameter(torch.empty(d_in, d_out)))
            nn.init.xavier_uniform_(getattr(self, f"W_{name}"))
        self.register_buffer("scale", torch.tensor(d_out**-0.5), persistent=False)
        self.softmax, self.norm = nn.Softmax(dim=-1), nn.Identity()

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x))
        return self.softmax(q * self.scale @ k.mT) @ v


class _OfLinears(nn.Module):
    """Parameters of its own beside layers that are not used."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3))
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        return _weights(x @ self.W_query, x @ self.W_key) @ (x @ self.W_value)


RIGHT[MODULE] |= {
    "initialised": _Initialised,
    "more layers": _OfLinears,
    "a lambda": lambda d_in, d_out: _OfLinears(d_in=d_in, d_out=d_out),
    "a partial": functools.partial(_Initialised, bias=True),
}


@_module(WRONG)
def module_without_scale(self, x):
    q, k, v = self.qkv(x)
    return torch.softmax(q @ k.mT, -1) @ v


@_module(WRONG)
def module_scale_of_the_input(self, x):
    q, k, v = self.qkv(x)
    return torch.softmax(q @ k.mT / math.sqrt(x.shape[-1]), -1) @ v


@_module(WRONG)
def module_scale_of_the_tokens(self, x):
    q, k, v = self.qkv(x)
    return torch.softmax(q @ k.mT / math.sqrt(x.shape[-2]), -1) @ v


@_module(WRONG)
def module_softmax_over_axis_1(self, x):
    q, k, v = self.qkv(x)
    return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=1) @ v


@_module(WRONG)
def module_k_t(self, x):
    q, k, v = self.qkv(x)
    return torch.softmax(q @ k.T / math.sqrt(k.shape[-1]), dim=-1) @ v


@_module(WRONG)
def module_values_are_x(self, x):
    q, k, _ = self.qkv(x)
    return _weights(q, k) @ x


@_module(WRONG)
def module_values_are_keys(self, x):
    q, k, _ = self.qkv(x)
    return _weights(q, k) @ k


@_module(WRONG)
def module_queries_twice(self, x):
    q, _, v = self.qkv(x)
    return _weights(q, q) @ v


@_module(WRONG)
def module_swapped(self, x):
    q, k, v = self.qkv(x)
    return _weights(k, q) @ v


@_module(WRONG)
def module_transposed_weights(self, x):
    q, k, v = x @ self.W_query.T, x @ self.W_key.T, x @ self.W_value.T
    return _weights(q, k) @ v


@_module(WRONG)
def module_with_relu(self, x):
    q, k, v = (torch.relu(t) for t in self.qkv(x))
    return _weights(q, k) @ v


@_module(WRONG)
def module_with_dropout(self, x):
    q, k, v = self.qkv(x)
    return F.dropout(_weights(q, k), 0.1, self.training) @ v


@_module(WRONG)
def module_causal(self, x):
    q, k, v = self.qkv(x)
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    return scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf).softmax(-1) @ v


@_module(WRONG)
def module_back_with_weights(self, x):
    q, k, v = self.qkv(x)
    return _weights(q, k) @ v, _weights(q, k)


@_module(WRONG)
def module_new_weights(self, x):
    q, k, v = (x @ torch.randn_like(p) for p in self.parameters())
    return _weights(q, k) @ v


@_module(WRONG)
def module_by_data(self, x):
    q, k, v = x @ self.W_query.data, x @ self.W_key.data, x @ self.W_value
    return _weights(q, k) @ v


@_module(WRONG)
def module_no_grad(self, x):
    with torch.no_grad():
        q, k, v = self.qkv(x)
        return _weights(q, k) @ v


@_module(WRONG)
def module_mean(self, x):
    q, k, v = self.qkv(x)
    return (_weights(q, k) @ v).mean(-2)


@_module(WRONG)
def module_residual_by_width(self, x):
    q, k, v = self.qkv(x)
    return _weights(q, k) @ v + (x if x.shape[-1] == v.shape[-1] else 0)


@_module(WRONG)
def module_float(self, x):
    q, k, v = (t.float() for t in self.qkv(x))
    return _weights(q, k) @ v


@_module(WRONG)
def module_without_scale_and_with_columns(self, x):
    q, k, v = self.qkv(x)
    return torch.softmax(q @ k.mT, -2) @ v


@_module(WRONG)
def module_returns_nothing(self, x):
    q, k, v = self.qkv(x)
    self.output = _weights(q, k) @ v


class _Linears(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))

    def forward(self, x):
        return _weights(self.W_query(x), self.W_key(x)) @ self.W_value(x)


class _PlainTensors(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (torch.randn(d_in, d_out) for _ in range(3))

    forward = in_steps
    qkv = _Base.qkv


class _Buffers(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            self.register_buffer(name, torch.randn(d_in, d_out))

    forward = in_steps
    qkv = _Base.qkv


class _Frozen(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_key.requires_grad_(False)

    forward = in_steps


class _ScaleKept(_Base):
    scale = None

    def forward(self, x):
        q, k, v = self.qkv(x)
        _ScaleKept.scale = _ScaleKept.scale or math.sqrt(k.shape[-1])
        return torch.softmax(q @ k.mT / _ScaleKept.scale, -1) @ v


class _OneWeight(_Base):
    def __init__(self, d_in, d_out):
        super().__init__(d_in, d_out)
        self.W_key = self.W_query

    forward = in_steps


WRONG[MODULE] |= {
    "linears": _Linears,
    "plain tensors": _PlainTensors,
    "buffers": _Buffers,
    "frozen": _Frozen,
    "scale kept by the class": _ScaleKept,
    "one weight": _OneWeight,
    "a function": lambda d_in, d_out: lambda x: x,
}
