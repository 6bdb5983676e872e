"""Answers to generation.CachedSelfAttention."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Parts(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.h = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.h, d // self.h).transpose(1, 2)


class Fused(Parts):
    def forward(self, x, cache=None):
        q, k, v = (self.split(part(x)) for part in (self.q_proj, self.k_proj, self.v_proj))
        m = 0
        if cache is not None:
            old_k, old_v = cache
            m = old_k.size(2)
            k, v = torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)
        n = x.size(1)
        mask = torch.ones(n, m + n, dtype=torch.bool).tril(m)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(y.transpose(1, 2).reshape(x.shape)), (k, v)


class OneByOne(Parts):
    def forward(self, x, cache=None):
        outputs = []
        for token in x.split(1, dim=1):
            q, k, v = (self.split(part(token)) for part in (self.q_proj, self.k_proj, self.v_proj))
            cache = (k, v) if cache is None else (torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2))
            outputs.append(F.scaled_dot_product_attention(q, *cache))
        y = torch.cat(outputs, dim=2)
        return self.out_proj(y.transpose(1, 2).flatten(-2)), cache


class Einsum(Parts):
    def forward(self, x, cache=None):
        b, n, d = x.shape
        q, k, v = (part(x).view(b, n, self.h, -1) for part in (self.q_proj, self.k_proj, self.v_proj))
        keys, values = k.permute(0, 2, 1, 3), v.permute(0, 2, 1, 3)
        if cache:
            keys, values = (torch.concat(pair, dim=2) for pair in zip(cache, (keys, values), strict=True))
        scores = torch.einsum("bnhd,bhmd->bhnm", q, keys) / math.sqrt(d // self.h)
        total = keys.shape[2]
        later = torch.arange(total)[None, :] > torch.arange(total - n, total)[:, None]
        scores = scores + torch.zeros(n, total, dtype=x.dtype).masked_fill(later, float("-inf"))
        y = torch.einsum("bhnm,bhmd->bnhd", scores.softmax(-1), values).reshape(b, n, d)
        return self.out_proj(y), (keys, values)


class Empty(Parts):
    """An empty cache in place of None."""

    def forward(self, x, cache=None):
        q, k, v = (self.split(part(x)) for part in (self.q_proj, self.k_proj, self.v_proj))
        if cache is None:
            cache = k[:, :, :0], v[:, :, :0]
        k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        whole = torch.ones(k.shape[2], k.shape[2], dtype=torch.bool).tril()
        scores = (q / q.shape[-1] ** 0.5) @ k.mT
        weights = scores.masked_fill(~whole[-x.shape[1] :], float("-inf")).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), (k, v)


RIGHT = {
    "fused": Fused,
    "one by one": OneByOne,
    "einsum": Einsum,
    "an empty cache": Empty,
    "no mask for one token": {"scores = scores.masked_fill(~past, -torch.inf)":
                              "scores = scores if x.shape[1] == 1 else scores.masked_fill(~past, -torch.inf)"},
    "a low number": {"-torch.inf": "torch.finfo(scores.dtype).min"},
}
WRONG = {
    "a list for a cache": {"(k, v)\n": "[k, v]\n"},
    "a dict for a cache": {"(k, v)\n": "{'k': k, 'v': v}\n"},
    "one tensor for a cache": {"(k, v)\n": "torch.stack((k, v))\n"},
    "the cache that is given is changed": {"if cache is not None:": "if cache is not None:\n            "
        "cache[0].mul_(0.5)"},
    "copied back": {"        return ": "        if cache is not None and cache[0].shape == k[:, :, seen:].shape:\n"
                    "            cache[0].copy_(k[:, :, seen:])\n        return "},
    "the output is cached": {"        return ": "        k = output.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)\n"
                             "        return "},
    "cache before output": {"return self.out_proj(output), (k, v)": "return (k, v), self.out_proj(output)"},
    "no heads": {"self.n_heads = n_heads": "self.n_heads = 1"},
    "the last token alone": {"self.out_proj(output), ": "self.out_proj(output[:, -1:]), "},
    "at most eight": {"(k, v)\n": "(k[:, :, -8:], v[:, :, -8:])\n"},
    "the first sample's cache": {"cache[0], k": "cache[0][:1].expand_as(cache[0]), k"},
    "a low number that is not low": {"-torch.inf": "-10.0"},
    "queries are kept as well": {"(k, v)\n": "(q, k, v)\n"},
}
