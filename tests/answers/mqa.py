"""Answers to lesson 05 in other forms: right ones that must pass, wrong ones that must not."""

import functools
import itertools
import math
import operator

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn


def _layers(module, d_model, n_heads, n_kv_heads=1):
    if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
        raise ValueError(f"{d_model}, {n_heads}, {n_kv_heads} do not divide")
    module.h, module.g, module.d = n_heads, n_kv_heads, d_model // n_heads
    module.q_proj = nn.Linear(d_model, d_model)
    module.k_proj = nn.Linear(d_model, module.g * module.d)
    module.v_proj = nn.Linear(d_model, module.g * module.d)
    module.out_proj = nn.Linear(d_model, d_model)


class Base(nn.Module):
    """Both classes: one key/value head unless told otherwise."""

    def __init__(self, d_model, n_heads, n_kv_heads=1):
        super().__init__()
        _layers(self, d_model, n_heads, n_kv_heads)

    def heads(self, x):
        """q (B, H, N, D), k and v (B, G, N, D)."""
        b, n, _ = x.shape
        q = self.q_proj(x).view(b, n, self.h, self.d).transpose(1, 2)
        k = self.k_proj(x).view(b, n, self.g, self.d).transpose(1, 2)
        return q, k, self.v_proj(x).view(b, n, self.g, self.d).transpose(1, 2)

    def join(self, out):
        b, _, n, _ = out.shape
        return self.out_proj(out.transpose(1, 2).contiguous().view(b, n, -1))


def weights_of(scores, mask):
    """Softmax with zeros in empty rows."""
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.nan_to_num(F.softmax(scores, dim=-1), nan=0.0)


class Interleaved(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, dim=1) for t in (k, v))
        return self.join(weights_of(q @ k.transpose(-2, -1) * self.d**-0.5, mask) @ v)


