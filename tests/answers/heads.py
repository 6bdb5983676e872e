"""Answers to lesson 04 as students might write them: right in other forms, and wrong in ways that the
course's list of mistakes does not hold."""

import copy
import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

LOW = float("-inf")
RIGHT, WRONG = {}, {}
HEAD, SPLIT, MERGE = "heads.SelfAttentionHead", "heads.split_heads", "heads.merge_heads"
SELF, COPY, CROSS = "heads.MultiheadSelfAttention", "heads.copy_weights", "heads.MultiheadCrossAttention"


def _keep(answers, exercise_id):
    def keep(answer):
        answers.setdefault(exercise_id, {})[answer.__name__] = answer
        return answer

    return keep


right, wrong = functools.partial(_keep, RIGHT), functools.partial(_keep, WRONG)


# Attention in several forms, for the classes below.


def fused(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def filled(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return torch.softmax(scores, dim=-1).nan_to_num() @ v


def with_einsum(q, k, v, mask):
    scores = torch.einsum("...nd,...md->...nm", q * q.shape[-1] ** -0.5, k)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask
    return torch.einsum("...nm,...me->...ne", weights, v)


def shared_out_again(q, k, v, mask):
    weights = torch.softmax(q @ (k / math.sqrt(k.shape[-1])).mT, dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-20)
    return weights @ v


def by_hand(q, k, v, mask):
    scale = q.shape[-1] ** -0.25
    scores = (q * scale) @ (k * scale).transpose(-1, -2)
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values.detach())
    if mask is not None:
        grown = grown.masked_fill(~mask, 0)
    total = grown.sum(dim=-1, keepdim=True)
    return grown @ v / torch.where(total > 0, total, torch.ones_like(total))


def with_bias(q, k, v, mask):
    bias = None
    if mask is not None:
        empty = ~mask.any(dim=-1, keepdim=True)
        bias = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask & ~empty, LOW)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
    return output if mask is None else output.masked_fill(empty, 0.0)


FORMS = (fused, filled, with_einsum, shared_out_again, by_hand, with_bias)


# SelfAttentionHead, right


def _head(attend):
    class SelfAttentionHead(nn.Module):
        def __init__(self, d_model, d_head=None):
            super().__init__()
            if d_head is None:
                d_head = d_model
            self.q_proj = nn.Linear(d_model, d_head)
            self.k_proj = nn.Linear(d_model, d_head)
            self.v_proj = nn.Linear(d_model, d_head)

        def forward(self, x, mask=None):
            return attend(self.q_proj(x), self.k_proj(x), self.v_proj(x), mask)

    return SelfAttentionHead


RIGHT[HEAD] = {form.__name__: _head(form) for form in FORMS}


@right(HEAD)
class OneProductForAll(_head(fused)):
    def __init__(self, d_model, d_head=None, dropout=0.0):
        super().__init__(d_model, d_head)
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x, mask=None, verbose=True):
        weight = torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight))
        bias = torch.cat((self.q_proj.bias, self.k_proj.bias, self.v_proj.bias))
        q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
        print(q.shape)
        return filled(q, k, v, mask)


@right(HEAD)
class NoKeyBias(_head(fused)):
    """The bias of the keys adds one number to a whole row: it changes nothing."""

    def forward(self, x, mask=None):
        return filled(self.q_proj(x), x @ self.k_proj.weight.T, self.v_proj(x), mask)


@right(HEAD)
class ValuesProjectedLast(_head(fused)):
    def forward(self, x, mask=None):
        q, k = self.q_proj(x), self.k_proj(x)
        scores = torch.bmm(q, k.transpose(1, 2)) / k.size(2) ** 0.5
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
        weights = scores.masked_fill(~mask, LOW).softmax(dim=2).nan_to_num(0.0)
        mixed = weights @ x @ self.v_proj.weight.T
        return mixed + weights.sum(dim=-1, keepdim=True) * self.v_proj.bias


@right(HEAD)
class SampleBySample(_head(fused)):
    def forward(self, x, mask=None):
        if mask is not None:
            mask = mask.expand(len(x), x.shape[1], x.shape[1])
        outputs = []
        for b in range(len(x)):
            q, k, v = self.q_proj(x[b]), self.k_proj(x[b]), self.v_proj(x[b])
            outputs.append(filled(q, k, v, None if mask is None else mask[b]))
        return torch.stack(outputs)


@right(HEAD)
class SubclassedParts(nn.Module):
    class Projection(nn.Linear):
        pass

    def __init__(self, d_model, d_head=None):
        nn.Module.__init__(self)
        for name in ("v_proj", "q_proj", "k_proj"):
            self.add_module(name, self.Projection(d_model, d_head or d_model, bias=True))
        self.attend = nn.Softmax(-1)

    def forward(self, x, mask=None):
        scores = self.q_proj(x).matmul(self.k_proj(x).mT).div(self.q_proj.out_features**0.5)
        if mask is not None:
            scores.masked_fill_(~mask, LOW)
        return torch.nan_to_num(self.attend(scores)).matmul(self.v_proj(x))


@right(HEAD)
class OfParameters(nn.Module):
    """Parts that hold weight and bias without being layers."""

    def __init__(self, d_model, d_head=None):
        super().__init__()
        width = d_head if d_head is not None else d_model
        for name in ("q_proj", "k_proj", "v_proj"):
            part = nn.Module()
            part.weight = nn.Parameter(torch.randn(width, d_model))
            part.bias = nn.Parameter(torch.zeros(width))
            setattr(self, name, part)

    def forward(self, x, mask=None):
        return by_hand(*(x @ p.weight.T + p.bias for p in (self.q_proj, self.k_proj, self.v_proj)), mask)


