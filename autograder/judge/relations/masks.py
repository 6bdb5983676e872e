"""Describes how wrong masks differ from the right ones: one sentence about all results of True and False."""

import torch

from autograder.judge.relations.pair import Pairs, Words
from autograder.judge.relations.places import LINES, common_place, same_rows

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


def masks(wrong: Pairs, pairs: Pairs) -> Words | None:
    """Wrong masks; None if the results are numbers."""
    if wrong[0].expected.dtype is not torch.bool:
        return None
    if all(bool(p.actual.all()) for p in pairs):
        return NOTHING_BLOCKED
    if not any(bool(p.actual.any()) for p in pairs):
        return ALL_BLOCKED
    samples = [p for p in pairs if p.expected.dim() >= 3 and not _is_constant(p.expected)]
    if len(samples) > 1 and all(_is_constant(p.actual) for p in samples):
        return SAMPLES_ALIKE
    if rows := same_rows(wrong, pairs):
        return rows
    if place := common_place(wrong, LINES):
        return ONE_PART[0].format(place), ONE_PART[1]
    opened = any(bool((p.actual & ~p.expected).any()) for p in wrong)
    closed = any(bool((p.expected & ~p.actual).any()) for p in wrong)
    return BOTH if opened and closed else TOO_OPEN if opened else TOO_CLOSED


def _is_constant(mask: torch.Tensor) -> bool:
    """Whether all samples have the same mask."""
    return torch.equal(mask, mask[:1].expand_as(mask))