class Expanded(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        b, _, n, d = k.shape
        r = self.h // self.g
        k = k[:, :, None].expand(b, self.g, r, n, d).reshape(b, self.h, n, d)
        v = v[:, :, None].expand(b, self.g, r, n, d).reshape(b, self.h, n, d)
        scores = torch.matmul(q / math.sqrt(d), k.mT)
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
            weights = torch.softmax(scores, -1) * mask.any(-1, keepdim=True)
        else:
            weights = torch.softmax(scores, -1)
        return self.join(weights @ v)


class FiveAxes(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        q = q.unflatten(1, (self.g, -1))
        scores = einsum("bgrnd,bgmd->bgrnm", q, k) / self.d**0.5
        if mask is not None:
            b, g, r, n, m = scores.shape
            mask = mask.broadcast_to(b, g * r, n, m).view(b, g, r, n, m)
        return self.join(einsum("bgrnm,bgmd->bgrnd", weights_of(scores, mask), v).flatten(1, 2))


class Fused(Base):
    """F.scaled_dot_product_attention on copied heads."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        index = torch.arange(self.h) // (self.h // self.g)
        return self.join(F.scaled_dot_product_attention(q, k[:, index], v[:, index], attn_mask=mask))


class HeadByHead(Base):
    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        mask = None if mask is None else mask.expand(x.shape[0], self.h, x.shape[1], x.shape[1])
        outs = []
        for h in range(self.h):
            group = h * self.g // self.h
            scores = q[:, h] @ k[:, group].transpose(1, 2) / math.sqrt(self.d)
            outs.append(weights_of(scores, None if mask is None else mask[:, h]) @ v[:, group])
        return self.out_proj(torch.cat(outs, dim=-1))


class Folded(Base):
    """Heads folded into the batch, bmm."""

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = self.heads(x)
        k, v = (torch.stack([t] * (self.h // self.g), dim=2).flatten(1, 2) for t in (k, v))
        q, k, v = (t.flatten(0, 1) for t in (q, k, v))
        scores = torch.baddbmm(torch.zeros(b * self.h, n, n).to(q), q, k.mT, alpha=1 / math.sqrt(self.d))
        if mask is not None:
            mask = mask.expand(b, self.h, n, n).reshape(-1, n, n)
        return self.join(torch.bmm(weights_of(scores, mask), v).view(b, self.h, n, self.d))


class RowsOfAllHeads(Base):
    """All query heads of a group laid end to end, so that one product serves a group."""

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q, k, v = self.heads(x)
        scores = q.reshape(b, self.g, -1, self.d) @ k.transpose(2, 3) / math.sqrt(self.d)
        if mask is not None:
            mask = mask.expand(b, self.h, n, n).reshape(b, self.g, -1, n)
        return self.join((weights_of(scores, mask) @ v).reshape(b, self.h, n, self.d))


class ByExp(Base):
    """Softmax by exp and sum; the mask as an added 0 or -inf, empty rows zeroed before dividing."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in (k, v))
        scores = (q * self.d**-0.25) @ (k * self.d**-0.25).mT
        if mask is None:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
        low = scores.detach().masked_fill(~mask, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        exps = torch.where(mask, torch.exp(torch.where(mask, scores - low, 0.0)), 0.0)
        total = exps.sum(-1, keepdim=True)
        return self.join(exps / torch.where(total == 0, 1.0, total) @ v)


class Packed(Base):
    """One product for the three projections; the mask as a very low number that is added."""

    def heads(self, x):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        weight, bias = torch.cat([p.weight for p in layers]), torch.cat([p.bias for p in layers])
        sizes = [self.h * self.d, self.g * self.d, self.g * self.d]
        parts = F.linear(x, weight, bias).split(sizes, dim=-1)
        return [part.unflatten(-1, (-1, self.d)).movedim(2, 1) for part in parts]

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in (k, v))
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        bias = torch.zeros(mask.shape).masked_fill_(mask.logical_not(), -3e38)
        seen = mask.any(-1, keepdim=True).to(x.dtype)
        return self.join(torch.softmax(q @ k.mT / self.d**0.5 + bias, dim=-1) * seen @ v)


class Helped(Base):
    """A helper module, an extra buffer, extra arguments with defaults, a print."""

    class Attend(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.register_buffer("root", torch.tensor(math.sqrt(width)))

        def forward(self, q, k, v, mask):
            return weights_of(q @ k.mT / self.root, mask) @ v

    def __init__(self, d_model, n_heads, n_kv_heads=1, *, dropout=0.0):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.attend, self.drop = self.Attend(self.d), nn.Dropout(dropout)

    def forward(self, x, mask=None, verbose=False):
        print("forward", x.shape)
        q, k, v = self.heads(x)
        k, v = (torch.cat([t[:, i : i + 1] for i in self.order()], dim=1) for t in (k, v))
        return self.drop(self.join(self.attend(q, k, v, mask)))

    def order(self):
        return [i for i in range(self.g) for _ in range(self.h // self.g)]


class Renormalised(Base):
    """Softmax over everything, blocked weights zeroed, rows divided by what is left; own work in place."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        k, v = (t.repeat_interleave(self.h // self.g, 1) for t in (k, v))
        scores = q @ k.mT
        scores /= math.sqrt(self.d)
        if mask is not None:
            scores.masked_fill_(~mask, -1e30)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights * mask
            weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-9)
        return self.join(weights @ v)


class SharedByBroadcast(nn.Module):
    """One key head without copies: (B, 1, N, D) meets (B, H, N, D)."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        _layers(self, d_model, n_heads)

    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d)).permute(0, 2, 1, 3)
        k, v = self.k_proj(x).unsqueeze(1), self.v_proj(x).unsqueeze(1)
        out = weights_of(q @ k.transpose(-1, -2) / math.sqrt(k.size(-1)), mask) @ v
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(x.shape))


class SharedByEinsum(SharedByBroadcast):
    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d))
        scores = einsum("bnhd,bmd->bhnm", q, self.k_proj(x)) / math.sqrt(self.d)
        out = einsum("bhnm,bmd->bnhd", weights_of(scores, mask), self.v_proj(x))
        return self.out_proj(out.flatten(-2))


