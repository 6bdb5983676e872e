"""Ways to try an answer other than calling it.

A procedure is called as `procedure(answer, *args, **kwargs)` and returns plain parameters. It decides nothing: results
are computed from these parameters in the judge (autograder.judge.procedures).
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from autograder.faults import door
from autograder.probe.build import LINEAR, FourProjections, attributes_of

PARTS = ("q_proj", "k_proj", "v_proj", "out_proj")
TARGET = tuple(f"{part}.{kind}" for part in PARTS for kind in ("weight", "bias"))
SOURCE = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
Parameters = dict[str, torch.Tensor]


@door
def copy_weights(
    answer: Callable, source: nn.MultiheadAttention, target: nn.Module, x: torch.Tensor, look: str
) -> dict[str, Any]:
    """Lets `answer` copy the weights of `source` (an nn.MultiheadAttention) into `target`. Returns the parameters that
    `look` asks for, by name.

    "output"    the target's
    "source"    the source's
    "later"     the target's before and after a change of the source, then the source's before and after a change of
                the target
    "learning"  the gradients of the target's, None for those without one
    "source learning"  the source's, None for those that need no gradient any more

    Raises TypeError if one of the modules holds anything but plain parameters.
    """
    n_heads = source.num_heads
    target_copy, source_copy = (copy.deepcopy(module).to(x.dtype) for module in (target, source))
    answer(source_copy, target_copy)
    if look == "source":
        return _parameters_of_source(source_copy)
    if look == "source learning":
        held = _parameters_of_source(source_copy)
        return {name: parameter if parameter.requires_grad else None for name, parameter in held.items()}
    parameters = _parameters_of_target(target_copy)
    if look == "later":
        return _later(_parameters_of_source(source_copy), parameters)
    return _gradients(parameters, n_heads, x) if look == "learning" else parameters


def _parameters_of_target(target: object) -> Parameters:
    parts = _attributes(target, "target", (FourProjections,))["_modules"]
    layers = {part: _layer(parts.get(part), f"target.{part}") for part in PARTS}
    return {f"{part}.{kind}": value for part, layer in layers.items() for kind, value in layer.items()}


def _parameters_of_source(source: object) -> Parameters:
    held = _attributes(source, "source", (nn.MultiheadAttention,))
    out = _layer(held["_modules"].get("out_proj"), "source.out_proj")
    packed = _plain(held["_parameters"], "source", SOURCE[:2])
    return packed | {f"out_proj.{kind}": value for kind, value in out.items()}


def _layer(layer: object, name: str) -> Parameters:
    return _plain(_attributes(layer, name, LINEAR)["_parameters"], name, ("weight", "bias"))


@door
def _attributes(module: object, name: str, kinds: tuple[type, ...]) -> dict[str, Any]:
    held = attributes_of(module, kinds)
    if held is None:
        raise TypeError(f"{name} is no longer the plain {kinds[0].__name__} that it was")
    return held


@door
def _plain(parameters: dict[str, Any], name: str, kinds: tuple[str, ...]) -> Parameters:
    for kind in kinds:
        if type(parameters.get(kind)) is not nn.Parameter:
            raise TypeError(f"{name}.{kind} is not a plain nn.Parameter")
    return {kind: parameters[kind] for kind in kinds}


def _later(source: Parameters, target: Parameters) -> dict[str, Parameters]:
    return {
        "target": _values(target),
        "target, the source changed": _values_after_change(target, source),
        "source": _values(source),
        "source, the target changed": _values_after_change(source, target),
    }


def _values(parameters: Parameters) -> Parameters:
    return {name: parameter.detach().clone() for name, parameter in parameters.items()}


@door
def _values_after_change(parameters: Parameters, others: Parameters) -> Parameters:
    with torch.no_grad():
        for other in others.values():
            other.add_(1.0)
    return _values(parameters)


@door
def _gradients(parameters: Parameters, n_heads: int, x: torch.Tensor) -> dict[str, torch.Tensor | None]:
    output = attend_with(parameters, n_heads, x)
    if output.requires_grad:
        output.square().sum().backward()
    return {name: parameter.grad for name, parameter in parameters.items()}


def attend_with(parameters: Parameters, n_heads: int, x: torch.Tensor) -> torch.Tensor:
    """Multi-head self-attention of x (B, N, d_model) with the parameters of four projections (TARGET)."""

    def project(part: str, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, parameters[f"{part}.weight"], parameters[f"{part}.bias"])

    q, k, v = (project(part, x) for part in PARTS[:3])
    return project("out_proj", attend_in_heads(q, k, v, n_heads)[0])


def attend_in_heads(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, n_heads: int, blocked: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and weights (B, H, N, M) of PyTorch's multi-head attention for queries, keys and values (B, N, d_model)
    that are projected already. `blocked` is a mask in PyTorch's sense: True = may not attend."""
    d_model = q.shape[-1]
    identity = torch.eye(d_model, dtype=q.dtype)
    q, k, v = (part.transpose(0, 1) for part in (q, k, v))
    output, weights = F.multi_head_attention_forward(
        q, k, v, d_model, n_heads, None, None, None, None, False, 0.0, identity, None,
        attn_mask=blocked, average_attn_weights=False, use_separate_proj_weight=True,
        q_proj_weight=identity, k_proj_weight=identity, v_proj_weight=identity,
    )
    assert weights is not None
    return output.transpose(0, 1), weights


PROCEDURES = {"copy_weights": copy_weights}
