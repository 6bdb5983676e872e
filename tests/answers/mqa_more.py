"""More answers to lesson 05, as text: whole classes as people write them, and small changes of them."""

from worked import answer_in

IMPORTS = """import math

import torch
import torch.nn.functional as F
from torch import nn
"""

GROUPED = """
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads=1):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        if n_heads % n_kv_heads != 0:
            raise ValueError("n_heads must be divisible by n_kv_heads")
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head, self.n_rep = d_model // n_heads, n_heads // n_kv_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, N, _ = x.shape
        q = self.q_proj(x).view(B, N, self.n_heads, self.d_head).transpose(1, 2)
        k = self.k_proj(x).view(B, N, self.n_kv_heads, self.d_head).transpose(1, 2)
        v = self.v_proj(x).view(B, N, self.n_kv_heads, self.d_head).transpose(1, 2)
        k = k.repeat_interleave(self.n_rep, dim=1)
        v = v.repeat_interleave(self.n_rep, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = torch.nan_to_num(weights)
        out = weights @ v
        out = out.transpose(1, 2).reshape(B, N, self.d_model)
        return self.out_proj(out)
"""
ROOT, SOFTMAX = "math.sqrt(self.d_head)", "torch.softmax(scores, dim=-1)"
FILL = 'scores.masked_fill(~mask, float("-inf"))'
CLEAN, MIX = "weights = torch.nan_to_num(weights)", "out = weights @ v"
MERGE = "out.transpose(1, 2).reshape(B, N, self.d_model)"
SPREAD_K, SPREAD_V = "k.repeat_interleave(self.n_rep, dim=1)", "v.repeat_interleave(self.n_rep, dim=1)"
SAFE_FILL = "scores.masked_fill(~(mask | ~mask.any(-1, keepdim=True)), -torch.inf)"
OWN_SOFTMAX = """scores.amax(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
        weights = torch.exp(scores - weights)
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)"""
BY_HEAD = """torch.einsum(
            "bhnd,ohd->bno", out, self.out_proj.weight.view(self.d_model, self.n_heads, self.d_head)
        ) + self.out_proj.bias"""
RIGHT_CHANGES = {
    "as written": (),
    "root of a tensor": ((ROOT, "torch.sqrt(torch.tensor(float(self.d_head)))"),),
    "where": ((FILL, "torch.where(mask, scores, -torch.inf)"),),
    "rows made safe before": (
        (FILL, SAFE_FILL),
        (
            CLEAN,
            "weights = weights if mask is None else weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)",
        ),
    ),
    "lowest number, then zero": (
        (FILL, "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"),
        (CLEAN, "weights = weights if mask is None else weights * mask"),
    ),
    "own softmax": ((SOFTMAX, OWN_SOFTMAX),),
    "softmax in float32": ((SOFTMAX, "F.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)"),),
    "output layer by head": ((MERGE, BY_HEAD), ("return self.out_proj(out)", "return out")),
    "heads side by side": ((MERGE, "torch.cat(out.unbind(1), dim=-1)"),),
    "constants added to rows": ((ROOT, ROOT + " + q.sum(-1, keepdim=True)"),),
    "index of the group": ((SPREAD_K, "k[:, [h // self.n_rep for h in range(self.n_heads)]]"),),
}
WRONG_CHANGES = {
    "scale from the number of heads": ((ROOT, "math.sqrt(self.n_heads)"),),
    "fourth root": ((ROOT, "self.d_head**0.25"),),
    "whole scores": (("/ " + ROOT, "// " + ROOT),),
    "plus infinity": (('"-inf"', '"inf"'),),
    "relu for exp": ((SOFTMAX, "scores.relu() / scores.relu().sum(-1, keepdim=True)"),),
    "zero scores are blocked": ((SOFTMAX, "torch.softmax(scores.masked_fill(scores == 0, -1e9), dim=-1)"),),
    "mask and triangle": ((FILL, FILL.replace("~mask", "~mask.tril()")),),
    "three best keys": (
        (
            SOFTMAX,
            "torch.softmax(scores.masked_fill(scores < scores.topk(min(3, N)).values[..., -1:], -1e9), -1)",
        ),
    ),
    "heads added up": ((MERGE, "out.sum(1).repeat(1, 1, self.n_heads)"),),
    "output layer twice": (("self.out_proj(out)", "self.out_proj(self.out_proj(out))"),),
    "normed at the end": (("self.out_proj(out)", "F.layer_norm(self.out_proj(out), (self.d_model,))"),),
    "keys from queries": ((SPREAD_K, "q"),),
    "relu on queries": (("self.q_proj(x)", "F.relu(self.q_proj(x))"),),
    "half precision": ((SOFTMAX, "torch.softmax(scores.half(), dim=-1).to(x.dtype)"),),
    "softmax over the samples": ((SOFTMAX, "torch.softmax(scores, dim=0)"),),
    "keys unnamed": (("k_proj", "w_k"),),
    "values cut off": ((MIX, "out = weights @ v.detach()"),),
}
ROUNDED = "torch.linspace(0, self.n_kv_heads - 1, self.n_heads).long()"
GROUPED_ONLY = {
    "groups rolled": ((SPREAD_K, SPREAD_K + ".roll(1, dims=1)"),),
    "heads spread by rounding": ((SPREAD_K, f"k[:, {ROUNDED}]"), (SPREAD_V, f"v[:, {ROUNDED}]")),
    "values shared out": ((SPREAD_V, SPREAD_V + " / self.n_rep"),),
    "scale from the key heads": ((ROOT, "math.sqrt(self.d_head * self.n_kv_heads)"),),
    "checked the other way": (("n_heads % n_kv_heads", "n_kv_heads % n_heads"),),
}


