"""Builds the picture of a wrong result: expected and actual values as two small matrices."""

import torch

from autograder.judge.expected import Expected
from autograder.judge.findings import FINITE, NUMBERS, Finding
from autograder.values import Record
from autograder.verdict import Picture

LARGEST_SIDE = 12


def picture_of(expected: Expected, records: list[Record], reported: Finding) -> Picture | None:
    """Return the expected and the actual matrix that hold the worst entry of the reported finding; None if
    there are no such matrices, or if they are too large to show.
    """
    if reported.step != "output" or reported.level not in (NUMBERS, FINITE) or not reported.index:
        return None
    right = expected.right[reported.case]["steps"]["output"].get("data")
    actual = records[reported.case]["steps"]["output"].get("data")
    if right is None or actual is None or right.shape != actual.shape:
        return None
    lead, last = reported.index[:-2], reported.index[-2:]
    right, actual = torch.atleast_2d(right[lead]), torch.atleast_2d(actual[lead])
    if max(right.shape) > LARGEST_SIDE:
        return None
    worst = (0, last[0]) if len(last) == 1 else (last[0], last[1])
    place = f"[{', '.join(map(str, lead))}] of " if lead else ""
    title = f"{place}the result, with {reported.detail}"
    return Picture(right.double().tolist(), actual.double().tolist(), worst, title)
