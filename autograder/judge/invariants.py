"""Whether an invariant of an exercise is broken: what must hold over the outputs of several cases."""

import torch

from autograder.exercises.exercise import Case, Invariant

LARGE = 1000


def is_broken(invariant: Invariant, cases: list[Case], due: list, outputs: list) -> bool:
    """`due` and `outputs` hold a tensor or a number for each case, or None where there is none."""
    if not invariant.families:
        return TESTS[invariant.kind](due, outputs)
    chosen = _of_families(invariant.families, cases, outputs)
    return chosen is not None and TESTS[invariant.kind](*chosen)


def _of_families(families, cases, outputs):
    """The outputs of these families' first cases, or None where one has none."""
    by_family = {}
    for case, output in zip(cases, outputs, strict=True):
        by_family.setdefault(case.family, output)
    chosen = [by_family.get(family) for family in families]
    return None if any(output is None for output in chosen) else chosen


def _first_sample_moves(first, second) -> bool:
    return _fits(first, second) and not _alike(first[:1], second[:1])


def _past_moves(first, second) -> bool:
    return _fits(first, second) and not _alike(first[..., :-1, :], second[..., :-1, :])


def _is_not_one(output) -> bool:
    if output.dim() < 2:
        return False
    return bool(output.isfinite().all()) and not _close(torch.ones_like(output), output)


def _does_not_double(once, more) -> bool:
    return more != 2 * once


def _is_off_by_one_factor(due, outputs) -> bool:
    """All alike, but for what a division leaves over."""
    pairs = [(want, got) for want, got in zip(due, outputs, strict=True) if want and got is not None]
    ratios = [got / want for want, got in pairs if got > LARGE]
    return bool(ratios) and max(ratios) < 1.01 * min(ratios) and abs(ratios[0] - 1) > 0.01


TESTS = {
    "samples apart": _first_sample_moves,
    "past only": _past_moves,
    "shares sum to one": _is_not_one,
    "doubles": _does_not_double,
    "one factor": _is_off_by_one_factor,
}


def _fits(first, second) -> bool:
    return first.shape == second.shape and first.dim() >= 2


def _alike(first, second) -> bool:
    # NaN is told by itself: only numbers that differ are a trace from one place to another.
    return not (first.isfinite().all() and second.isfinite().all()) or _close(first, second)


def _close(first, second) -> bool:
    # Wider than the judge's own tolerance: this only chooses words for an answer already found wrong.
    return torch.allclose(first.double(), second.double(), rtol=1e-3, atol=1e-3)
