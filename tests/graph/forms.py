"""Attention, multi-head attention and a decoder layer, written in the various ways that people write them.
The tests draw and compare them.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


def tensors(*shapes):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def qkv():
    """Return queries, keys and values of different lengths and widths."""
    return tensors((4, 6), (5, 6), (5, 3))


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v


def loops(q, k, v):
    """Compute attention with loops over queries and keys; each row of the output is written into a buffer."""
    out = torch.zeros(q.shape[0], v.shape[1])
    for i in range(len(q)):
        scores = torch.stack([q[i] @ k[j] / math.sqrt(q.shape[1]) for j in range(len(k))])
        out[i] = torch.softmax(scores, 0) @ v
    return out


class Heads(nn.Module):
    """Plain multi-head attention; tests override single steps of it."""

    def __init__(self, d_model=12, n_heads=3):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def qkv(self, x):
        return self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))

    def masked(self, scores, mask):
        return scores if mask is None else scores.masked_fill(~mask, -torch.inf)

    def weigh(self, scores):
        return scores.softmax(-1)

    def finish(self, mixed):
        return self.out_proj(mixed.transpose(1, 2).flatten(2))

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x)
        return self.finish(self.weigh(self.masked(q @ k.mT / math.sqrt(self.d_head), mask)) @ v)


def heads(**changes):
    return type("Changed", (Heads,), changes)


class Layer(nn.Module):
    """A pre-norm decoder layer; tests override single steps of it."""

    def __init__(self, d_model=12, n_heads=3, d_ff=20):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def attend(self, x):
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.self_attn(x, x, x, attn_mask=future, need_weights=False)[0]

    def act(self, x):
        return F.gelu(x)

    def feed(self, x):
        return self.linear2(self.act(self.linear1(x)))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed(self.norm2(x))


def layer(**changes):
    return type("Changed", (Layer,), changes)


def reference_layer():
    theirs = nn.TransformerEncoderLayer(
        12, 3, 20, dropout=0.0, activation="gelu", norm_first=True, batch_first=True
    )
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    return lambda x: theirs(x, src_mask=mask, is_causal=True)


def post_norm(self, x):
    x = self.norm1(x + self.attend(x))
    return self.norm2(x + self.feed(x))
