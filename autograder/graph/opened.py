"""PyTorch's fused functions, written out as the mathematics that they do.

`F.scaled_dot_product_attention`, `nn.MultiheadAttention` and a mean of neighbours run as one operation. Here
each is computed a second time step by step, only so that the steps can be seen; the values that go on are
PyTorch's own.
"""

import inspect
import math

import torch
from torch.nn import functional as F

_HEADS = inspect.signature(F.multi_head_attention_forward)


def is_fused(function):
    return function in (F.scaled_dot_product_attention, F.multi_head_attention_forward, F.avg_pool1d)


def expand(function, args, kwargs, tracer):
    """The results of the fused function, by visible steps. Raises where an option is not covered."""
    if function is F.scaled_dot_product_attention:
        return (_attention(*args, **kwargs),)
    if function is F.avg_pool1d:
        return (_mean_of_neighbours(*args, **kwargs),)
    bound = _HEADS.bind(*args, **kwargs)
    bound.apply_defaults()
    return _multi_head(bound.arguments, tracer)


def _attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(q k^T / sqrt(D)) v, (..., N, D), (..., M, D), (..., M, E) -> (..., N, E)"""
    if enable_gqa:
        group = query.size(-3) // key.size(-3)
        key, value = key.repeat_interleave(group, -3), value.repeat_interleave(group, -3)
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1)) if scale is None else scores * scale
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(attn_mask.logical_not(), -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = torch.softmax(scores, dim=-1)
    if dropout_p:
        weights = F.dropout(weights, dropout_p, True)
    return weights @ value


def _mean_of_neighbours(x, size):
    """The mean of each `size` neighbours along the last axis, (..., M) -> (..., M / size)."""
    return x.unflatten(-1, (-1, size)).mean(dim=-1)


def _multi_head(a, tracer):
    """Tokens come first here: (N, B, d_model). Returns the output and the weights (B, H, N, M).

    It is computed with the batch first, as the course does: the turn there and the one in
    `nn.MultiheadAttention` undo each other and are not drawn.
    """
    if (
        a["bias_k"] is not None
        or a["add_zero_attn"]
        or a["static_k"] is not None
        or a["static_v"] is not None
    ):
        raise NotImplementedError
    heads = a["num_heads"]
    width = a["query"].size(-1) // heads

    def split(x):  # (B, N, d_model) -> (B, H, N, D)
        return x.unflatten(-1, (heads, width)).transpose(-3, -2)

    q, k, v = (split(x) for x in _projections(a, tracer))
    scores = q @ k.transpose(-2, -1) / math.sqrt(width)
    scores = _masked(scores, a)
    weights = torch.softmax(scores, dim=-1)
    if a["dropout_p"] and a["training"]:
        weights = F.dropout(weights, a["dropout_p"], True)
    mixed = weights @ v
    merged = mixed.transpose(-3, -2).flatten(-2)
    return _turned(F.linear(merged, a["out_proj_weight"], a["out_proj_bias"])), weights


def _turned(x):
    """(N, B, d_model) -> (B, N, d_model), and back."""
    return x.transpose(0, 1) if x.dim() == 3 else x


def _projections(a, tracer):
    """q, k, v from one packed weight or three."""
    biases = (None,) * 3 if a["in_proj_bias"] is None else a["in_proj_bias"].detach().chunk(3)
    if a["use_separate_proj_weight"]:
        weights = [a["q_proj_weight"], a["k_proj_weight"], a["v_proj_weight"]]
    else:
        weights = a["in_proj_weight"].detach().chunk(3)
    part = tracer.names.get(id(a["in_proj_weight"]), "in_proj_weight").removesuffix("in_proj_weight")
    results = []
    for letter, x, weight, bias in zip("qkv", (a["query"], a["key"], a["value"]), weights, biases):
        tracer.leaf(weight, "parameter", f"{part}{letter}_proj.weight")
        if bias is not None:
            tracer.leaf(bias, "parameter", f"{part}{letter}_proj.bias")
        results.append(F.linear(_turned(x), weight, bias))
    return results


def _masked(scores, a):
    mask = a["attn_mask"]
    if mask is None and a["is_causal"]:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    for part in (mask, a["key_padding_mask"]):
        if part is None:
            continue
        if part is a["key_padding_mask"]:
            part = part[:, None, None, :] if part.dim() == 2 else part
        elif part.dim() == 3:
            part = part.unflatten(0, (-1, a["num_heads"]))
        # PyTorch's own rule here: True = may not attend.
        scores = scores.masked_fill(part, -torch.inf) if part.dtype == torch.bool else scores + part
    return scores
