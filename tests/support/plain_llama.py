"""A second, independent implementation of the real model: functions that take its weights and follow the
papers' formulas.

It shares no code with the lessons: the package gguf unpacks the weights, and in `logits_of`, pairs of
features are rotated as complex numbers and there is no cache, so that every call reads the whole text. Only
`Fast` has caches: it is what a PyTorch user would write for speed.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Compute x / sqrt(mean of squares + eps) * weight."""
    return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + eps) * weight


def rotated(heads: Tensor, start: int, base: float) -> Tensor:
    """Rotate the pairs (2i, 2i+1) of row n in (..., N, D) by (start + n) * base^(-2i/D)."""
    rates = base ** (-torch.arange(0, heads.shape[-1], 2, dtype=torch.float64) / heads.shape[-1])
    angles = torch.outer(torch.arange(start, start + heads.shape[-2], dtype=torch.float64), rates)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(heads.double().reshape(*heads.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turn).flatten(-2).to(heads.dtype)


def logits_of(weights: dict[str, Tensor], sizes, ids: Tensor) -> Tensor:
    """Return the logits (N, vocab_size) for ids (N,), in the dtype of the weights. Compute the heads one by
    one.
    """
    table = weights["token_embedding.weight"]
    x, shared = table[ids], sizes.n_heads // sizes.n_kv_heads
    d_head = sizes.d_model // sizes.n_heads
    later = torch.full((len(ids), len(ids)), -torch.inf, dtype=table.dtype).triu(1)
    for k in range(sizes.n_layers):
        at = {
            name.removeprefix(f"layers.{k}."): w
            for name, w in weights.items()
            if name.startswith(f"layers.{k}.")
        }
        h = rms(x, at["norm1.weight"], sizes.eps)
        q, key, v = (h @ at[f"attention.{part}_proj.weight"].T for part in "qkv")
        mixed = []
        for head in range(sizes.n_heads):
            own, common = (slice(n * d_head, (n + 1) * d_head) for n in (head, head // shared))
            turned = [rotated(part, 0, sizes.base) for part in (q[:, own], key[:, common])]
            scores = turned[0] @ turned[1].T / d_head**0.5 + later
            mixed.append(scores.softmax(dim=-1) @ v[:, common])
        x = x + torch.cat(mixed, dim=-1) @ at["attention.out_proj.weight"].T
        h = rms(x, at["norm2.weight"], sizes.eps)
        gate = h @ at["gate_proj.weight"].T
        x = x + (gate * torch.sigmoid(gate) * (h @ at["up_proj.weight"].T)) @ at["down_proj.weight"].T
    return rms(x, weights["norm.weight"], sizes.eps) @ table.T


class Fast:
    """The model with caches, PyTorch's fused functions and precomputed angles: (ids of shape (1, N), caches)
    -> (logits, caches).
    """

    def __init__(self, weights: dict[str, Tensor], sizes, max_len: int = 512):
        self.table, self.norm, self.sizes = weights["token_embedding.weight"], weights["norm.weight"], sizes
        self.layers = [
            {
                name.removeprefix(f"layers.{k}."): w
                for name, w in weights.items()
                if name.startswith(f"layers.{k}.")
            }
            for k in range(sizes.n_layers)
        ]
        self.d_head = sizes.d_model // sizes.n_heads
        rates = sizes.base ** (-torch.arange(0, self.d_head, 2, dtype=torch.float64) / self.d_head)
        angles = torch.outer(torch.arange(max_len, dtype=torch.float64), rates)
        self.cos, self.sin = angles.cos().float(), angles.sin().float()

    def __call__(self, ids: Tensor, caches: list | None) -> tuple[Tensor, list]:
        x, new = F.embedding(ids, self.table), []
        seen = 0 if caches is None else caches[0][0].shape[2]
        cos, sin = (t[seen : seen + ids.shape[1]] for t in (self.cos, self.sin))
        for k, at in enumerate(self.layers):
            x, cache = self.layer(x, at, None if caches is None else caches[k], cos, sin)
            new.append(cache)
        return F.linear(F.rms_norm(x, self.norm.shape, self.norm, self.sizes.eps), self.table), new

    def layer(self, x: Tensor, at: dict[str, Tensor], cache: tuple | None, cos: Tensor, sin: Tensor):
        """Return the output of one layer and its new cache."""
        h = F.rms_norm(x, x.shape[-1:], at["norm1.weight"], self.sizes.eps)
        parts = (F.linear(h, at[f"attention.{part}_proj.weight"]) for part in "qkv")
        q, k, v = (part.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for part in parts)
        q, k = self.turned(q, cos, sin), self.turned(k, cos, sin)
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1, enable_gqa=True)
        x = x + F.linear(mixed.transpose(1, 2).flatten(2), at["attention.out_proj.weight"])
        h = F.rms_norm(x, x.shape[-1:], at["norm2.weight"], self.sizes.eps)
        hidden = F.silu(F.linear(h, at["gate_proj.weight"])) * F.linear(h, at["up_proj.weight"])
        return x + F.linear(hidden, at["down_proj.weight"]), (k, v)

    def turned(self, heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Rotate the pairs (2i, 2i+1) of each head."""
        first, second = heads[..., 0::2], heads[..., 1::2]
        return torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)
