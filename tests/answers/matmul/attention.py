"""Answers to matmul.attention."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn


def weights_of(q, k):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)


def softmax_by_hand(q, k, v):
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    grown = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    return grown @ v / grown.sum(-1, keepdim=True)


def by_logsumexp(q, k, v):
    scores = q @ (k / k.shape[-1] ** 0.5).mT
    return torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ v


def all_by_broadcasting(q, k, v):
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / math.sqrt(q.shape[-1])
    return (F.softmax(scores, -1)[..., None] * v[..., None, :, :]).sum(-2)


def by_bmm(q, k, v):
    fold = [x.reshape(-1, *x.shape[-2:]) for x in (q, k, v)]
    weights = torch.bmm(fold[0], fold[1].mT).div(math.sqrt(q.shape[-1])).softmax(dim=2)
    return torch.bmm(weights, fold[2]).reshape(*q.shape[:-1], v.shape[-1])


def keys_as_rows(q, k, v):
    weights = torch.softmax(k @ q.mT / math.sqrt(q.shape[-1]), dim=-2)
    return (v.mT @ weights).mT


def ones_append_the_sum(q, k, v):
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1])
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    mixed = grown @ torch.cat([v, torch.ones_like(v[..., :1])], dim=-1).double()
    return (mixed[..., :-1] / mixed[..., -1:]).to(q.dtype)


def in_place_on_temporaries(q, k, v, verbose=True):
    assert q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]
    scores = torch.einsum("...nd,...md->...nm", q, k)
    scores.mul_(q.shape[-1] ** -0.5)
    return torch.einsum("...nm,...me->...ne", scores.softmax(-1), v)


def by_vmap(q, k, v):
    def one(q, k, v):
        return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, -1) @ v

    flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
    return torch.vmap(one)(*flat).reshape(*q.shape[:-1], v.shape[-1])


class Attention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.softmax, self.dropout = nn.Softmax(dim=-1), nn.Dropout(dropout)

    def forward(self, q, k, v, *, return_weights=False):
        weights = self.dropout(self.softmax(q @ k.mT / math.sqrt(q.shape[-1])))
        return (weights @ v, weights) if return_weights else weights @ v


@torch.jit.script
def scripted(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / float(k.size(-1)) ** 0.5, dim=-1)
    return torch.matmul(weights, v)


@torch.jit.script
def fused_scripted(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = functools.partial(F.scaled_dot_product_attention, dropout_p=0.0)

    def forward(self, q, k, v):
        return self.attend(q, k, v)


def loop_over_queries(q, k, v):
    return torch.cat([weights_of(part, k) @ v for part in q.split(1, dim=-2)], dim=-2)


def loop_over_samples(q, k, v):
    if q.dim() == 2:
        return weights_of(q, k) @ v
    return torch.stack([loop_over_samples(*one) for one in zip(q, k, v, strict=True)])


def loop_over_heads(q, k, v):
    if q.dim() < 4:
        return weights_of(q, k) @ v
    return torch.stack([weights_of(q[:, h], k[:, h]) @ v[:, h] for h in range(q.shape[1])], dim=1)


def map_over_keys(q, k, v):
    scores = torch.stack(list(map(lambda key: (q * key[..., None, :]).sum(-1), k.unbind(-2))), -1)  # noqa: C417
    return torch.softmax(scores / math.sqrt(q.shape[-1]), -1) @ v


def recursion_over_queries(q, k, v):
    if q.shape[-2] == 1:
        return weights_of(q, k) @ v
    half = q.shape[-2] // 2
    return torch.cat([recursion_over_queries(part, k, v) for part in (q[..., :half, :], q[..., half:, :])], -2)


def loop_that_does_nothing(q, k, v):
    for _ in range(q.shape[-2]):
        pass
    return weights_of(q, k) @ v


kept = {}


def kept_by_shape(q, k, v):
    weights = kept.setdefault((q.shape, k.shape, v.dtype), weights_of(q, k).detach())
    return weights @ v


def folded_by_view(q, k, v):
    q_, k_, v_ = (x.view(-1, *x.shape[-2:]) for x in (q, k, v))
    return (weights_of(q_, k_) @ v_).view(*q.shape[:-1], v.shape[-1])


FORWARD, ROOT = "    scores = q @", "math.sqrt(q.shape[-1])"
SOFTMAX, MIX, END = "torch.softmax(scores, dim=-1)", "weights @ v", "return output"
RIGHT = {
    "softmax by hand": softmax_by_hand,
    "logsumexp": by_logsumexp,
    "broadcasting": all_by_broadcasting,
    "bmm": by_bmm,
    "keys as rows": keys_as_rows,
    "ones append the sum, in float64": ones_append_the_sum,
    "in place on temporaries": in_place_on_temporaries,
    "vmap": by_vmap,
    "a loop that does nothing": loop_that_does_nothing,
    "module": Attention(),
    "bound method": Attention().forward,
    "scripted": scripted,
    "partial": functools.partial(lambda power, q, k, v: F.softmax(q @ k.mT / q.shape[-1] ** power, -1) @ v, 0.5),
}
WRONG = {
    "folded by view": folded_by_view,
    "kept by shape": kept_by_shape,
    "256 keys at most": {MIX: "weights[..., :256] @ v[..., :256, :]"},
    "one mask of 128": {SOFTMAX: "torch.softmax(scores + torch.zeros(128, 128)[: q.shape[-2], : k.shape[-2]], dim=-1)"},
    "nan cleaned": {SOFTMAX: "torch.nan_to_num((grown := torch.exp(scores)) / grown.sum(dim=-1, keepdim=True))"},
    "clamped": {SOFTMAX: "(grown := torch.exp(scores.clamp(-50, 50))) / grown.sum(dim=-1, keepdim=True)"},
    "a large epsilon": {SOFTMAX: "(grown := torch.exp(scores - scores.amax(-1, True))) / (grown.sum(-1, True) + 0.01)"},
    "fused": lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
    "fused by getattr": lambda q, k, v: getattr(F, "scaled_dot_" + "product_attention")(q, k, v),
    "fused math kernel": lambda q, k, v: torch.ops.aten._scaled_dot_product_attention_math(q, k, v)[0],
    "fused in a module": Fused(),
    "fused and scripted": lambda q, k, v: fused_scripted(q, k, v),
    "loop over queries": loop_over_queries,
    "loop over samples": loop_over_samples,
    "loop over heads": loop_over_heads,
    "map over keys": map_over_keys,
    "recursion over queries": recursion_over_queries,
    "wrong with heads": {FORWARD: f"    q = q.transpose(1, -2).reshape(q.shape) if q.dim() == 4 else q\n{FORWARD}"},
    "transposed if square": {MIX: "(weights.mT if q.shape[-2] == k.shape[-2] else weights) @ v"},
    "softmax over all": {SOFTMAX: "torch.softmax(scores.flatten(-2), dim=-1).reshape(scores.shape)"},
    "plain shares": {SOFTMAX: "scores / scores.sum(dim=-1, keepdim=True)"},
    "causal": {SOFTMAX: "torch.softmax(scores + torch.full_like(scores, -torch.inf).triu(1), dim=-1)"},
    "scale of the queries": {ROOT: "math.sqrt(q.shape[-2])"},
    "cube root": {ROOT: "q.shape[-1] ** (1 / 3)"},
    "values ask": {FORWARD: "    scores = v @"},
    "samples averaged": {END: "return output.mean(0, keepdim=True).expand(output.shape) if q.dim() == 3 else output"},
    "residual where it fits": {END: "return output + q if output.shape == q.shape else output"},
    "dropout": {SOFTMAX: "torch.dropout(torch.softmax(scores, dim=-1), 0.1, True)"},
    "float32 inside": {FORWARD: "    q, k, v = q.float(), k.float(), v.float()\n" + FORWARD},
    "weights detached": {MIX: "weights.detach() @ v"},
}
