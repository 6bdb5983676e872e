"""Answers to mla.MultiheadLatentAttention."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import einsum, nn

from answers.mqa import forms
from answers.mqa.forms import weights_of


class Base(nn.Module):
    def __init__(self, d_model, n_heads, d_latent):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be a multiple of n_heads")
        self.h, self.d = n_heads, d_model // n_heads
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_up = nn.Linear(d_latent, d_model, bias=False)
        self.k_up = nn.Linear(d_latent, d_model, bias=False)
        self.kv_down = nn.Linear(d_model, d_latent, bias=False)
        self.q_proj = nn.Linear(d_model, d_model, bias=False)

    def heads(self, x):
        c = self.kv_down(x)
        b, n, _ = x.shape
        return [t.view(b, n, self.h, self.d).transpose(1, 2) for t in (self.q_proj(x), self.k_up(c), self.v_up(c))]

    def join(self, out):
        b, _, n, _ = out.shape
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(b, n, -1))


class Fused(Base):
    def forward(self, x, mask=None):
        return self.join(F.scaled_dot_product_attention(*self.heads(x), attn_mask=mask))


class ByHand(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        return self.join(weights_of(q @ k.mT * self.d**-0.5, mask) @ v)


class Absorbed(Base):
    """Queries and outputs meet the latents: keys and values are never made."""

    def forward(self, x, mask=None):
        c = self.kv_down(x)
        k_up, v_up = (up.weight.unflatten(0, (self.h, -1)) for up in (self.k_up, self.v_up))
        q = self.q_proj(x).unflatten(-1, (self.h, -1))
        scores = einsum("bnhd,hdc,bmc->bhnm", q, k_up, c) / math.sqrt(self.d)
        return self.out_proj(einsum("bhnm,bmc,hdc->bnhd", weights_of(scores, mask), c, v_up).flatten(2))


class OneUp(Base):
    """Both up-projections in one product."""

    def forward(self, x, mask=None):
        up = F.linear(self.kv_down(x), torch.cat([self.k_up.weight, self.v_up.weight]))
        q, k, v = (t.unflatten(-1, (self.h, -1)).movedim(2, 1) for t in (self.q_proj(x), *up.chunk(2, dim=-1)))
        return self.join(F.scaled_dot_product_attention(q, k, v, mask))


class HeadByHead(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        b, n, _ = x.shape
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        mask = mask.expand(b, self.h, n, n)
        outs = [weights_of(q[:, h] @ k[:, h].mT / math.sqrt(self.d), mask[:, h]) @ v[:, h] for h in range(self.h)]
        return self.out_proj(torch.cat(outs, dim=-1))


class MultiheadInside(Base):
    """nn's own attention, which this lesson may use."""

    def forward(self, x, mask=None):
        (b, n, d), c = x.shape, self.kv_down(x).transpose(0, 1)
        if mask is not None:
            mask = ~mask.expand(b, self.h, n, n).flatten(0, 1)
            empty = mask.all(-1, keepdim=True)
            mask = mask & ~empty
        one = torch.eye(d, dtype=x.dtype)
        out, _ = F.multi_head_attention_forward(
            self.q_proj(x).transpose(0, 1), self.k_up(c), self.v_up(c), d, self.h, None, None, None, None, False, 0.0,
            one, None, attn_mask=mask, need_weights=False, use_separate_proj_weight=True, q_proj_weight=one,
            k_proj_weight=one, v_proj_weight=one,
        )
        out = out.transpose(0, 1)
        if mask is not None:
            seen = ~empty.view(b, self.h, n, 1).transpose(1, 2)
            out = (out.unflatten(-1, (self.h, -1)) * seen).flatten(2)
        return self.out_proj(out)


class Cached(Base):
    """A buffer, dropout, further arguments with defaults, a print."""

    def __init__(self, d_model, n_heads, d_latent, *, dropout=0.0):
        super().__init__(d_model, n_heads, d_latent)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("scale", torch.tensor(self.d**-0.5))

    def forward(self, x, mask=None, verbose=True):
        print("forward", tuple(x.shape))
        q, k, v = self.heads(x)
        scores = (q * self.scale) @ k.mT
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -math.inf)
        weights = F.softmax(scores, dim=-1)
        weights = weights if mask is None else weights.masked_fill(~mask, 0.0)
        return self.join(self.drop(weights) @ v)


PLAIN = ("root of a tensor", "where", "rows made safe before", "lowest number, then zero", "own softmax",
         "heads side by side", "constants added to rows", "inferred by -1")
RIGHT = {name: forms.RIGHT[name] for name in PLAIN} | {
    kind.__name__: kind for kind in (Fused, ByHand, Absorbed, OneUp, HeadByHead, MultiheadInside, Cached)
} | {
    "function": lambda d_model, n_heads, d_latent: Fused(d_model, n_heads, d_latent),
    "partial": functools.partial(Cached, dropout=0.0),
}
DOWN, KEYS, VALUES = "self.kv_down(x)", "self.k_up(latent)", "self.v_up(latent)"
LATER = {"keys unnamed", "nn's multi-head attention", "enable_gqa", "relu on queries"}
FORMS = {name: edits for name, edits in forms.WRONG.items() if isinstance(edits, dict) and name not in LATER}
WRONG = FORMS | {
    "relu on queries": {"self.q_proj(x)": "self.q_proj(x).relu()"},
    "tanh on the latents": {DOWN: f"{DOWN}.tanh()"},
    "latents of unit length": {DOWN: f"F.normalize({DOWN}, dim=-1)"},
    "softmax on the latents": {DOWN: f"torch.softmax({DOWN}, dim=-1)"},
    "keys normed": {KEYS: f"F.layer_norm({KEYS}, x.shape[-1:])"},
    "latents of the first token": {DOWN: f"{DOWN}[:, :1].expand(-1, x.shape[1], -1)"},
    "mean latent": {DOWN: f"{DOWN}.mean(1, keepdim=True).expand(-1, x.shape[1], -1)"},
    "the last latent feature is forgotten": {DOWN: f"{DOWN} * (torch.arange(self.k_up.in_features) + 1 < "
                                             "self.k_up.in_features)"},
    "values from x": {VALUES: "x"},
    "keys from x": {KEYS: "x"},
    "up by the transposed weight": {KEYS: "latent @ self.k_up.weight.reshape(latent.shape[-1], -1)"},
    "divided by the latent width": {DOWN: f"{DOWN} / self.k_up.in_features"},
    "latents kept from the first call": {DOWN: f"vars(self).setdefault(str(x.shape), {DOWN}.detach())"},
    "half of the latents' gradient": {VALUES: "self.v_up(latent.detach())"},
    "d_latent must divide": {"if d_model % n_heads:": "if d_model % n_heads or d_model % d_latent:"},
    "checks the latents": {"if d_model % n_heads:": "if d_latent % n_heads and d_model % n_heads == 0:"},
    "down by the wrong width": {"nn.Linear(d_model, d_latent,": "nn.Linear(d_model, d_model,"},
    "heads of the latents": {"self.k_up = nn.Linear(d_latent,": "self.k_up = nn.Linear(d_latent // 2 + 1,"},
}
