"""What must hold over the outputs of several cases: a message for answers that have no known mistake.

Two cases that differ in one sample, in one token or in what is blocked are told by their families.
"""

import torch

from autograder.exercises.exercise import Invariant


def _named(cases, outputs, *families):
    """The outputs of these families' first cases, or None where one has none."""
    by_family = {}
    for case, output in zip(cases, outputs, strict=True):
        by_family.setdefault(case.family, (case, output))
    chosen = [by_family[family] for family in families if family in by_family]
    whole = len(chosen) == len(families) and all(output is not None for _, output in chosen)
    return chosen if whole else None


def _all_alike(pair, part) -> bool:
    # NaN is told by itself: only numbers that differ are a trace from one place to another.
    first, second = (part(output) for _, output in pair)
    return not (first.isfinite().all() and second.isfinite().all()) or _close(first, second)


def samples_apart(first: str, second: str) -> Invariant:
    """Two cases that differ in all samples but the first must agree in the first."""

    def broken(cases, outputs):
        pair = _named(cases, outputs, first, second)
        return bool(pair) and _fits(pair) and not _all_alike(pair, lambda output: output[:1])

    return Invariant(
        "samples apart",
        "Changing one sample moves the output of another.",
        "In which step do numbers of two samples meet?",
        broken,
    )


def past_only(first: str, second: str) -> Invariant:
    """Two cases under a causal mask that differ in the last token must agree in all tokens before."""

    def broken(cases, outputs):
        pair = _named(cases, outputs, first, second)
        return bool(pair) and _fits(pair) and not _all_alike(pair, lambda output: output[..., :-1, :])

    return Invariant(
        "past only",
        "Under a causal mask, changing the last token moves the output of an earlier one.",
        "By which way does an earlier token learn of the last one?",
        broken,
    )


def must_differ(first: str, second: str, sees: str, asks: str) -> Invariant:
    """Two cases that differ in what should matter must not give the same."""

    def broken(cases, outputs):
        pair = _named(cases, outputs, first, second)
        return bool(pair) and _fits(pair) and _all_alike(pair, lambda output: output)

    return Invariant(f"{first} matters", sees, asks, broken)


def shares_sum_to_one(family: str) -> Invariant:
    """In a case whose values are all 1, every output must be 1."""

    def broken(cases, outputs):
        chosen = _named(cases, outputs, family)
        if not chosen or chosen[0][1].dim() < 2:
            return False
        output = chosen[0][1]
        return bool(output.isfinite().all()) and not _close(torch.ones_like(output), output)

    return Invariant(
        "shares sum to one",
        "When every value is 1, some of your outputs are not: the weights of a query do not sum to one.",
        "For one query, what should its weights over the keys it may see add up to?",
        broken,
    )


def _fits(pair) -> bool:
    (_, first), (_, second) = pair
    return first.shape == second.shape and first.dim() >= 2


def _close(first, second) -> bool:
    # Wider than the judge's own tolerance: this only chooses words for an answer already found wrong.
    return torch.allclose(first.double(), second.double(), rtol=1e-3, atol=1e-3)
