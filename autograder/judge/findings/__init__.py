"""What is wrong with a record, case by case.

A finding has a rung: structure first (does it run, type, shape), then what one call does to the next (inputs
changed, another result the second time), then numbers, type of numbers and gradients. The lowest rung is told.
"""

from autograder.exercises.exercise import Case, Exercise
from autograder.judge.findings.finding import FINITE, NUMBERS, RUNS, Finding, Look
from autograder.judge.findings.record import wrong_things
from autograder.judge.findings.values import wrong_value

__all__ = ["FINITE", "NUMBERS", "RUNS", "Finding", "findings", "output_is_right", "wrong_cases"]


def findings(
    exercise: Exercise, cases: list[Case], expected: list[dict], records: list[dict]
) -> list[Finding]:
    """Everything wrong in `records`, in the order of the cases."""
    questions = enumerate(zip(cases, expected, records, strict=True))
    return [
        finding
        for number, (case, due, record) in questions
        for finding in wrong_things(Look(exercise, case, number), due, record)
    ]


def wrong_cases(exercise: Exercise, cases: list[Case], expected: list[dict], records: list[dict]) -> set[int]:
    """The numbers of the cases in which something in `records` is wrong."""
    questions = enumerate(zip(cases, expected, records, strict=True))
    return {number for number, (case, due, record) in questions if _is_wrong(Look(exercise, case), due, record)}


def output_is_right(exercise: Exercise, case: Case, due: dict, record: dict) -> bool:
    """Whether a record's output is right, whatever follows it."""
    look = Look(exercise, case)
    if record["status"] != "answered" or case.raises:
        return not _is_wrong(look, due, record)
    return wrong_value(look, "output", due["steps"]["output"], record["steps"]["output"]) is None


def _is_wrong(look: Look, due: dict, record: dict) -> bool:
    # The first thing will do: no other is looked for.
    return next(wrong_things(look, due, record), None) is not None
