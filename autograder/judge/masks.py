"""What kind of other mask is it? One sentence about all wrong results of True and False."""

import torch

from autograder.exercises.exercise import Case

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
    "Your mask allows too much: every wrong entry is a True where False is due.",
    "Which positions should be closed that yours leaves open?",
)
TOO_CLOSED = (
    "Your mask blocks too much: every wrong entry is a False where True is due.",
    "Which positions should be open that yours closes?",
)
BOTH = (
    "Your mask opens positions that should be closed, and closes others that should be open.",
    "Write down one row by hand: which positions are True, and by which comparison?",
)
PARTS = (
    ("on the diagonal", lambda far: far & ~torch.eye(*far.shape[-2:], dtype=torch.bool)),
    ("in the first row", lambda far: far[..., 1:, :]),
    ("in the last row", lambda far: far[..., :-1, :]),
    ("in the first column", lambda far: far[..., 1:]),
    ("in the last column", lambda far: far[..., :-1]),
)


def mask_relation(cases: list[Case], expected: list[dict], records: list[dict]) -> tuple[str, str] | None:
    """(what is seen, the question to ask) of wrong masks, or None where other things than masks are due."""
    pairs = [(due.get("data"), got.get("data")) for due, got in _outputs(expected, records)]
    pairs = [(want, have) for want, have in pairs if _is_mask(want) and _is_mask(have)]
    pairs = [(want, have) for want, have in pairs if want.shape == have.shape and want.numel()]
    wrong = [(want, have) for want, have in pairs if not torch.equal(want, have)]
    return _kind([have for _, have in pairs], pairs, wrong) if wrong else None


def _outputs(expected, records):
    for records_of_case in zip(expected, records, strict=True):
        yield [record.get("steps", {}).get("output", {}) for record in records_of_case]


def _is_mask(value) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.bool


def _kind(got, pairs, wrong):
    if all(bool(have.all()) for have in got):
        return NOTHING_BLOCKED
    if not any(bool(have.any()) for have in got):
        return ALL_BLOCKED
    if _alike(pairs, axis=0, fewest=3):
        return SAMPLES_ALIKE
    if _alike(pairs, axis=-2, fewest=2):
        return ROWS_ALIKE
    far = [want ^ have for want, have in wrong]
    tables = [one for one in far if one.dim() > 1 and min(one.shape[-2:]) > 1]
    if len(tables) == len(far):
        for words, outside in PARTS:
            if not any(bool(outside(one).any()) for one in tables):
                return ONE_PART[0].format(words), ONE_PART[1]
    return _direction(wrong)


def _alike(pairs, axis, fewest) -> bool:
    """Whether what came is the same all along an axis, where what is due is not."""
    told = [have for want, have in pairs if want.dim() >= fewest and not _same_along(want, axis)]
    return len(told) > 1 and all(_same_along(have, axis) for have in told)


def _same_along(mask, axis) -> bool:
    return torch.equal(mask, mask.narrow(axis, 0, 1).expand_as(mask))


def _direction(wrong):
    opened = any(bool((have & ~want).any()) for want, have in wrong)
    closed = any(bool((want & ~have).any()) for want, have in wrong)
    if opened and closed:
        return BOTH
    return TOO_OPEN if opened else TOO_CLOSED
