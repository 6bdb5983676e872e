"""Tests whether an answer breaks an invariant of the exercise, that is, a condition on the outputs of several
cases.
"""

from collections.abc import Callable
from typing import Any

import torch

from autograder.schema.case import Case
from autograder.schema.exercise import Invariant

LARGE = 1000


def is_broken(invariant: Invariant, cases: list[Case], expected: list[Any], actual: list[Any]) -> bool:
    """Return whether the outputs `actual` break an invariant. Each case has one output: a tensor, an integer,
    or None for anything else.
    """
    if not invariant.families:
        return TESTS[invariant.kind](expected, actual)
    chosen = _of_families(invariant.families, cases, actual)
    return all(output is not None for output in chosen) and TESTS[invariant.kind](*chosen)


def _of_families(families: tuple[str, ...], cases: list[Case], outputs: list[Any]) -> list[Any]:
    """Return, for each of `families`, the output of its first case, or None if it has no case."""
    by_family: dict[str, Any] = {}
    for case, output in zip(cases, outputs, strict=True):
        by_family.setdefault(case.family, output)
    return [by_family.get(family) for family in families]


def _first_sample_moves(first: torch.Tensor, second: torch.Tensor) -> bool:
    return _comparable(first, second) and not _alike(first[:1], second[:1])


def _past_moves(first: torch.Tensor, second: torch.Tensor) -> bool:
    return _comparable(first, second) and not _alike(first[..., :-1, :], second[..., :-1, :])


def _is_not_one(output: torch.Tensor) -> bool:
    if output.dim() < 2:
        return False
    return bool(output.isfinite().all()) and not _close(torch.ones_like(output), output)


def _does_not_double(once: Any, more: Any) -> bool:
    return more != 2 * once


def _is_off_by_one_factor(expected: list[Any], actual: list[Any]) -> bool:
    """Return whether all large numbers are off by the same factor, apart from rounding in a division."""
    pairs = [(one, other) for one, other in zip(expected, actual, strict=True) if one and other is not None]
    ratios = [other / one for one, other in pairs if other > LARGE]
    return bool(ratios) and max(ratios) < 1.01 * min(ratios) and abs(ratios[0] - 1) > 0.01


TESTS: dict[str, Callable[..., bool]] = {
    "samples apart": _first_sample_moves,
    "past only": _past_moves,
    "shares sum to one": _is_not_one,
    "doubles": _does_not_double,
    "one factor": _is_off_by_one_factor,
}


def _comparable(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.shape == second.shape and first.dim() >= 2


def _alike(first: torch.Tensor, second: torch.Tensor) -> bool:
    # NaN is another fault: only finite numbers show that one position affects another.
    return not (first.isfinite().all() and second.isfinite().all()) or _close(first, second)


def _close(first: torch.Tensor, second: torch.Tensor) -> bool:
    # Wider than the judge's own tolerance: this only chooses words for an answer already found wrong.
    return torch.allclose(first.double(), second.double(), rtol=1e-3, atol=1e-3)
