"""Answers to llama.LlamaAttention."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Parts(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, base=10000.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        if n_heads % n_kv_heads != 0:
            raise ValueError("n_heads must be divisible by n_kv_heads")
        self.h, self.g, self.d = n_heads, n_kv_heads, d_model // n_heads
        if self.d % 2 == 1:
            raise ValueError("the width of a head must be even")
        self.q_proj, self.out_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(d_model, self.g * self.d, bias=False) for _ in range(2))
        self.base = base

    def heads(self, t, n):
        return t.view(t.shape[0], t.shape[1], n, self.d).transpose(1, 2)


class Fused(Parts):
    """Angles in float32, as most code has them; the fused attention shares the key heads."""

    def forward(self, x, cache=None):
        m = 0 if cache is None else cache[0].size(-2)
        n = x.size(1)
        q, k, v = self.heads(self.q_proj(x), self.h), self.heads(self.k_proj(x),
            self.g), self.heads(self.v_proj(x), self.g)
        inv_freq = 1.0 / self.base ** (torch.arange(0, self.d, 2).float() / self.d)
        angles = torch.outer(torch.arange(m, m + n).float(), inv_freq)
        turn = torch.polar(torch.ones_like(angles), angles)
        q, k = (torch.view_as_real(torch.view_as_complex(t.reshape(*t.shape[:-1], -1, 2).contiguous()) * turn)
                .flatten(3).type_as(x) for t in (q, k))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        mask = torch.ones(n, m + n, dtype=torch.bool).tril(m)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.out_proj(y.transpose(1, 2).reshape(x.shape)), (k, v)


class Table(Parts):
    """Sines and cosines are made once, for 4096 positions; the queries of a group are neighbours."""

    def __init__(self, d_model, n_heads, n_kv_heads, base=10000.0):
        super().__init__(d_model, n_heads, n_kv_heads, base)
        rates = torch.exp(-math.log(base) * torch.arange(self.d // 2, dtype=torch.float64) * 2 / self.d)
        angles = torch.arange(4096)[:, None] * rates
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def rope(self, x, start):
        cos, sin = (t[start : start + x.shape[2]].to(x.dtype) for t in (self.cos, self.sin))
        out = torch.empty_like(x)
        out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., ::2] * sin
        return out

    def forward(self, x, cache=None):
        b, n, _ = x.shape
        k, v = (self.heads(part(x), self.g) for part in (self.k_proj, self.v_proj))
        m = cache[0].shape[2] if cache else 0
        q, k = self.rope(self.heads(self.q_proj(x), self.h), m), self.rope(k, m)
        if cache:
            k, v = (torch.concat(pair, dim=2) for pair in zip(cache, (k, v), strict=True))
        groups = q.view(b, self.g, -1, n, self.d)
        scores = torch.einsum("bgsnd,bgmd->bgsnm", groups, k) / self.d**0.5
        later = torch.arange(m + n)[None, :] > torch.arange(m, m + n)[:, None]
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        y = torch.einsum("bgsnm,bgmd->bngsd", weights, v).reshape(b, n, -1)
        return self.out_proj(y), (k, v)


class OneByOne(Parts):
    def forward(self, x, cache=None):
        outputs = []
        for token in x.split(1, dim=1):
            place = 0 if cache is None else cache[0].shape[2]
            rates = self.base ** -(torch.arange(0, self.d, 2, dtype=x.dtype) / self.d)
            cos, sin = (turn(place * rates).repeat_interleave(2) for turn in (torch.cos, torch.sin))
            q, k = self.heads(self.q_proj(token), self.h), self.heads(self.k_proj(token), self.g)
            q, k = (t * cos + torch.stack((-t[..., 1::2], t[..., ::2]), -1).flatten(-2) * sin for t in (q, k))
            v = self.heads(self.v_proj(token), self.g)
            cache = (k, v) if cache is None else (torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2))
            shared = (t.repeat_interleave(self.h // self.g, 1) for t in cache)
            outputs.append(F.scaled_dot_product_attention(q, *shared))
        return self.out_proj(torch.cat(outputs, dim=2).transpose(1, 2).flatten(-2)), cache


class Matrices(Parts):
    """Each position has a matrix that rotates all pairs of a head at once."""

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache[0].shape[2]
        turns = torch.stack([self.matrix(place).to(x) for place in range(start, start + x.shape[1])])
        q = torch.einsum("bhnd,ned->bhne", self.heads(self.q_proj(x), self.h), turns)
        k = torch.einsum("bhnd,ned->bhne", self.heads(self.k_proj(x), self.g), turns)
        v = self.heads(self.v_proj(x), self.g)
        if cache is None:
            cache = k[:, :, :0], v[:, :, :0]
        k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        wide = [t[:, :, None].expand(-1, -1, self.h // self.g, -1, -1).flatten(1, 2) for t in (k, v)]
        scores = (q / math.sqrt(self.d)) @ wide[0].mT
        blocked = torch.full((x.shape[1], k.shape[2]), -torch.inf, dtype=x.dtype).triu(1 + start)
        return self.out_proj(((scores + blocked).softmax(-1) @ wide[1]).transpose(1, 2).flatten(2)), (k, v)

    def matrix(self, place):
        blocks = []
        for i in range(self.d // 2):
            angle = torch.tensor(place * float(self.base) ** (-2 * i / self.d), dtype=torch.float64)
            blocks.append(torch.stack((angle.cos(), -angle.sin(), angle.sin(), angle.cos())).view(2, 2))
        return torch.block_diag(*blocks)


RIGHT = {
    "fused, angles in float32": Fused,
    "a table": Table,
    "one by one": OneByOne,
    "matrices": Matrices,
    "no mask for one token": {"scores = scores.masked_fill(~past, -torch.inf)":
                              "scores = scores if x.shape[1] == 1 else scores.masked_fill(~past, "
                              "-torch.inf)"},
    "the lowest number": {"-torch.inf": "torch.finfo(scores.dtype).min"},
    "refused when it is called": {
        "        if d_model % n_heads or n_heads % n_kv_heads or d_model // n_heads % 2:\n            raise":
        "        self.odd = d_model // n_heads % 2 == 1\n"
        "        if d_model % n_heads or n_heads % n_kv_heads:\n            raise",
        "        q = self.q_proj(x)":
        "        if self.odd:\n            raise ValueError('odd')\n        q = self.q_proj(x)"},
}
WRONG = {
    "a list for a cache": {"kept = (k, v)": "kept = [k, v]"},
    "three in a cache": {"kept = (k, v)": "kept = (k, v, places)"},
    "the cache is changed": {"            k = torch.cat":
    "            cache[0].mul_(0.5)\n            k = torch.cat"},
    "no heads": {"self.d_head, self.base = d_model // n_heads, base":
    "self.d_head, self.base = d_model // n_heads, base\n        n_kv_heads = n_heads"},
    "the last token alone": {"self.out_proj(output), kept": "self.out_proj(output[:, -1:]), kept"},
    "at most sixty-four": {"kept = (k, v)": "kept = (k[:, :, -64:], v[:, :, -64:])"},
    "a table of a thousand": {"angles = places[:, None]": "angles = torch.arange(1024)[places][:, None]"},
    "the base is an int": {"self.base**-exponents": "float(int(self.base) // 1000 * 1000) ** -exponents"},
    "every pair at one speed": {"self.base**-exponents": "self.base ** (-0.0 * exponents)"},
    "the last pair has the base itself": {"device=x.device) / self.d_head":
    "device=x.device) / max(self.d_head - 2, 1)"},
    "half the speed": {"places[:, None] *": "places[:, None] * 0.5 *"},
    "positions count down": {"torch.arange(seen, seen + x.shape[1], device=x.device)":
                             "torch.arange(seen, seen + x.shape[1], device=x.device).flip(0)"},
    "queries one place ahead": {"q = self.turned(q, places)": "q = self.turned(q, places + 1)"},
    "keys one place ahead": {"k = self.turned(k, places)": "k = self.turned(k, places + 1)"},
    "angles in half precision": {"angles.cos().to(x.dtype), angles.sin().to(x.dtype)":
                                 "angles.half().cos().to(x.dtype), angles.half().sin().to(x.dtype)"},
    "turned twice": {"k = self.turned(k, places)": "k = self.turned(self.turned(k, places), places)"},
    "key heads in the opposite order": {"k = k.repeat_interleave(shared, dim=1)":
    "k = k.flip(1).repeat_interleave(shared, dim=1)",
                                        "v = v.repeat_interleave(shared, dim=1)":
                                        "v = v.flip(1).repeat_interleave(shared, dim=1)"},
    "values in turn": {"v = v.repeat_interleave(shared, dim=1)": "v = v.repeat(1, shared, 1, 1)"},
    "a window": {".tril(diagonal=seen)": ".tril(diagonal=seen).triu(diagonal=seen - 3)"},
    "a low number that is not low": {"-torch.inf": "-10.0"},
    "a softmax that overflows": {"torch.softmax(scores, dim=-1)":
    "scores.exp() / scores.exp().sum(-1, keepdim=True)"},
    "the first sample's cache": {"cache[0], k": "cache[0][:1].expand_as(cache[0]), k"},
    "no gradient through the angles": {"q = self.turned(q, places)": "q = self.turned(q.detach(), places)"},
    "random dropout": {"weights = torch.softmax(scores, dim=-1)":
    "weights = F.dropout(torch.softmax(scores, dim=-1), 0.1, self.training)"},
    "key heads alone count": {"if d_model % n_heads or n_heads % n_kv_heads or": "if d_model % n_heads or"},
}
