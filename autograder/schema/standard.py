"""Standard cases, which are derived from an exercise's own cases: float64 inputs, tensors stored column by
column, arguments by keyword, and the parameters of new modules.

The float64 case is derived from the case marked with `float64`, or else from the first. FROM_TABLES means
float64 inputs with the float32 tolerance, for exercises whose answers may compute tables in float32 in
advance.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from autograder.schema.case import (
    DTYPES,
    GRADIENTS,
    IN_DOUBLE,
    SIDE_EFFECTS,
    VALUES,
    Case,
    Module,
    Optimizer,
    float_type,
    tensors_in,
)
from autograder.schema.twice import TWICE, is_plain
from autograder.values.compare import RANDOM

MOST_CALLS_ELSEWHERE = 3
BEYOND_SINGLE = 1.0 + 2.0**-26  # adds at most a quarter of float32's last digit, which rounding removes
TRANSPOSED = "columns in memory order"
FROM_TABLES = "float64 from tables of float32"


def standard_cases(
    cases: list[Case],
    kinds: tuple[str, ...],
    parameters: tuple[str, ...] = (),
    reference: Callable | None = None,
) -> list[Case]:
    """Return a standard case of each of these kinds. "by name" needs the names of the arguments,
    `parameters`; in a class exercise, it takes the names of the constructor's arguments from `reference`.
    """
    marked = next((case for case in cases if case.float64), cases[0])
    first, double, most = (
        replace(case, observe=False) for case in (cases[0], marked, _of_most_arguments(cases))
    )
    makers = {
        "float64": lambda: _in_double(double),
        FROM_TABLES: lambda: replace(_in_double(first), scale=first.scale / IN_DOUBLE),
        "transposed": lambda: _transposed(most),
        "by name": lambda: _by_name(most, parameters, reference),
        "new": lambda: _new(first),
    }
    return [makers[kind]() for kind in kinds]


def kinds_of(cases: list[Case], kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return `kinds`, with "transposed" added if it applies and the exercise's own `cases` contain only
    contiguous tensors.
    """
    if "transposed" in kinds or any(map(_gives_not_contiguous, cases)):
        return kinds
    return (*kinds, "transposed") if _gives_not_contiguous(_transposed(_of_most_arguments(cases))) else kinds


def _gives_not_contiguous(case: Case) -> bool:
    return any(not tensor.is_contiguous() for tensor in tensors_in((case.args, case.kwargs)))


def _of_most_arguments(cases: list[Case]) -> Case:
    """Return the case with the most arguments (the first of them, if there is a tie) among the ordinary cases
    with a single call; if there are none, return the first case.
    """
    plain = [case for case in cases if case.aspect == VALUES and is_plain(case) and not case.script]
    return max(plain, key=lambda case: len(case.args) + len(case.kwargs), default=cases[0])


def as_exact_as_float64(case: Case) -> Case:
    """Return the case. If it has float64 inputs and counts for the float64 aspect, its tolerance is lowered
    to what float64 allows.
    """
    exact = case.aspect == DTYPES and float_type(case) == torch.float64
    return replace(case, scale=case.scale * IN_DOUBLE) if exact else case


def on_another_device(cases: list[Case], parameters: tuple[str, ...]) -> list[Case]:
    """Return the cases, with up to MOST_CALLS_ELSEWHERE of them marked to be run on another device as well:
    for each set of arguments that occurs, the first suitable case that passes it.

    If the cases use float32 but never float64, none is marked: a right answer may then keep constants in
    plain tensors, which stay on the CPU.
    """
    types = {tensor.dtype for case in cases for tensor in tensors_in((case.args, case.kwargs, case.weights))}
    if torch.float32 in types and torch.float64 not in types:
        return cases
    chosen: dict[frozenset, int] = {}
    for number, case in enumerate(cases):
        plain = case.has_usage and not case.raises and case.family != TWICE
        if plain and next(tensors_in((case.args, case.kwargs)), None) is not None:
            chosen.setdefault(_arguments_given(case, parameters), number)
    numbers = sorted(chosen.values())[:MOST_CALLS_ELSEWHERE]
    return [replace(case, elsewhere=number in numbers) for number, case in enumerate(cases)]


def _arguments_given(case: Case, parameters: tuple[str, ...]) -> frozenset:
    """Return the names of the arguments that are neither None nor False."""
    named = dict(zip(parameters, case.args, strict=False)) | dict(case.kwargs)
    return frozenset(name for name, value in named.items() if value is not None and value is not False)


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
        return _beyond_single(value.double()) if value.is_floating_point() else value
    if isinstance(value, Module):
        return replace(value, weights=_double(dict(value.weights)))
    if isinstance(value, dict):
        return {key: _double(item) for key, item in value.items()}
    return type(value)(map(_double, value)) if isinstance(value, (tuple, list)) else value


def _beyond_single(value: torch.Tensor) -> torch.Tensor:
    """Return the numbers changed so slightly that float32 cannot hold them. An answer that computes in
    float32 is then detected even if it only moves entries. Whole numbers, such as those of a mask, and rows
    that sum to one are not changed.
    """
    whole = bool((value == value.round()).all())
    shares = value.dim() > 0 and bool((value.sum(dim=-1) == 1.0).all())
    return value if whole or shares else value * BEYOND_SINGLE


def _transposed(first: Case) -> Case:
    args, kwargs = (_not_contiguous(given) for given in (first.args, dict(first.kwargs)))
    # An answer with a step that fails only on some layouts, such as `view`, loses only one aspect, because
    # its numbers are otherwise right.
    return replace(first, family=TRANSPOSED, args=args, kwargs=kwargs, gradients=False, aspect=SIDE_EFFECTS)


def _not_contiguous(value: Any) -> Any:
    """Return the value with its tensors stored column by column or, where this changes nothing, with gaps
    between their entries in memory.
    """
    if isinstance(value, torch.Tensor) and value.dim() > 0 and value.numel() > 1:
        columns = value.mT.contiguous().mT if value.dim() > 1 else value
        return torch.stack((value, value), dim=-1)[..., 0] if columns.is_contiguous() else columns
    if isinstance(value, dict):
        return {key: _not_contiguous(item) for key, item in value.items()}
    return type(value)(map(_not_contiguous, value)) if isinstance(value, (tuple, list)) else value


def _by_name(first: Case, parameters: tuple[str, ...], reference: Callable | None) -> Case:
    init = first.init
    if init and not isinstance(init, Mapping) and reference is not None:
        init = dict(zip(inspect.signature(reference).parameters, init, strict=False))
    names = dict(zip(map(str, range(len(first.args))), parameters, strict=False))
    kwargs = dict(zip(parameters, first.args, strict=False)) | dict(first.kwargs)
    kwargs = {
        name: replace(value, of=names.get(value.of, value.of)) if isinstance(value, Optimizer) else value
        for name, value in kwargs.items()
    }
    renamed: dict[str, Any] = {
        field: tuple(names.get(name, name) for name in getattr(first, field))
        for field in ("changes", "calls")
    }
    more: dict[str, Any] = {"init": init, "args": (), "kwargs": kwargs, "gradients": False}
    return replace(first, family="arguments by name", **more, **renamed)


def _new(first: Case) -> Case:
    more: dict[str, Any] = {"args": (), "kwargs": {}, "gradients": False, "repeats": False, "needs": ()}
    return replace(first, family="a new module", aspect=GRADIENTS, new=True, expect=RANDOM, **more)