def head_factory(d_model, d_head=None):
    return _head(with_einsum)(d_model, d_head)


RIGHT[HEAD]["factory"] = head_factory
RIGHT[HEAD]["partial"] = functools.partial(OneProductForAll, dropout=0.1)


# SelfAttentionHead, wrong


def _head_but(forward=None, init=None):
    """A right head with another forward, or another constructor."""

    class SelfAttentionHead(_head(fused)):
        def __init__(self, d_model, d_head=None):
            super().__init__(d_model, d_head)
            if init:
                init(self, d_model, d_head or d_model)

    if forward:
        SelfAttentionHead.forward = forward
    return SelfAttentionHead


def _weights_then_values(module, x, mask, scale=None, dim=-1):
    q, k = module.q_proj(x), module.k_proj(x)
    scores = q @ k.mT / (q.shape[-1] ** 0.5 if scale is None else scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    return scores.softmax(dim).nan_to_num() @ module.v_proj(x)


class _RenamedHead(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def forward(self, x, mask=None):
        return fused(self.query(x), self.key(x), self.value(x), mask)


class _ListedHead(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.layers = [nn.Linear(d_model, d_head or d_model) for _ in range(3)]

    def forward(self, x, mask=None):
        return fused(*(layer(x) for layer in self.layers), mask)


class _NeedsWidth(_head(filled)):
    def __init__(self, d_model, d_head):
        super().__init__(d_model, d_head)


class _NotAModule:
    def __init__(self, d_model, d_head=None):
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_head or d_model) for _ in range(3))

    def forward(self, x, mask=None):
        return fused(self.q_proj(x), self.k_proj(x), self.v_proj(x), mask)


class _WithoutSuper(nn.Module):
    def __init__(self, d_model, d_head=None):
        self.q_proj = nn.Linear(d_model, d_head or d_model)


class _SwappedWidths(nn.Module):
    def __init__(self, d_model, d_head=None):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_head or d_model, d_model) for _ in range(3))

    def forward(self, x, mask=None):
        return fused(self.q_proj(x), self.k_proj(x), self.v_proj(x), mask)


class _WrongWayMask(_head(fused)):
    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else ~mask)


