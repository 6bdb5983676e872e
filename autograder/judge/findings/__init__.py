"""Finds the faults in a record, case by case.

A finding has a level: structure first (does it run, type, shape), then the effects of one call on the next
(inputs changed, another result the second time), then numbers, their type and gradients. The finding of the
lowest level is reported.
"""

from autograder.judge.findings.finding import FINITE, NUMBERS, RUNS, CaseContext, Finding
from autograder.judge.findings.record import faults
from autograder.judge.findings.values import wrong_value
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.values import Record

__all__ = ["FINITE", "NUMBERS", "RUNS", "Finding", "findings", "output_is_right", "wrong_cases"]


def findings(
    exercise: Exercise, cases: list[Case], expected: list[Record], records: list[Record]
) -> list[Finding]:
    """Return every fault in `records`, in the order of the cases."""
    numbered = enumerate(zip(cases, expected, records, strict=True))
    return [
        finding
        for number, (case, right, record) in numbered
        for finding in faults(CaseContext(exercise, case, number), right, record)
    ]


def wrong_cases(
    exercise: Exercise, cases: list[Case], expected: list[Record], records: list[Record]
) -> set[int]:
    """Return the numbers of the cases whose records have a fault."""
    numbered = enumerate(zip(cases, expected, records, strict=True))
    return {
        i for i, (case, right, record) in numbered if _is_wrong(CaseContext(exercise, case), right, record)
    }


def output_is_right(exercise: Exercise, case: Case, expected: Record, record: Record) -> bool:
    """Return whether a record's output is right, whatever its further steps are."""
    context = CaseContext(exercise, case)
    if record["status"] != "answered" or case.raises:
        return not _is_wrong(context, expected, record)
    return wrong_value(context, "output", expected["steps"]["output"], record["steps"]["output"]) is None


def _is_wrong(context: CaseContext, expected: Record, record: Record) -> bool:
    # The first fault is enough: the others are not searched for.
    return next(faults(context, expected, record), None) is not None
