"""Finds the faults in the records of an answer, case by case.

Each finding has a level: first structure (does the answer run, types, shapes), then effects of one call on
the next (changed inputs, a different result the second time), then numbers, their dtypes and gradients. Among
the findings in ordinary cases, one of the lowest level is reported.
"""

from autograder.judge.findings.finding import FINITE, NUMBERS, RUNS, CaseContext, Finding
from autograder.judge.findings.record import faults
from autograder.judge.findings.values import wrong_value
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.values import Encoded, Record
from autograder.values.encode import items_of

__all__ = ["FINITE", "NUMBERS", "RUNS", "Finding", "findings", "output_is_right", "wrong_cases"]


def findings(
    exercise: Exercise, cases: list[Case], expected: list[Record], records: list[Record]
) -> list[Finding]:
    """Return every fault in `records`, in the order of the cases."""
    numbered = enumerate(zip(cases, expected, records, strict=True))
    infinities = any(_holds_infinity(right.get("steps", {}).get("output", {})) for right in expected)
    return [
        finding
        for number, (case, right, record) in numbered
        for finding in faults(CaseContext(exercise, case, number, infinities), right, record)
    ]


def _holds_infinity(value: Encoded) -> bool:
    if value.get("kind") == "tensor":
        return value["data"].is_floating_point() and bool(value["data"].isinf().any())
    return any(map(_holds_infinity, items_of(value)))


def wrong_cases(
    exercise: Exercise, cases: list[Case], expected: list[Record], records: list[Record]
) -> set[int]:
    """Return the numbers of the cases whose records have at least one fault."""
    numbered = enumerate(zip(cases, expected, records, strict=True))
    return {
        i for i, (case, right, record) in numbered if _is_wrong(CaseContext(exercise, case), right, record)
    }


def output_is_right(exercise: Exercise, case: Case, expected: Record, record: Record) -> bool:
    """Return whether a record's output is right, regardless of its other steps."""
    context = CaseContext(exercise, case)
    if record["status"] != "answered" or case.raises:
        return not _is_wrong(context, expected, record)
    return wrong_value(context, "output", expected["steps"]["output"], record["steps"]["output"]) is None


def _is_wrong(context: CaseContext, expected: Record, record: Record) -> bool:
    # The first fault is enough; no others are searched for.
    return next(faults(context, expected, record), None) is not None