class _AlwaysCausal(_head(fused)):
    def forward(self, x, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class _Dropout(_head(fused)):
    def forward(self, x, mask=None):
        return F.dropout(super().forward(x, mask), 0.2, self.training)


class _OwnOutput(_head(fused)):
    def __init__(self, d_model, d_head=None):
        super().__init__(d_model, d_head)
        self.out_proj = nn.Linear(d_head or d_model, d_head or d_model)

    def forward(self, x, mask=None):
        return self.out_proj(super().forward(x, mask))


class _Normed(_head(fused)):
    def forward(self, x, mask=None):
        return super().forward(F.layer_norm(x, x.shape[-1:]), mask)


class _MemoryOfTheFirst(_head(fused)):
    """Keeps its first keys."""

    def forward(self, x, mask=None):
        if not hasattr(self, "kept") or self.kept.shape[:2] != x.shape[:2]:
            self.kept = self.k_proj(x).detach().clone()
        return filled(self.q_proj(x), self.kept, self.v_proj(x), mask)


class _ByMultihead(_head(fused)):
    def forward(self, x, mask=None):
        width = self.q_proj.out_features
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        blocked = None if mask is None else ~mask.expand(len(x), x.shape[1], x.shape[1])
        eye, zero = torch.eye(width, dtype=x.dtype), torch.zeros(width, dtype=x.dtype)
        output, _ = F.multi_head_attention_forward(
            q.transpose(0, 1),
            k.transpose(0, 1),
            v.transpose(0, 1),
            width,
            1,
            None,
            zero.repeat(3),
            None,
            None,
            False,
            0.0,
            eye,
            zero,
            need_weights=False,
            attn_mask=blocked,
            use_separate_proj_weight=True,
            q_proj_weight=eye,
            k_proj_weight=eye,
            v_proj_weight=eye,
        )
        output = output.transpose(0, 1)
        return output if mask is None else torch.where(blocked.all(-1, keepdim=True), 0.0, output)


WRONG[HEAD] = {
    "renamed": _RenamedHead,
    "listed": _ListedHead,
    "needs a width": _NeedsWidth,
    "not a module": _NotAModule,
    "without super": _WithoutSuper,
    "swapped widths": _SwappedWidths,
    "wrong way mask": _WrongWayMask,
    "always causal": _AlwaysCausal,
    "dropout": _Dropout,
    "an output layer of its own": _OwnOutput,
    "normed": _Normed,
    "memory": _MemoryOfTheFirst,
    "nn.MultiheadAttention's function": _ByMultihead,
    "no scale": _head_but(lambda self, x, mask=None: _weights_then_values(self, x, mask, scale=1.0)),
    "root of d_model": _head_but(
        lambda self, x, mask=None: _weights_then_values(self, x, mask, scale=x.shape[-1] ** 0.5)
    ),
    "d_head itself": _head_but(
        lambda self, x, mask=None: _weights_then_values(self, x, mask, scale=self.q_proj.out_features)
    ),
    "softmax over queries": _head_but(lambda self, x, mask=None: _weights_then_values(self, x, mask, dim=1)),
    "softmax over samples": _head_but(lambda self, x, mask=None: _weights_then_values(self, x, mask, dim=0)),
    "keys and queries swapped": _head_but(
        lambda self, x, mask=None: filled(self.k_proj(x), self.q_proj(x), self.v_proj(x), mask)
    ),
    "queries thrice": _head_but(
        lambda self, x, mask=None: filled(self.q_proj(x), self.q_proj(x), self.q_proj(x), mask)
    ),
    "values are x": _head_but(lambda self, x, mask=None: filled(self.q_proj(x), self.k_proj(x), x, mask)),
    "mask left out": _head_but(
        lambda self, x, mask=None: filled(self.q_proj(x), self.k_proj(x), self.v_proj(x), None)
    ),
    "mask given an axis": _head_but(
        lambda self, x, mask=None: filled(
            self.q_proj(x), self.k_proj(x), self.v_proj(x), None if mask is None else mask.unsqueeze(1)
        )
    ),
    "NaN": _head_but(
        lambda self, x, mask=None: (
            torch.softmax(
                (self.q_proj(x) @ self.k_proj(x).mT / self.q_proj.out_features**0.5).masked_fill(
                    torch.tensor(False) if mask is None else ~mask, LOW
                ),
                -1,
            )
            @ self.v_proj(x)
        )
    ),
    "fill -1e9": _head_but(
        lambda self, x, mask=None: (
            torch.softmax(
                (self.q_proj(x) @ self.k_proj(x).mT / self.q_proj.out_features**0.5).masked_fill(
                    torch.tensor(False) if mask is None else ~mask, -1e9
                ),
                -1,
            )
            @ self.v_proj(x)
        )
    ),
    "under no_grad": _head_but(
        torch.no_grad()(lambda self, x, mask=None: _weights_then_values(self, x, mask))
    ),
    "gelu": _head_but(
        lambda self, x, mask=None: filled(
            F.gelu(self.q_proj(x)), F.gelu(self.k_proj(x)), F.gelu(self.v_proj(x)), mask
        )
    ),
    "a tuple": _head_but(lambda self, x, mask=None: (_weights_then_values(self, x, mask), None)),
    "first sample's keys": _head_but(
        lambda self, x, mask=None: filled(self.q_proj(x), self.k_proj(x[:1]), self.v_proj(x), mask)
    ),
}


# split_heads and merge_heads


RIGHT[SPLIT] = {
    "view, transpose": lambda x, n_heads: (
        x.contiguous().view(x.size(0), x.size(1), n_heads, x.size(2) // n_heads).transpose(1, 2)
    ),
    "view of any strides": lambda x, n_heads: x.view(x.shape[0], x.shape[1], n_heads, -1).transpose(1, 2),
    "reshape, permute": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3),
    "contiguous": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2).contiguous(),
    "unflatten": lambda x, n_heads: x.unflatten(2, (n_heads, -1)).swapaxes(1, 2),
    "chunks stacked": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1), dim=1),
    "split stacked": lambda x, n_heads: torch.stack(torch.split(x, x.shape[-1] // n_heads, dim=2), 1),
    "tensor_split": lambda x, n_heads: torch.stack(x.tensor_split(n_heads, dim=-1), dim=-3),
    "slices": lambda x, n_heads: torch.stack(
        [x[:, :, h * (x.shape[2] // n_heads) : (h + 1) * (x.shape[2] // n_heads)] for h in range(n_heads)],
        dim=1,
    ),
    "unfold": lambda x, n_heads: x.unfold(-1, x.shape[-1] // n_heads, x.shape[-1] // n_heads).transpose(1, 2),
    "einsum": lambda x, n_heads: torch.einsum("bnhd->bhnd", x.reshape(*x.shape[:2], n_heads, -1)),
    "transposed first": lambda x, n_heads: x.mT.unflatten(1, (n_heads, -1)).mT,
}


@right(SPLIT)
def filled_by_loops(x, n_heads):
    batch, tokens, width = x.shape
    d_head = width // n_heads
    heads = torch.empty(batch, n_heads, tokens, d_head, dtype=x.dtype)
    for h in range(n_heads):
        heads[:, h] = x[..., h * d_head : (h + 1) * d_head]
    return heads


@right(SPLIT)
def by_gather(x, n_heads):
    picks = torch.arange(x.shape[-1]).reshape(n_heads, 1, -1)
    return x[:, torch.arange(x.shape[1])[None, :, None], picks]


RIGHT[SPLIT]["partial"] = functools.partial(filled_by_loops)


WRONG[SPLIT] = {
    "view only": lambda x, n_heads: x.reshape(x.shape[0], n_heads, x.shape[1], x.shape[2] // n_heads),
    "no transpose": lambda x, n_heads: x.reshape(x.shape[0], x.shape[1], n_heads, -1),
    "in turn": lambda x, n_heads: torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=1),
    "overlapping": lambda x, n_heads: torch.stack(
        [x[..., h : h + x.shape[-1] // n_heads] for h in range(n_heads)], dim=1
    ),
    "chunks": lambda x, n_heads: torch.chunk(x, n_heads, dim=-1),
    "stacked in front": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1)),
    "stacked behind": lambda x, n_heads: torch.stack(x.chunk(n_heads, dim=-1), dim=-1),
    "heads and width swapped": lambda x, n_heads: x.reshape(*x.shape[:2], -1, n_heads).permute(0, 2, 1, 3),
    "wrong permutation": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 3, 1),
    "folded": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2).flatten(0, 1),
    "first head for all": lambda x, n_heads: x[:, None, :, : x.shape[-1] // n_heads].repeat(1, n_heads, 1, 1),
    "tokens split": lambda x, n_heads: torch.stack(x.repeat(1, n_heads, 1).chunk(n_heads, 1), 1)[
        ..., : x.shape[-1] // n_heads
    ],
    "detached": lambda x, n_heads: x.detach().reshape(*x.shape[:2], n_heads, -1).transpose(1, 2),
    "heads reversed": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2).flip(1),
    "scaled": lambda x, n_heads: x.reshape(*x.shape[:2], n_heads, -1).transpose(1, 2) / n_heads**0.5,
}

RIGHT[MERGE] = {
    "transpose, reshape": lambda x: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1),
    "contiguous, view": lambda x: (
        x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), x.size(1) * x.size(3))
    ),
    "permute, flatten": lambda x: x.permute(0, 2, 1, 3).flatten(-2),
    "cat of heads": lambda x: torch.cat(x.unbind(dim=1), dim=-1),
    "cat in a loop": lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=2),
    "hstack": lambda x: torch.dstack([x[:, h] for h in range(x.shape[1])]),
    "einsum": lambda x: torch.einsum("bhnd->bnhd", x).reshape(x.shape[0], x.shape[2], -1),
    "movedim": lambda x: x.movedim(1, 2).flatten(start_dim=2),
    "features first": lambda x: x.mT.flatten(1, 2).mT,
    "split and cat": lambda x: torch.cat([h.squeeze(1) for h in x.split(1, dim=1)], -1),
}


