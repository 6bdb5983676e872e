"""Cases that many exercises share, made of their first one: float64, columns in memory order, arguments by keyword, and
the parameters of new modules."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from autograder.schema.case import DTYPES, GRADIENTS, Case, Module
from autograder.values.compare import RANDOM


def standard_cases(
    first: Case, kinds: tuple[str, ...], parameters: tuple[str, ...] = (), reference: Callable | None = None
) -> list[Case]:
    """The cases of these kinds. "by name" needs the names of the arguments, and the class if it is one."""
    first = replace(first, observe=False)
    makers = {
        "float64": _in_double,
        "transposed": _transposed,
        "by name": lambda first: _by_name(first, parameters, reference),
        "new": _new,
    }
    return [makers[kind](first) for kind in kinds]


def _in_double(first: Case) -> Case:
    return replace(
        first,
        family="float64",
        aspect=DTYPES,
        args=tuple(map(_double, first.args)),
        kwargs=_double(dict(first.kwargs)),
        weights=_double(dict(first.weights)),
    )


def _double(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, Module):
        return replace(value, weights=_double(dict(value.weights)))
    if isinstance(value, dict):
        return {key: _double(item) for key, item in value.items()}
    return type(value)(map(_double, value)) if isinstance(value, (tuple, list)) else value


def _transposed(first: Case) -> Case:
    args = tuple(map(_with_columns_in_order, first.args))
    return replace(first, family="columns in memory order", args=args, gradients=False)


def _with_columns_in_order(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dim() >= 2:
        return value.mT.contiguous().mT
    return value


def _by_name(first: Case, parameters: tuple[str, ...], reference: Callable | None) -> Case:
    init = first.init
    if init and not isinstance(init, Mapping) and reference is not None:
        init = dict(zip(inspect.signature(reference).parameters, init, strict=False))
    kwargs = dict(zip(parameters, first.args, strict=False)) | dict(first.kwargs)
    return replace(first, family="arguments by name", init=init, args=(), kwargs=kwargs, gradients=False)


def _new(first: Case) -> Case:
    more: dict[str, Any] = {
        "args": (), "kwargs": {}, "gradients": False, "repeats": False, "needs": ()
    }
    return replace(first, family="a new module", aspect=GRADIENTS, new=True, expect=RANDOM, **more)
