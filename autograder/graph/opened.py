"""PyTorch's fused functions, as the steps that a picture shows.

`F.scaled_dot_product_attention`, `nn.MultiheadAttention`, a mean of neighbours and a convolution of width one run
as one operation. Here each is computed a second time step by step, only so that the steps can be seen; the values
that go on are PyTorch's own. The steps are a table: what stands here is what
`draw(F.scaled_dot_product_attention, q, k, v)` shows, and no code that answers an exercise.
"""

import inspect
import math
import operator

import torch
from torch.nn import functional as F

_HEADS = inspect.signature(F.multi_head_attention_forward)


def is_fused(function):
    return function in (F.scaled_dot_product_attention, F.multi_head_attention_forward, F.avg_pool1d, F.conv1d)


def expand(function, args, kwargs, tracer):
    """The results of the fused function, by visible steps. Raises where an option is not covered."""
    if function is F.scaled_dot_product_attention:
        return (_attention(_asked(*args, **kwargs)),)
    if function is F.avg_pool1d:
        return (_mean_of_neighbours(*args, **kwargs),)
    if function is F.conv1d:
        return (_linear_for_each(*args, **kwargs),)
    bound = _HEADS.bind(*args, **kwargs)
    bound.apply_defaults()
    return _multi_head(bound.arguments, tracer)


# (name of the result, operation, its inputs): names of earlier results, or plain values.
_SIGNS = {"@": operator.matmul, "*": operator.mul, "/": operator.truediv, "+": operator.add}
_SHARED = (
    ("key", "repeat_interleave", "key", "group", -3),
    ("value", "repeat_interleave", "value", "group", -3),
)
_SCORES = (("turned", "transpose", "key", -2, -1), ("scores", "@", "query", "turned"))
_DIVIDED = (("scores", "/", "scores", "root"),)
_MULTIPLIED = (("scores", "*", "scores", "scale"),)
_BLOCKED = (("blocked", "logical_not", "mask"), ("scores", "masked_fill", "scores", "blocked", -torch.inf))
_ADDED = (("scores", "+", "scores", "mask"),)
_MIXED = (("output", "@", "weights", "value"),)
_SPLIT = (("cut", "unflatten", "whole", -1, "sizes"), ("heads", "transpose", "cut", -3, -2))
_MERGED = (("side by side", "transpose", "output", -3, -2), ("whole", "flatten", "side by side", -2))
_MEAN = (("groups", "unflatten", "whole", -1, "sizes"), ("mean", "mean", "groups", -1))


def _take(steps, known):
    """Takes the steps one after the other; `known` holds results by name, and gets those of the steps."""
    for name, operation, first, *others in steps:
        inputs = [known.get(one, one) if isinstance(one, str) else one for one in others]
        call = _SIGNS.get(operation) or getattr(type(known[first]), operation)
        known[name] = call(known[first], *inputs)


def _asked(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """What a call of `F.scaled_dot_product_attention` asks for, by names."""
    return {"query": query, "key": key, "value": value, "mask": attn_mask, "dropout": dropout_p,
            "causal": is_causal, "scale": scale, "shared": enable_gqa}  # fmt: skip


def _attention(known):
    """(..., N, D), (..., M, D), (..., M, E) -> (..., N, E)"""
    query, key = known["query"], known["key"]
    known["root"] = math.sqrt(query.size(-1))
    if known["shared"]:
        known["group"] = query.size(-3) // key.size(-3)
        _take(_SHARED, known)
    _take(_SCORES + (_DIVIDED if known["scale"] is None else _MULTIPLIED), known)
    if known["causal"]:
        known["mask"] = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool).tril()
    if known["mask"] is not None:
        _take(_BLOCKED if known["mask"].dtype == torch.bool else _ADDED, known)
    return _weighted(known, known["dropout"])["output"]


def _weighted(known, dropout):
    """From scores to weights and output."""
    known["weights"] = torch.softmax(known["scores"], dim=-1)
    if dropout:
        known["weights"] = F.dropout(known["weights"], dropout, True)
    _take(_MIXED, known)
    return known


def _mean_of_neighbours(x, size):
    """The mean of each `size` neighbours along the last axis, (..., M) -> (..., M / size)."""
    known = {"whole": x, "sizes": (-1, size)}
    _take(_MEAN, known)
    return known["mean"]


def _linear_for_each(input, weight, bias=None):
    """A convolution of width one is a linear layer for each token, (B, E, N) -> (B, F, N)."""
    if weight.size(-1) != 1 or weight.size(1) != input.size(-2):
        raise NotImplementedError
    return F.linear(input.mT, weight.squeeze(-1), bias).mT


def _multi_head(a, tracer):
    """Tokens come first here: (N, B, d_model). Returns the output and the weights (B, H, N, M).

    It is computed with the batch first, as the course does: the turn there and the one in
    `nn.MultiheadAttention` undo each other and are not drawn.
    """
    if any(a[name] is not None for name in ("bias_k", "static_k", "static_v")) or a["add_zero_attn"]:
        raise NotImplementedError
    width = a["query"].size(-1) // a["num_heads"]
    known = {"root": math.sqrt(width)}
    for name, whole in zip(("query", "key", "value"), _projections(a, tracer)):
        cut = {"whole": whole, "sizes": (a["num_heads"], width)}
        _take(_SPLIT, cut)
        known[name] = cut["heads"]
    _take(_SCORES + _DIVIDED, known)
    known["scores"] = _masked(known["scores"], a)
    _weighted(known, a["dropout_p"] if a["training"] else 0.0)
    _take(_MERGED, known)
    return _turned(F.linear(known["whole"], a["out_proj_weight"], a["out_proj_bias"])), known["weights"]


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
