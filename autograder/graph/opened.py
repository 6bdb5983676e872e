"""Expands PyTorch's fused functions into the steps that a picture shows.

`F.scaled_dot_product_attention` and `nn.MultiheadAttention` each run as one operation. Here each is computed
a second time, step by step, only to show the steps; the traced code still gets PyTorch's own results.

The steps are written as tables because students get this file, and no function in it may answer an exercise.
"""

import inspect
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.nn import functional as F

# (name of the result, operation, its inputs): names of earlier results, or plain values.
_SIGNS = {"@": operator.matmul, "*": operator.mul, "/": operator.truediv, "+": operator.add}
_SHARED = (
    ("key", "repeat_interleave", "key", "group", -3),
    ("value", "repeat_interleave", "value", "group", -3),
)
_SCORES = (("turned", "transpose", "key", -2, -1), ("scores", "@", "query", "turned"))
_DIVIDED = (("scores", "/", "scores", "root"),)
_MULTIPLIED = (("scores", "*", "scores", "scale"),)
_BLOCKED = (("scores", "masked_fill", "scores", "mask", -torch.inf),)
_ADDED = (("scores", "+", "scores", "mask"),)
_MIXED = (("output", "@", "weights", "value"),)
_SPLIT = (("cut", "unflatten", "whole", -1, "sizes"), ("heads", "transpose", "cut", -3, -2))
_MERGED = (("side by side", "transpose", "output", -3, -2), ("whole", "flatten", "side by side", -2))
_FUSED = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
_HEADS = inspect.signature(F.multi_head_attention_forward)


Masks = list[torch.Tensor]
NameParameter = Callable[[torch.Tensor, torch.Tensor, str], None]  # names a piece of a packed parameter


class NotCovered(Exception):
    """Raised if a call has an option that the tables do not cover; such a call is drawn as one operation."""


def is_fused(function: Callable) -> bool:
    return function in (F.scaled_dot_product_attention, F.multi_head_attention_forward)


def expand(
    function: Callable, args: tuple, kwargs: dict, name_parameter: NameParameter
) -> tuple[torch.Tensor, ...]:
    """Return the results of the fused function, computed in visible steps. Raises `NotCovered` for an option
    that the tables do not cover.

    `name_parameter(packed, tensor, name)` is called with the weight and with the bias (if any) of each
    projection; `packed` is the packed weight, or None if the weights are separate.
    """
    if function is F.scaled_dot_product_attention:
        return (_fused(dict(zip(_FUSED, args)) | kwargs),)
    bound = _HEADS.bind(*args, **kwargs)
    bound.apply_defaults()
    return _multi_head(bound.arguments, name_parameter)


def _take(steps: Iterable[tuple], known: dict[str, Any]) -> None:
    """Run the steps in order; `known` maps names to results, and each step adds its result."""
    for name, operation, first, *others in steps:
        inputs = [known.get(one, one) if isinstance(one, str) else one for one in others]
        call = _SIGNS.get(operation) or getattr(type(known[first]), operation)
        known[name] = call(known[first], *inputs)


def _fused(a: dict[str, Any]) -> torch.Tensor:
    """Return the result of F.scaled_dot_product_attention for the arguments `a`, computed in visible steps.
    Shapes: query (..., N, D), key (..., M, D), value (..., M, E) -> (..., N, E).
    """
    # subtle: the arguments are in one dict, so that no function of this file, which students get, answers an
    # exercise.
    known = {name: a[name] for name in ("query", "key", "value")} | {"scale": a.get("scale")}
    if a.get("enable_gqa"):
        known["group"] = a["query"].size(-3) // a["key"].size(-3)
        _take(_SHARED, known)
    masks = []
    if a.get("is_causal"):
        masks.append(torch.ones(a["query"].size(-2), a["key"].size(-2), dtype=torch.bool).triu(1))
    if (mask := a.get("attn_mask")) is not None:
        masks.append(mask.logical_not() if mask.dtype == torch.bool else mask)
    return _attended(known, masks, a.get("dropout_p"))["output"]


def _attended(known: dict[str, Any], masks: Masks, dropout: float | None) -> dict[str, Any]:
    """Add scores, weights and output to `known`, which holds queries, keys and values, and return it. In a
    Boolean mask, True means that a query may not attend to a key.
    """
    known["root"] = math.sqrt(known["query"].size(-1))
    _take(_SCORES + (_DIVIDED if known.get("scale") is None else _MULTIPLIED), known)
    for mask in masks:
        known["mask"] = mask
        _take(_BLOCKED if mask.dtype == torch.bool else _ADDED, known)
    known["weights"] = torch.softmax(known["scores"], dim=-1)
    if dropout:
        known["weights"] = F.dropout(known["weights"], dropout, True)
    _take(_MIXED, known)
    return known


def _multi_head(a: dict[str, Any], name_parameter: NameParameter) -> tuple[torch.Tensor, ...]:
    """Return the output and the weights (B, H, N, M) of multi-head attention for inputs (N, B, d_model).

    The inputs are transposed so that the batch comes first, as in the course. This transposition and the one
    in `nn.MultiheadAttention` undo each other and are not drawn.
    """
    if any(a[name] is not None for name in ("bias_k", "static_k", "static_v")) or a["add_zero_attn"]:
        raise NotCovered
    known: dict[str, Any] = {}
    for name, whole in zip(("query", "key", "value"), _projections(a, name_parameter)):
        cut = {"whole": whole, "sizes": (a["num_heads"], -1)}
        _take(_SPLIT, cut)
        known[name] = cut["heads"]
    _attended(known, _masks(a, known), a["dropout_p"] if a["training"] else 0.0)
    _take(_MERGED, known)
    return _turned(F.linear(known["whole"], a["out_proj_weight"], a["out_proj_bias"])), known["weights"]


def _turned(x: torch.Tensor) -> torch.Tensor:
    """Swap the axes of tokens and batch: (N, B, d_model) -> (B, N, d_model), and back. Return `x` unchanged
    if it has no batch axis.
    """
    return x.transpose(0, 1) if x.dim() == 3 else x


def _projections(a: dict[str, Any], name_parameter: NameParameter) -> Iterator[torch.Tensor]:
    """Yield q, k and v, projected with one packed weight or with three separate ones."""
    biases = (None,) * 3 if a["in_proj_bias"] is None else a["in_proj_bias"].detach().chunk(3)
    separate = [a[f"{letter}_proj_weight"] for letter in "qkv"]
    weights = separate if a["use_separate_proj_weight"] else a["in_proj_weight"].detach().chunk(3)
    for letter, x, weight, bias in zip("qkv", (a["query"], a["key"], a["value"]), weights, biases):
        name_parameter(a["in_proj_weight"], weight, f"{letter}_proj.weight")
        if bias is not None:
            name_parameter(a["in_proj_weight"], bias, f"{letter}_proj.bias")
        yield F.linear(_turned(x), weight, bias)


def _masks(a: dict[str, Any], known: dict[str, Any]) -> Masks:
    mask, padding = a["attn_mask"], a["key_padding_mask"]
    if mask is None and a["is_causal"]:
        sizes = [known[name].size(-2) for name in ("query", "key")]
        mask = torch.ones(sizes, dtype=torch.bool).triu(1)
    if mask is not None and mask.dim() == 3:
        mask = mask.unflatten(0, (-1, a["num_heads"]))
    if padding is not None and padding.dim() == 2:
        padding = padding[:, None, None, :]
    return [part for part in (mask, padding) if part is not None]
