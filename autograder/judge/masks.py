"""Describes how wrong masks differ from the right ones: one sentence about all results of True and False."""

from collections.abc import Callable

import torch

from autograder.values import Record

Masks = list[tuple[torch.Tensor, torch.Tensor]]  # expected and actual

NOTHING_BLOCKED = (
    "Your mask is True everywhere: it blocks nothing.",
    "Which positions should not be seen, and which line makes that so?",
)
ALL_BLOCKED = (
    "Your mask is False everywhere: nothing may be seen.",
    "Which positions should be seen, and which line makes that so?",
)
SAMPLES_ALIKE = (
    "Every sample has the same mask in yours.",
    "Which axis stands for the samples, and what changes along it?",
)
ROWS_ALIKE = (
    "All rows of your mask are alike.",
    "Which index should change from row to row, and does it?",
)
ONE_PART = (
    "Your mask is right but {}.",
    "Draw the table for three or four tokens by hand: what stands there, and what does your line put there?",
)
TOO_OPEN = (
    "Your mask allows too much: every wrong entry is a True that should be False.",
    "Which positions should be closed that yours leaves open?",
)
TOO_CLOSED = (
    "Your mask blocks too much: every wrong entry is a False that should be True.",
    "Which positions should be open that yours closes?",
)
BOTH = (
    "Your mask opens positions that should be closed, and closes others that should be open.",
    "Write down one row by hand: which positions are True, and by which comparison?",
)
PARTS: tuple[tuple[str, Callable[[torch.Tensor], torch.Tensor]], ...] = (
    # a place, and the entries outside it
    ("on the diagonal", lambda far: far & ~torch.eye(*far.shape[-2:], dtype=torch.bool)),
    ("in the first row", lambda far: far[..., 1:, :]),
    ("in the last row", lambda far: far[..., :-1, :]),
    ("in the first column", lambda far: far[..., 1:]),
    ("in the last column", lambda far: far[..., :-1]),
)


def mask_relation(expected: list[Record], records: list[Record]) -> tuple[str, str] | None:
    """Observation and question about wrong masks, or None if the results are not masks."""
    outputs = ([one.get("steps", {}).get("output", {}).get("data") for one in both] for both in zip(expected, records))
    pairs = [(right, actual) for right, actual in outputs if _is_mask(right) and _is_mask(actual)]
    pairs = [(right, actual) for right, actual in pairs if right.shape == actual.shape and right.numel()]
    wrong = [(right, actual) for right, actual in pairs if not torch.equal(right, actual)]
    return _describe(pairs, wrong) if wrong else None


def _is_mask(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.bool


def _describe(pairs: Masks, wrong: Masks) -> tuple[str, str]:
    if all(bool(actual.all()) for _, actual in pairs):
        return NOTHING_BLOCKED
    if not any(bool(actual.any()) for _, actual in pairs):
        return ALL_BLOCKED
    if _alike(pairs, axis=0, fewest=3):
        return SAMPLES_ALIKE
    if _alike(pairs, axis=-2, fewest=2):
        return ROWS_ALIKE
    differing = [right ^ actual for right, actual in wrong]
    if all(one.dim() > 1 and min(one.shape[-2:]) > 1 for one in differing):
        for place, outside in PARTS:
            if not any(bool(outside(one).any()) for one in differing):
                return ONE_PART[0].format(place), ONE_PART[1]
    return _direction(wrong)


def _alike(pairs: Masks, axis: int, fewest: int) -> bool:
    """Whether the actual masks are constant along an axis along which the expected ones are not."""
    varying = [actual for right, actual in pairs if right.dim() >= fewest and not _is_constant(right, axis)]
    return len(varying) > 1 and all(_is_constant(actual, axis) for actual in varying)


def _is_constant(mask: torch.Tensor, axis: int) -> bool:
    return torch.equal(mask, mask.narrow(axis, 0, 1).expand_as(mask))


def _direction(wrong: Masks) -> tuple[str, str]:
    opened = any(bool((actual & ~right).any()) for right, actual in wrong)
    closed = any(bool((right & ~actual).any()) for right, actual in wrong)
    if opened and closed:
        return BOTH
    return TOO_OPEN if opened else TOO_CLOSED
