"""The numbers behind the picture of a wrong result: what is due and what came, as two small matrices."""

import torch

from autograder.judge.findings import FINITE, NUMBERS
from autograder.judge.verdict import Picture

LARGEST_SIDE = 12


def picture_of(cases, expected, records, told) -> Picture | None:
    """The matrix around the worst entry of the finding that is told, or None where there is none to show."""
    if told.step != "output" or told.rung not in (NUMBERS, FINITE) or not told.index:
        return None
    want = expected.right[told.case]["steps"]["output"].get("data")
    have = records[told.case]["steps"]["output"].get("data")
    if want is None or have is None or want.shape != have.shape:
        return None
    lead, last = told.index[:-2], told.index[-2:]
    want, have = torch.atleast_2d(want[lead]), torch.atleast_2d(have[lead])
    if max(want.shape) > LARGEST_SIDE:
        return None
    worst = (0, last[0]) if len(last) == 1 else last
    where = f"[{', '.join(map(str, lead))}] of " if lead else ""
    return Picture(
        want.double().tolist(), have.double().tolist(), worst, f"{where}the result, with {told.detail}"
    )