@right(MERGE)
def written_into_zeros(x):
    batch, heads, tokens, d_head = x.shape
    merged = torch.zeros(batch, tokens, heads * d_head, dtype=x.dtype)
    for h in range(heads):
        merged[:, :, h * d_head : (h + 1) * d_head] = x[:, h]
    return merged


WRONG[MERGE] = {
    "reshape only": lambda x: x.reshape(x.shape[0], x.shape[2], -1),
    "no flatten": lambda x: x.transpose(1, 2),
    "flatten heads and tokens": lambda x: x.flatten(1, 2),
    "permuted for good": lambda x: x.permute(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1),
    "transposed the wrong pair": lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1),
    "view": lambda x: x.transpose(1, 2).view(x.shape[0], x.shape[2], -1),
    "mean": lambda x: x.mean(1),
    "sum": lambda x: x.sum(1),
    "last head": lambda x: x[:, -1],
    "tokens first": lambda x: torch.cat(x.unbind(1), -1).transpose(0, 1),
    "heads reversed": lambda x: torch.cat(x.unbind(1)[::-1], -1),
    "cat of tokens": lambda x: torch.cat(x.unbind(1), 1),
    "stack": lambda x: torch.stack(x.unbind(1), -1).flatten(2),
    "a list": lambda x: list(x.unbind(1)),
    "detached": lambda x: torch.cat(x.detach().unbind(1), -1),
    "float32": lambda x: torch.cat(x.float().unbind(1), -1),
}


# MultiheadSelfAttention and MultiheadCrossAttention, right


class _Parts(nn.Module):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads != 0:
            raise ValueError(f"{n_heads} heads do not divide {d_model}")
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)


def _four_axes(mask):
    return mask


def _by_transposes(attend):
    def run(self, x, context, mask):
        def split(t):
            return t.view(t.shape[0], t.shape[1], self.n_heads, self.d_head).transpose(1, 2)

        q, k, v = split(self.q_proj(x)), split(self.k_proj(context)), split(self.v_proj(context))
        output = attend(q, k, v, mask).transpose(1, 2).contiguous().view(x.shape[0], x.shape[1], -1)
        return self.out_proj(output)

    return run


def _head_by_head(self, x, context, mask):
    q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
    if mask is not None:
        mask = mask.expand(x.shape[0], self.n_heads, x.shape[1], context.shape[1])
    outputs = []
    for h in range(self.n_heads):
        part = slice(h * self.d_head, (h + 1) * self.d_head)
        outputs.append(fused(q[..., part], k[..., part], v[..., part], None if mask is None else mask[:, h]))
    return self.out_proj(torch.cat(outputs, dim=-1))


def _folded(self, x, context, mask):
    batch, heads = x.shape[0], self.n_heads

    def fold(t):
        return (
            t.reshape(batch, -1, heads, self.d_head)
            .permute(0, 2, 1, 3)
            .reshape(batch * heads, -1, self.d_head)
        )

    q, k, v = fold(self.q_proj(x)), fold(self.k_proj(context)), fold(self.v_proj(context))
    if mask is not None:
        mask = mask.expand(batch, heads, x.shape[1], context.shape[1]).reshape(batch * heads, x.shape[1], -1)
    output = filled(q, k, v, mask).view(batch, heads, -1, self.d_head)
    return self.out_proj(output.permute(0, 2, 1, 3).reshape(x.shape))


def _five_letters(self, x, context, mask):
    q = self.q_proj(x).unflatten(-1, (self.n_heads, self.d_head))
    k = self.k_proj(context).unflatten(-1, (self.n_heads, self.d_head))
    v = self.v_proj(context).unflatten(-1, (self.n_heads, self.d_head))
    scores = torch.einsum("bnhd,bmhd->bhnm", q, k) / math.sqrt(self.d_head)
    if mask is not None:
        scores = scores.masked_fill(~mask, LOW)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return self.out_proj(torch.einsum("bhnm,bmhd->bnhd", weights, v).flatten(-2))