def _changed(name, text, changes):
    """`text` with each (old, new) replaced, run: the class of that name, by what was changed."""
    found = {}
    for label, pairs in changes.items():
        changed = text
        for old, new in pairs:
            assert old in changed, (label, old)
            changed = changed.replace(old, new)
        found[label] = answer_in(IMPORTS + changed, name)
    return found


def _multi(found):
    return {
        label: lambda d_model, n_heads, made=made: made(d_model, n_heads) for label, made in found.items()
    }


def _cache(count):
    """A kv_cache_bytes that does `count` with the six numbers."""

    def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
        return count(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element)

    return kv_cache_bytes


def _moving_mean(weight, n_heads, n_kv_heads):
    heads = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    mean = heads[:, 0]
    for i in range(1, heads.shape[1]):
        mean = (mean + heads[:, i]) / 2
    return mean.flatten(0, 1)


def _mean_by_size(weight, n_heads, n_kv_heads):
    heads = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    return (heads.square().sum(dim=1) / heads.abs().sum(dim=1)).copysign(heads.mean(dim=1)).flatten(0, 1)


NAME = "GroupedQueryAttention"
_right, _wrong = (_changed(NAME, GROUPED, changes) for changes in (RIGHT_CHANGES, WRONG_CHANGES))
RIGHT = {"mqa.GroupedQueryAttention": _right, "mqa.MultiQueryAttention": _multi(_right)}
WRONG = {
    "mqa.GroupedQueryAttention": _wrong | _changed(NAME, GROUPED, GROUPED_ONLY),
    "mqa.MultiQueryAttention": _multi(_wrong),
    "mqa.kv_cache_bytes": {
        "a layer more": _cache(lambda b, s, n, g, d, e: 2 * b * s * (n + 1) * g * d * e),
        "a query head as well": _cache(lambda b, s, n, g, d, e: 2 * b * s * n * (g + 1) * d * e),
        "two bytes more an element": _cache(lambda b, s, n, g, d, e: 2 * b * s * n * g * d * (e + 2)),
    },
    "mqa.pool_kv_heads": {"moving mean": _moving_mean, "mean by size": _mean_by_size},
}