class SharedFused(SharedByBroadcast):
    """F.scaled_dot_product_attention broadcasts the one key head itself."""

    def forward(self, x, mask=None):
        q = self.q_proj(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(out.transpose(1, 2).flatten(2))


def _two_arguments(kind):
    class MultiQueryAttention(kind):
        def __init__(self, d_model, n_heads):
            super().__init__(d_model, n_heads)

    return MultiQueryAttention


def _made(d_model, n_heads, n_kv_heads=1):
    return Interleaved(d_model, n_heads, n_kv_heads)


def _cache(change):
    def kv_cache_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
        return change(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element)

    return kv_cache_bytes


def _loops(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    total = 0
    for _ in ("keys", "values"):
        total += batch * seq_len * n_layers * n_kv_heads * d_head * bytes_per_element
    return total


class _Counts:
    def __call__(self, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2, **more):
        per_token = 2 * n_layers * n_kv_heads * d_head * bytes_per_element
        return int(per_token * seq_len) * batch


def _numpy_objects(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2):
    factors = np.array([2, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element], dtype=object)
    return int(np.prod(factors))


def _pool_view(weight, n_heads, n_kv_heads):
    rows, width = weight.shape
    return (
        weight.reshape(n_kv_heads, n_heads // n_kv_heads, rows // n_heads, width).mean(1).reshape(-1, width)
    )


def _pool_unflatten(weight, n_heads, n_kv_heads):
    return weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1)).mean(dim=1).flatten(0, 1)


def _pool_einsum(weight, n_heads, n_kv_heads):
    heads = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    return einsum("grdm->gdm", heads).flatten(0, 1) * n_kv_heads / n_heads


def _pool_loop(weight, n_heads, n_kv_heads):
    heads = weight.chunk(n_heads, dim=0)
    size = n_heads // n_kv_heads
    groups = [heads[i * size : (i + 1) * size] for i in range(n_kv_heads)]
    return torch.cat([torch.stack(group).mean(dim=0) for group in groups])


def _pool_sum(weight, n_heads, n_kv_heads):
    size, rows = n_heads // n_kv_heads, weight.shape[0] // n_heads
    pooled = torch.zeros(n_kv_heads * rows, weight.shape[1], dtype=weight.dtype)
    for head in range(n_heads):
        start = head // size * rows
        pooled[start : start + rows] += weight[head * rows : (head + 1) * rows] / size
    return pooled


def _pool_matrix(weight, n_heads, n_kv_heads):
    average = torch.eye(n_kv_heads, dtype=weight.dtype).repeat_interleave(n_heads // n_kv_heads, dim=1)
    average = average / average.sum(dim=1, keepdim=True)
    return torch.kron(average, torch.eye(len(weight) // n_heads, dtype=weight.dtype)) @ weight


def _pool_index_add(weight, n_heads, n_kv_heads):
    heads = weight.reshape(n_heads, -1)
    group = torch.arange(n_heads) // (n_heads // n_kv_heads)
    total = torch.zeros(n_kv_heads, heads.shape[1]).to(weight).index_add_(0, group, heads)
    return (total / (n_heads / n_kv_heads)).view(-1, weight.shape[1])


def _pool_own_copy(weight, n_heads, n_kv_heads):
    parts = weight.detach().clone().view(n_kv_heads, n_heads // n_kv_heads, -1, weight.size(1))
    parts /= parts.shape[1]
    return parts.sum(1).reshape(-1, weight.size(1))


def _pool_numpy(weight, n_heads, n_kv_heads):
    array = weight.detach().numpy()
    pooled = array.reshape(n_kv_heads, n_heads // n_kv_heads, -1, array.shape[-1]).mean(1)
    return torch.from_numpy(pooled.reshape(-1, array.shape[-1]).copy())


FORMS = (
    Interleaved, Expanded, FiveAxes, Fused, HeadByHead, Folded, RowsOfAllHeads, ByExp, Packed, Helped, Renormalised,
)  # fmt: skip

RIGHT = {
    "mqa.MultiQueryAttention": {form.__name__: _two_arguments(form) for form in FORMS}
    | {form.__name__: form for form in (SharedByBroadcast, SharedByEinsum, SharedFused)}
    | {"factory": _made, "partial": functools.partial(Interleaved, n_kv_heads=1)},
    "mqa.GroupedQueryAttention": {form.__name__: form for form in FORMS}
    | {"factory": _made, "partial": functools.partial(Helped, dropout=0.0)},
    "mqa.kv_cache_bytes": {
        "through float and back": _cache(
            lambda b, s, n, g, d, e: int(math.exp(0) * 2 * b * s * n * g * d * e)
        ),
        "one line": lambda batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2: (
            2 * batch * seq_len * n_layers * n_kv_heads * d_head * bytes_per_element
        ),
        "prod": lambda batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2: math.prod(
            [batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element, 2]
        ),
        "reduce": lambda batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2: functools.reduce(
            operator.mul, (2, batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element)
        ),
        "accumulate": lambda batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2: list(
            itertools.accumulate(
                (batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element, 2), operator.mul
            )
        )[-1],
        "keys, then values": _loops,
        "callable object": _Counts(),
        "numpy of objects": _numpy_objects,
        "numpy's 64 bits": _cache(lambda b, s, n, g, d, e: int(np.prod([2, b, s, n, g, d, e]))),
        "torch's 64 bits": _cache(lambda b, s, n, g, d, e: torch.tensor([2, b, s, n, g, d, e]).prod().item()),
        "shape of a tensor": _cache(lambda b, s, n, g, d, e: 2 * torch.Size((b, s, n, g, d)).numel() * e),
        "shifted": lambda batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=2: (
            batch * seq_len * n_layers * n_kv_heads * d_head * bytes_per_element << 1
        ),
    },
    "mqa.pool_kv_heads": {
        "view": _pool_view,
        "unflatten": _pool_unflatten,
        "einsum": _pool_einsum,
        "chunks": _pool_loop,
        "sums": _pool_sum,
        "matrix": _pool_matrix,
        "index_add": _pool_index_add,
        "own copy in place": _pool_own_copy,
        "numpy": _pool_numpy,
        "no_grad": torch.no_grad()(_pool_loop),
    },
}


def _four_bytes(batch, seq_len, n_layers, n_kv_heads, d_head, bytes_per_element=4):
    return 2 * batch * seq_len * n_layers * n_kv_heads * d_head * bytes_per_element


def _pool(change):
    def pool_kv_heads(weight, n_heads, n_kv_heads):
        return change(weight, n_heads, n_kv_heads)

    return pool_kv_heads


def _wrong(change):
    """A class like Interleaved in which `change(self, q, k, v, mask)` gives (B, H, N, D)."""

    class GroupedQueryAttention(Base):
        def forward(self, x, mask=None):
            return self.join(change(self, *self.heads(x), mask))

    return GroupedQueryAttention


def _copied(self, k, v):
    return tuple(t.repeat_interleave(self.h // self.g, 1) for t in (k, v))


def _attend(q, k, v, mask, scale=None):
    return weights_of(q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale), mask) @ v


def _tiled_fused(self, q, k, v, mask):
    k, v = (t.repeat(1, self.h // self.g, 1, 1) for t in (k, v))
    return F.scaled_dot_product_attention(q, k, v, mask)


def _tiled_five_axes(self, q, k, v, mask):
    scores = einsum("brgnd,bgmd->brgnm", q.unflatten(1, (-1, self.g)), k).flatten(1, 2)
    return einsum("brgnm,bgmd->brgnd", weights_of(scores / self.d**0.5, mask).unflatten(1, (-1, self.g)), v
                  ).flatten(1, 2)  # fmt: skip


def _modulo(self, q, k, v, mask):
    index = [h % self.g for h in range(self.h)]
    return _attend(q, k[:, index], v[:, index], mask)


def _reversed_groups(self, q, k, v, mask):
    return _attend(q, *_copied(self, k.flip(1), v.flip(1)), mask)


def _only_full_groups(self, q, k, v, mask):
    k, v = _copied(self, k, v)
    out = torch.zeros_like(q)
    for h in range(self.h - 1):
        out[:, h] = _attend(q[:, h], k[:, h], v[:, h], None if mask is None else mask)
    return out


def _inverted_fill(self, q, k, v, mask):
    k, v = _copied(self, k, v)
    scores = q @ k.mT / self.d**0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 1, float("-inf"))
    return torch.softmax(scores, -1) @ v


def _filled(number):
    def change(self, q, k, v, mask):
        k, v = _copied(self, k, v)
        scores = q @ k.mT / self.d**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, number)
        return torch.softmax(scores, -1) @ v

    return change


def _zero_filled_weights(self, q, k, v, mask):
    k, v = _copied(self, k, v)
    weights = torch.softmax(q @ k.mT / self.d**0.5, -1)
    return (weights if mask is None else weights.masked_fill(~mask, 0.0)) @ v


def _masked_twice(self, q, k, v, mask):
    mask = None if mask is None else mask.unsqueeze(1)
    return _attend(q, *_copied(self, k, v), mask)


def _always_causal(self, q, k, v, mask):
    causal = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    return _attend(q, *_copied(self, k, v), causal if mask is None else causal & mask)


def _single_sample(self, q, k, v, mask):
    return _attend(q, *_copied(self, k[:1], v[:1]), mask)


def _no_scale_after(self, q, k, v, mask):
    return _attend(q, *_copied(self, k, v), mask, 1.0) / math.sqrt(self.d)


def _keys_averaged(self, q, k, v, mask):
    return _attend(q, *_copied(self, k.mean(1, keepdim=True).expand_as(k), v), mask)


def _normed(self, q, k, v, mask):
    return _attend(F.normalize(q, dim=-1), *_copied(self, F.normalize(k, dim=-1), v), mask)


def _kept_keys():
    kept = {}

    def change(self, q, k, v, mask):
        k = kept.setdefault((id(self), k.shape), k.detach())
        return _attend(q, *_copied(self, k, v), mask)

    return change


def _dropped(self, q, k, v, mask):
    return F.dropout(_attend(q, *_copied(self, k, v), mask), 0.1, self.training)


class _NoParts(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads=1):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        return self.q_proj(x)


class _MaskMissing(Interleaved):
    def forward(self, x):
        return super().forward(x)


class _OtherMaskName(Interleaved):
    def forward(self, x, attn_mask=None):
        return super().forward(x, attn_mask)


class _NoOutputLayer(Interleaved):
    def join(self, out):
        return out.transpose(1, 2).flatten(2)


class _GqaFlag(Base):
    def forward(self, x, mask=None):
        return self.join(F.scaled_dot_product_attention(*self.heads(x), attn_mask=mask, enable_gqa=True))


class _MultiheadInside(Base):
    """nn's own attention on weights that are spread over the heads."""

    def forward(self, x, mask=None):
        r, b, n = self.h // self.g, x.shape[0], x.shape[1]
        k, v = (p.weight.unflatten(0, (self.g, -1)).repeat_interleave(r, 0).flatten(0, 1)
                for p in (self.k_proj, self.v_proj))  # fmt: skip
        bias = torch.cat([self.q_proj.bias] + [p.bias.unflatten(0, (self.g, -1)).repeat_interleave(r, 0).flatten()
                                               for p in (self.k_proj, self.v_proj)])  # fmt: skip
        if mask is not None:
            mask = ~mask.expand(b, self.h, n, n).flatten(0, 1)
        x = x.transpose(0, 1)
        out, _ = F.multi_head_attention_forward(
            x, x, x, self.h * self.d, self.h, None, bias, None, None, False, 0.0, self.out_proj.weight,
            self.out_proj.bias, attn_mask=mask, need_weights=False, use_separate_proj_weight=True,
            q_proj_weight=self.q_proj.weight, k_proj_weight=k, v_proj_weight=v,
        )  # fmt: skip
        return out.transpose(0, 1)


class _WithTwoOutputs(Interleaved):
    def forward(self, x, mask=None):
        q, k, _ = self.heads(x)
        return super().forward(x, mask), q @ _copied(self, k, k)[0].mT


class _UnusedCheck(Interleaved):
    """Refuses with a message instead of an exception."""

    def __init__(self, d_model, n_heads, n_kv_heads=1):
        if d_model % n_heads or n_heads % n_kv_heads:
            print("the sizes do not divide")
            n_heads = n_kv_heads = 1
        super().__init__(d_model, n_heads, n_kv_heads)


class _ChecksWidthOverGroups(Base):
    def __init__(self, d_model, n_heads, n_kv_heads=1):
        nn.Module.__init__(self)
        if d_model % n_kv_heads or d_model % n_heads:
            raise ValueError("no")
        _layers(self, d_model, n_heads, n_kv_heads if n_heads % n_kv_heads == 0 else 1)

    forward = Interleaved.forward


BOTH = {
    "inverted with == 1": _wrong(_inverted_fill),
    "fill of -1e9": _wrong(_filled(-1e9)),
    "fill of -1e20": _wrong(_filled(-1e20)),
    "fill of -100": _wrong(_filled(-100.0)),
    "fill of -10": _wrong(_filled(-10.0)),
    "fill of 1e-9": _wrong(_filled(1e-9)),
    "weights zeroed, not renormalised": _wrong(_zero_filled_weights),
    "mask given one more axis": _wrong(_masked_twice),
    "always causal": _wrong(_always_causal),
    "first sample's keys": _wrong(_single_sample),
    "scale after softmax": _wrong(_no_scale_after),
    "cosine": _wrong(_normed),
    "keys kept from the first call": _wrong(_kept_keys()),
    "dropout": _wrong(_dropped),
    "a part only": _NoParts,
    "no mask": _MaskMissing,
    "mask by another name": _OtherMaskName,
    "no output layer": _NoOutputLayer,
    "two outputs": _WithTwoOutputs,
    "enable_gqa": _GqaFlag,
    "nn's multi-head attention": _MultiheadInside,
    "no scale, inverted mask": _wrong(
        lambda self, q, k, v, mask: _inverted_fill(self, q * self.d**0.5, k, v, mask)
    ),
}

WRONG = {
    "mqa.MultiQueryAttention": BOTH,
    "mqa.GroupedQueryAttention": BOTH
    | {
        "tiled, fused": _wrong(_tiled_fused),
        "tiled, five axes": _wrong(_tiled_five_axes),
        "head modulo groups": _wrong(_modulo),
        "groups in reverse": _wrong(_reversed_groups),
        "the last head is forgotten": _wrong(_only_full_groups),
        "keys averaged, values not": _wrong(_keys_averaged),
        "a print instead of an exception": _UnusedCheck,
        "checks the width over the groups": _ChecksWidthOverGroups,
    },
    "mqa.kv_cache_bytes": {
        "added up": _cache(lambda b, s, n, g, d, e: 2 * (b + s + n + g + d) * e),
        "true division": _cache(lambda b, s, n, g, d, e: 2 * b * s * n * g * d * e * 8 / 8),
        "through float32": _cache(lambda b, s, n, g, d, e: int(torch.tensor([2.0, b, s, n, g, d, e]).prod())),
        "one token fewer": _cache(lambda b, s, n, g, d, e: 2 * b * (s - 1) * n * g * d * e),
        "scores": _cache(lambda b, s, n, g, d, e: b * s * s * n * g * e),
        "queries too": _cache(lambda b, s, n, g, d, e: 3 * b * s * n * g * d * e),
        "megabytes": _cache(lambda b, s, n, g, d, e: 2 * b * s * n * g * d * e // 10**6),
        "four bytes by default": _four_bytes,
        "a tensor": _cache(lambda b, s, n, g, d, e: torch.tensor(2 * b * s * n * g * d * e)),
        "text": _cache(lambda b, s, n, g, d, e: f"{2 * b * s * n * g * d * e} bytes"),
        "squared head width": _cache(lambda b, s, n, g, d, e: 2 * b * s * n * g * d * d * e),
        "nothing": _cache(lambda b, s, n, g, d, e: None),
    },
    "mqa.pool_kv_heads": {
        "every n-th head": _pool(
            lambda w, h, g: torch.stack([w.unflatten(0, (h, -1))[i::g].mean(0) for i in range(g)]).flatten(0, 1)
        ),
        "last head of a group": _pool(lambda w, h, g: w.unflatten(0, (g, h // g, -1))[:, -1].flatten(0, 1)),
        "median": _pool(lambda w, h, g: w.unflatten(0, (g, h // g, -1)).median(1).values.flatten(0, 1)),
        "interpolated rows": _pool(lambda w, h, g: F.adaptive_avg_pool1d(w.T[None], w.shape[0] // h * g)[0].T),
        "transposed": _pool(lambda w, h, g: w.unflatten(0, (g, h // g, -1)).mean(1).flatten(0, 1).T),
        "mean over features of a head": _pool(lambda w, h, g: w.unflatten(0, (h, -1)).mean(1)),
        "all but one group": _pool(lambda w, h, g: _pool_loop(w, h, g)[: -w.shape[0] // h] if g > 1 else w),
        "nothing": _pool(lambda w, h, g: None),
        "fixed head width": _pool(lambda w, h, g: w.view(g, h // g, 4, -1).mean(1).flatten(0, 1)),
    },
}  # fmt: skip