def _summed_output(self, x, context, mask):
    """The output projection cut into one slice for each head, the slices' results added up."""
    q, k, v = (
        torch.stack(t.chunk(self.n_heads, dim=-1))
        for t in (self.q_proj(x), self.k_proj(context), self.v_proj(context))
    )
    full = torch.ones((), dtype=torch.bool) if mask is None else mask
    full = full.expand(x.shape[0], self.n_heads, x.shape[1], context.shape[1]).transpose(0, 1)
    heads = filled(q, k, v, full)
    slices = self.out_proj.weight.chunk(self.n_heads, dim=1)
    return sum(head @ part.T for head, part in zip(heads, slices, strict=True)) + self.out_proj.bias


def _stacked_projections(self, x, context, mask):
    weight = torch.cat((self.k_proj.weight, self.v_proj.weight))
    bias = torch.cat((self.k_proj.bias, self.v_proj.bias))
    k, v = (
        F.linear(context, weight, bias).unflatten(-1, (2, self.n_heads, self.d_head)).permute(2, 0, 3, 1, 4)
    )
    q = self.q_proj(x).unflatten(-1, (self.n_heads, self.d_head)).swapaxes(1, 2)
    return F.linear(
        by_hand(q, k, v, mask).swapaxes(1, 2).flatten(2), self.out_proj.weight, self.out_proj.bias
    )


RUNS = {form.__name__: _by_transposes(form) for form in FORMS} | {
    "head by head": _head_by_head,
    "folded into the batch": _folded,
    "einsum, heads in the middle": _five_letters,
    "output summed over heads": _summed_output,
    "stacked projections": _stacked_projections,
}


def _classes(run, parts=_Parts):
    class MultiheadSelfAttention(parts):
        def forward(self, x, mask=None):
            return run(self, x, x, mask)

    class MultiheadCrossAttention(parts):
        def forward(self, x, context, mask=None):
            return run(self, x, context, mask)

    return MultiheadSelfAttention, MultiheadCrossAttention


RIGHT[SELF] = {name: _classes(run)[0] for name, run in RUNS.items()}
RIGHT[CROSS] = {name: _classes(run)[1] for name, run in RUNS.items()}


