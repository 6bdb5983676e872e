"""Describes how wrong masks differ from the right ones, by the first of MASKS that holds for all Boolean
results.
"""

import torch

from autograder.judge.relations.pair import NOTHING, Pairs, Relation, Words
from autograder.judge.relations.places import LINES, common_place, same_rows

NOTHING_BLOCKED = (
    "Your mask is True everywhere: it blocks nothing.",
    "Which positions should be blocked?",
)
ALL_BLOCKED = (
    "Your mask is False everywhere: it allows nothing.",
    "Which positions should be allowed?",
)
SAMPLES_ALIKE = (
    "Your mask is the same for every sample.",
    "What should differ from one sample to the next?",
)
ONE_PART = (
    "Your mask is right except {}.",
    "Write out the mask for three tokens by hand. Which entries differ from yours?",
)
TOO_OPEN = (
    "Your mask allows too much: every wrong entry is a True that should be False.",
    "Which positions does your mask allow that should be blocked?",
)
TOO_CLOSED = (
    "Your mask blocks too much: every wrong entry is a False that should be True.",
    "Which positions does your mask block that should be allowed?",
)
BOTH = (
    "Your mask allows positions that should be blocked, and blocks others that should be allowed.",
    "Which positions of the first row should be True?",
)


def _are_numbers(wrong: Pairs, pairs: Pairs) -> Words | None:
    return NOTHING if wrong[0].expected.dtype is not torch.bool else None


def _nothing_blocked(wrong: Pairs, pairs: Pairs) -> Words | None:
    return NOTHING_BLOCKED if all(bool(p.actual.all()) for p in pairs) else None


def _all_blocked(wrong: Pairs, pairs: Pairs) -> Words | None:
    return None if any(bool(p.actual.any()) for p in pairs) else ALL_BLOCKED


def _samples_alike(wrong: Pairs, pairs: Pairs) -> Words | None:
    samples = [p for p in pairs if p.expected.dim() >= 3 and not _is_constant(p.expected)]
    return SAMPLES_ALIKE if len(samples) > 1 and all(_is_constant(p.actual) for p in samples) else None


def _one_part(wrong: Pairs, pairs: Pairs) -> Words | None:
    place = common_place(wrong, LINES)
    return (ONE_PART[0].format(place), ONE_PART[1]) if place else None


def _open_or_closed(wrong: Pairs, pairs: Pairs) -> Words:
    opened = any(bool((p.actual & ~p.expected).any()) for p in wrong)
    closed = any(bool((p.expected & ~p.actual).any()) for p in wrong)
    return BOTH if opened and closed else TOO_OPEN if opened else TOO_CLOSED


def _is_constant(mask: torch.Tensor) -> bool:
    """Return whether all samples have the same mask."""
    return torch.equal(mask, mask[:1].expand_as(mask))


MASKS: dict[str, Relation] = {
    "numbers": _are_numbers,
    "nothing blocked": _nothing_blocked,
    "all blocked": _all_blocked,
    "samples alike": _samples_alike,
    "same rows": same_rows,
    "one part": _one_part,
    "too open or too closed": _open_or_closed,
}