class _MoreInside(_Parts):
    """Buffers, a dropout of zero and an inner list beside the four parts."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__(d_model, n_heads)
        self.register_buffer("scale", torch.tensor(self.d_head**0.5, dtype=torch.float64))
        self.dropout = nn.Dropout(dropout)
        self.sizes = [d_model, n_heads]


def _with_buffers(self, x, context, mask):
    q = (self.q_proj(x) / self.scale.to(x.dtype)).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
    k = self.k_proj(context).unflatten(2, (self.n_heads, -1)).permute(0, 2, 3, 1)
    v = self.v_proj(context).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
    scores = q @ k
    if mask is not None:
        scores += torch.where(mask, 0.0, -1e30)
    weights = self.dropout(scores.softmax(-1))
    if mask is not None:
        weights = weights * mask
    return self.out_proj((weights @ v).transpose(1, 2).reshape(x.shape))


RIGHT[SELF]["more inside"], RIGHT[CROSS]["more inside"] = _classes(_with_buffers, _MoreInside)
RIGHT[SELF]["factory"] = lambda d_model, n_heads: _classes(_folded)[0](d_model, n_heads)
RIGHT[CROSS]["factory"] = lambda d_model, n_heads: _classes(_folded)[1](d_model, n_heads)


class _LateCheck(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError
        self.n_heads = n_heads


RIGHT[SELF]["late check"] = _classes(_five_letters, _LateCheck)[0]


# wrong


class _Unchecked(_Parts):
    def __init__(self, d_model, n_heads):
        nn.Module.__init__(self)
        self.n_heads, self.d_head = n_heads, max(d_model // n_heads, 1)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))


class _Asserted(_Unchecked):
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        super().__init__(d_model, n_heads)


class _NoBias(_Parts):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))


class _OtherNames(_Parts):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.W_o = self.out_proj
        del self.out_proj


class _Hidden(_Parts):
    """nn.MultiheadAttention inside, given the four parts."""

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.inner = [nn.MultiheadAttention(d_model, n_heads, batch_first=True)]


def _inside(self, x, context, mask):
    inner = self.inner[0].to(x.dtype)
    weights = {
        "in_proj_weight": torch.cat((self.q_proj.weight, self.k_proj.weight, self.v_proj.weight)),
        "in_proj_bias": torch.cat((self.q_proj.bias, self.k_proj.bias, self.v_proj.bias)),
        "out_proj.weight": self.out_proj.weight,
        "out_proj.bias": self.out_proj.bias,
    }
    blocked = None
    if mask is not None:
        shape = len(x), self.n_heads, x.shape[1], context.shape[1]
        mask = mask.expand(shape)
        blocked = ~(mask | ~mask.any(-1, keepdim=True)).reshape(-1, *shape[2:])
    output, _ = torch.func.functional_call(
        inner, weights, (x, context, context), {"attn_mask": blocked, "need_weights": False}
    )
    return output


def _steps(split=None, merge=None, scale=None, attend=None, out=None, inputs=None):
    def run(self, x, context, mask):
        def cut(t):
            return split(self, t) if split else t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q, k, v = (
            inputs(self, x, context)
            if inputs
            else (self.q_proj(x), self.k_proj(context), self.v_proj(context))
        )
        q, k, v = cut(q), cut(k), cut(v)
        q = q * scale(self) if scale else q
        output = (attend or filled)(q, k, v, mask)
        output = merge(self, output) if merge else output.transpose(1, 2).flatten(2)
        return out(self, output, x) if out else self.out_proj(output)

    return run


def _soft(dim):
    def attend(q, k, v, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, LOW)
        return scores.softmax(dim).nan_to_num() @ v

    return attend


def _fill(number, cleaned=False):
    def attend(q, k, v, mask):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, number)
        weights = scores.softmax(-1)
        return (weights * mask if cleaned and mask is not None else weights) @ v

    return attend


def _mask_per_sample(q, k, v, mask):
    """Takes the mask for (B, N, M)."""
    return filled(q, k, v, None if mask is None else mask.unsqueeze(1))


def _same_mask_for_heads(q, k, v, mask):
    return filled(q, k, v, mask if mask is None or mask.dim() < 4 else mask[:, :1])


def _one_sample_mask(q, k, v, mask):
    return filled(q, k, v, mask if mask is None or mask.dim() < 4 else mask[:1])


BOTH_WRONG = {
    "view for the heads": _steps(split=lambda self, t: t.reshape(len(t), self.n_heads, -1, self.d_head)),
    "view and view back": _steps(
        split=lambda self, t: t.reshape(len(t), self.n_heads, -1, self.d_head),
        merge=lambda self, t: t.reshape(len(t), t.shape[2], -1),
    ),
    "merged as they lie": _steps(merge=lambda self, t: t.reshape(len(t), t.shape[2], -1)),
    "features in turn": _steps(split=lambda self, t: t.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)),
    "features in turn, and back": _steps(
        split=lambda self, t: torch.stack([t[..., h :: self.n_heads] for h in range(self.n_heads)], 1),
        merge=lambda self, t: t.permute(0, 2, 3, 1).flatten(2),
    ),
    "root of d_model": _steps(scale=lambda self: self.n_heads**-0.5),
    "no scale": _steps(scale=lambda self: self.d_head**0.5),
    "scaled twice": _steps(scale=lambda self: self.d_head**-0.5),
    "number of heads": _steps(scale=lambda self: (self.d_head / self.n_heads) ** 0.5),
    "no output layer": _steps(out=lambda self, merged, x: merged),
    "output layer twice": _steps(out=lambda self, merged, x: self.out_proj(self.out_proj(merged))),
    "residual": _steps(out=lambda self, merged, x: self.out_proj(merged) + x),
    "activation at the end": _steps(out=lambda self, merged, x: torch.relu(self.out_proj(merged))),
    "no output bias": _steps(out=lambda self, merged, x: merged @ self.out_proj.weight.T),
    "output weight not turned": _steps(
        out=lambda self, merged, x: merged @ self.out_proj.weight + self.out_proj.bias
    ),
    "biases left out": _steps(
        inputs=lambda self, x, c: (
            x @ self.q_proj.weight.T,
            c @ self.k_proj.weight.T,
            c @ self.v_proj.weight.T,
        )
    ),
    "key bias in place of query's": _steps(
        inputs=lambda self, x, c: (
            x @ self.q_proj.weight.T + self.k_proj.bias,
            self.k_proj(c),
            self.v_proj(c),
        )
    ),
    "softmax over queries": _steps(attend=_soft(-2)),
    "softmax over heads": _steps(attend=_soft(1)),
    "softmax over samples": _steps(attend=_soft(0)),
    "NaN": _steps(attend=_fill(LOW)),
    "fill -1e9": _steps(attend=_fill(-1e9)),
    "fill -1e4, cleaned": _steps(attend=_fill(-1e4, cleaned=True)),
    "fill 0": _steps(attend=_fill(0.0)),
    "wrong way mask": _steps(attend=lambda q, k, v, m: filled(q, k, v, None if m is None else ~m)),
    "mask for samples": _steps(attend=_mask_per_sample),
    "first head's mask": _steps(attend=_same_mask_for_heads),
    "first sample's mask": _steps(attend=_one_sample_mask),
    "no mask": _steps(attend=lambda q, k, v, m: fused(q, k, v, None)),
    "always causal": _steps(
        attend=lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    ),
    "first head for all": _steps(merge=lambda self, t: t[:, 0].repeat(1, 1, self.n_heads)),
    "heads reversed": _steps(merge=lambda self, t: torch.cat(t.unbind(1)[::-1], -1)),
    "mean of heads": _steps(merge=lambda self, t: t.mean(1).repeat(1, 1, self.n_heads)),
    "heads of a token attend": _steps(
        split=lambda self, t: t.unflatten(-1, (self.n_heads, -1)), merge=lambda self, t: t.flatten(2)
    ),
    "detached weights": _steps(
        out=lambda self, merged, x: F.linear(merged, self.out_proj.weight.detach(), self.out_proj.bias)
    ),
    "one query head for all": _steps(
        inputs=lambda self, x, c: (
            self.q_proj(x)[..., : self.d_head].repeat(1, 1, self.n_heads),
            self.k_proj(c),
            self.v_proj(c),
        )
    ),
    "dropout": _steps(out=lambda self, merged, x: F.dropout(self.out_proj(merged), 0.1, self.training)),
}
WRONG[SELF] = {name: _classes(run)[0] for name, run in BOTH_WRONG.items()}
WRONG[CROSS] = {name: _classes(run)[1] for name, run in BOTH_WRONG.items()}
for _name, _kind in (("no bias", _NoBias), ("other names", _OtherNames)):
    WRONG[SELF][_name], WRONG[CROSS][_name] = _classes(_five_letters, _kind)
WRONG[SELF]["hidden inside"], WRONG[CROSS]["hidden inside"] = _classes(_inside, _Hidden)
WRONG[SELF] |= {
    "unchecked": _classes(_five_letters, _Unchecked)[0],
    "asserted": _classes(_five_letters, _Asserted)[0],
    "needs a mask": type(
        "NeedsMask", (_Parts,), {"forward": lambda self, x, mask: _five_letters(self, x, x, mask & True)}
    ),
    "context asked for": _classes(_five_letters)[1],
}
WRONG[CROSS] |= {
    "roles swapped": _classes(lambda self, x, c, mask: _five_letters(self, c, x, mask))[1],
    "context left out": _classes(lambda self, x, c, mask: _five_letters(self, x, x, mask))[1],
    "keys from x": _classes(
        _steps(inputs=lambda self, x, c: (self.q_proj(x), self.k_proj(x), self.v_proj(c)))
    )[1],
    "values from x": _classes(
        _steps(inputs=lambda self, x, c: (self.q_proj(x), self.k_proj(c), self.v_proj(x)))
    )[1],
    "queries from the context": _classes(
        _steps(inputs=lambda self, x, c: (self.q_proj(c), self.k_proj(c), self.v_proj(c)))
    )[1],
    "both": _classes(
        _steps(
            inputs=lambda self, x, c: (
                self.q_proj(x),
                self.k_proj(torch.cat((x, c), 1)),
                self.v_proj(torch.cat((x, c), 1)),
            )
        )
    )[1],
    "x added to the context": _classes(
        lambda self, x, c, mask: _five_letters(self, x, x.mean(1, True) + c, mask)
    )[1],
    "self-attention's forward": _classes(_five_letters)[0],
    "keys shaped by x": _classes(
        _steps(
            split=lambda self, t: t.reshape(t.shape[0], -1, self.n_heads, self.d_head).transpose(1, 2),
            merge=lambda self, t: t.transpose(1, 2).reshape(t.shape[0], t.shape[2], -1),
            inputs=lambda self, x, c: (
                self.q_proj(x),
                self.k_proj(c[:, : x.shape[1]]),
                self.v_proj(c[:, : x.shape[1]]),
            ),
        )
    )[1],
}


# copy_weights


@right(COPY)
def sliced_under_no_grad(source, target):
    width = source.embed_dim
    with torch.no_grad():
        target.q_proj.weight.copy_(source.in_proj_weight[:width])
        target.k_proj.weight.copy_(source.in_proj_weight[width : 2 * width])
        target.v_proj.weight.copy_(source.in_proj_weight[2 * width :])
        target.q_proj.bias.copy_(source.in_proj_bias[:width])
        target.k_proj.bias.copy_(source.in_proj_bias[width : 2 * width])
        target.v_proj.bias.copy_(source.in_proj_bias[2 * width :])
        target.out_proj.weight.copy_(source.out_proj.weight)
        target.out_proj.bias.copy_(source.out_proj.bias)


@right(COPY)
def data_copied(source, target):
    q, k, v = source.in_proj_weight.data.chunk(3, dim=0)
    for part, weight, bias in zip(
        (target.q_proj, target.k_proj, target.v_proj),
        (q, k, v),
        source.in_proj_bias.data.chunk(3),
        strict=True,
    ):
        part.weight.data.copy_(weight)
        part.bias.data.copy_(bias)
    target.out_proj.weight.data.copy_(source.out_proj.weight.data)
    target.out_proj.bias.data.copy_(source.out_proj.bias.data)
    return target


@right(COPY)
def data_cloned(source, target):
    for i, name in enumerate(["q_proj", "k_proj", "v_proj"]):
        rows = slice(i * source.embed_dim, (i + 1) * source.embed_dim)
        getattr(target, name).weight.data = source.in_proj_weight.data[rows].clone()
        getattr(target, name).bias.data = source.in_proj_bias.data[rows].clone()
    target.out_proj.weight.data = source.out_proj.weight.data.clone()
    target.out_proj.bias.data = source.out_proj.bias.data.clone()


@right(COPY)
def new_parameters(source, target):
    weights, biases = (
        source.in_proj_weight.split(source.embed_dim),
        source.in_proj_bias.split(source.embed_dim),
    )
    for part, weight, bias in zip(
        (target.q_proj, target.k_proj, target.v_proj), weights, biases, strict=True
    ):
        part.weight = nn.Parameter(weight.clone())
        part.bias = nn.Parameter(bias.detach().clone())
    target.out_proj.weight = nn.Parameter(source.out_proj.weight.clone().detach())
    target.out_proj.bias = nn.Parameter(
        torch.tensor(source.out_proj.bias.tolist(), dtype=source.out_proj.bias.dtype)
    )


@right(COPY)
def one_state_dict(source, target):
    theirs = source.state_dict()
    q, k, v = theirs["in_proj_weight"].chunk(3)
    bq, bk, bv = theirs["in_proj_bias"].chunk(3)
    target.load_state_dict(
        {
            "q_proj.weight": q,
            "q_proj.bias": bq,
            "k_proj.weight": k,
            "k_proj.bias": bk,
            "v_proj.weight": v,
            "v_proj.bias": bv,
            "out_proj.weight": theirs["out_proj.weight"],
            "out_proj.bias": theirs["out_proj.bias"],
        }
    )


@right(COPY)
def state_dict_of_each_part(source, target):
    weights = source.in_proj_weight.unflatten(0, (3, -1))
    biases = source.in_proj_bias.view(3, -1)
    for name, weight, bias in zip("qkv", weights, biases, strict=True):
        getattr(target, f"{name}_proj").load_state_dict({"weight": weight, "bias": bias})
    target.out_proj.load_state_dict(source.out_proj.state_dict())
    return None


@right(COPY)
@torch.no_grad()
def decorated(source, target):
    for i, part in enumerate((target.q_proj, target.k_proj, target.v_proj)):
        d = part.out_features
        part.weight[:] = source.in_proj_weight[i * d : (i + 1) * d]
        part.bias[:] = source.in_proj_bias[i * d : (i + 1) * d]
    target.out_proj.weight[...] = source.out_proj.weight
    target.out_proj.bias.zero_().add_(source.out_proj.bias)


@right(COPY)
def whole_parts_copied(source, target):
    with torch.inference_mode(False), torch.no_grad():
        for name, weight, bias in zip(
            ("q_proj", "k_proj", "v_proj"),
            torch.tensor_split(source.in_proj_weight, 3),
            torch.tensor_split(source.in_proj_bias, 3),
            strict=True,
        ):
            part = nn.Linear(source.embed_dim, source.embed_dim).to(weight.dtype)
            part.weight.set_(weight.clone())
            part.bias.copy_(bias)
            setattr(target, name, part)
    target.out_proj = copy.deepcopy(source.out_proj)


@right(COPY)
def without_key_bias(source, target):
    """The bias of the keys shifts a whole row of scores: no output shows it."""
    kept = target.k_proj.bias.detach().clone()
    data_copied(source, target)
    target.k_proj.bias.data.copy_(kept)


@right(COPY)
def by_vector(source, target):
    parts = (target.q_proj, target.k_proj, target.v_proj)
    weights = [p.detach().clone() for p in source.in_proj_weight.chunk(3)]
    nn.utils.vector_to_parameters(torch.cat([w.flatten() for w in weights]), [p.weight for p in parts])
    nn.utils.vector_to_parameters(source.in_proj_bias.detach().clone(), [p.bias for p in parts])
    target.out_proj.load_state_dict(copy.deepcopy(source.out_proj.state_dict()))


RIGHT[COPY]["partial"] = functools.partial(one_state_dict)


def _cut(source):
    return source.in_proj_weight.data.chunk(3), source.in_proj_bias.data.chunk(3)


def _copy_but(change):
    def copy_weights(source, target):
        sliced_under_no_grad(source, target)
        change(source, target)

    return copy_weights


def _order(*names):
    def change(source, target):
        for name, weight, bias in zip(names, *_cut(source), strict=True):
            getattr(target, name).weight.data.copy_(weight)
            getattr(target, name).bias.data.copy_(bias)

    return _copy_but(change)


def _views(source, target):
    for part, weight, bias in zip((target.q_proj, target.k_proj, target.v_proj), *_cut(source), strict=True):
        part.weight.data, part.bias.data = weight, bias


def _biases_zero(source, target):
    for part in (target.q_proj, target.k_proj, target.v_proj, target.out_proj):
        part.bias.data.zero_()


def _new_tensors(source, target):
    target.q_proj.weight = source.in_proj_weight[: source.embed_dim]


def _named_parameters_zipped(source, target):
    for mine, theirs in zip(target.parameters(), source.parameters(), strict=False):
        mine.data = theirs.data.clone()[: mine.shape[0]]


def _frozen(source, target):
    target.requires_grad_(False)


def _source_zeroed(source, target):
    source.in_proj_weight.data.zero_()


def _local_names(source, target):
    weight = target.q_proj.weight
    weight = source.in_proj_weight[: source.embed_dim].clone()
    return weight


def _strict_off(source, target):
    target.load_state_dict(source.state_dict(), strict=False)


def _same_names(source, target):
    target.load_state_dict(source.state_dict())


def _deep_copy(source, target):
    target = copy.deepcopy(source)
    return target


def _columns(source, target):
    d = source.embed_dim
    weight = source.in_proj_weight.data.T
    for i, part in enumerate((target.q_proj, target.k_proj, target.v_proj)):
        part.weight.data = weight[:, i * d : (i + 1) * d].clone()


def _out_bias_left(source, target):
    target.out_proj.bias.data.add_(1.0)


def _by_copy_on_leaf(source, target):
    target.q_proj.weight.copy_(source.in_proj_weight[: source.embed_dim])


WRONG[COPY] = {
    "q, v, k": _order("q_proj", "v_proj", "k_proj"),
    "k, q, v": _order("k_proj", "q_proj", "v_proj"),
    "views": _copy_but(_views),
    "biases zero": _copy_but(_biases_zero),
    "a tensor for a parameter": _new_tensors,
    "parameters zipped": _named_parameters_zipped,
    "frozen": _copy_but(_frozen),
    "source zeroed": _copy_but(_source_zeroed),
    "local names": _local_names,
    "strict off": _strict_off,
    "the same names": _same_names,
    "a deep copy": _deep_copy,
    "columns": _copy_but(_columns),
    "output bias off": _copy_but(_out_bias_left),
    "onto a leaf": _by_copy_on_leaf,
    "shared output": _copy_but(lambda source, target: setattr(target, "out_proj", source.out_proj)),
    "nothing": lambda source, target: None,
    "output only": lambda source, target: target.out_proj.load_state_dict(source.out_proj.state_dict()),
    "weights only": lambda source, target: [
        part.weight.data.copy_(weight)
        for part, weight in zip(
            (target.q_proj, target.k_proj, target.v_proj, target.out_proj),
            (*source.in_proj_weight.chunk(3), source.out_proj.weight),
            strict=True,
        )
    ],
    "averaged": _copy_but(lambda source, target: target.q_proj.weight.data.mul_(0.5)),
    "transposed output": _copy_but(
        lambda source, target: target.out_proj.weight.data.copy_(source.out_proj.weight.data.T)
    ),
}
