"""The records that came out of a sandbox, held against what the probe writes.

A student's process can write any records. What is missing in one must not count as right, and texts go on into pages
that people read.
"""

from torch import Tensor

from autograder.exercises.exercise import Case, Exercise
from autograder.judge.expected import arguments_as_given

LONGEST_TEXT = 300
MOST_ITEMS = 2_000
DEEPEST = 16


def plain_records(records, exercise: Exercise, cases: list[Case]) -> list[dict]:
    """The records, with texts and lists of bearable length.

    Raises ValueError where they are not of the probe's form: another number of them, or a step left out.
    """
    if not isinstance(records, list) or len(records) != len(cases):
        raise ValueError("there is not one record for each case")
    records = [_limited(record, 0) for record in records]
    for record, case in zip(records, cases, strict=True):
        if record["status"] != "answered":
            continue
        if _steps(exercise, case) - record["steps"].keys():
            raise ValueError("a step is left out")
        after = record["steps"]["after"]
        if after["kind"] != "error" and set(after["keys"]) != arguments_as_given(case).keys():
            raise ValueError("what became of an input is left out")
    return records


def _steps(exercise: Exercise, case: Case) -> set[str]:
    """What the probe records of an answered case."""
    steps = {"output", "after", "again"}
    steps |= {"evaluated"} if exercise.procedure == "class" else set()
    steps |= {"gradients"} if case.gradients else set()
    return steps | {"usage"} if case.observe else steps


def plain_text(value) -> str:
    """The text, of bearable length; empty for anything else."""
    # subtle: half a character (a lone surrogate) is text for Python, but no file can hold it.
    return value[:LONGEST_TEXT].encode(errors="replace").decode() if isinstance(value, str) else ""


def _limited(value, depth: int):
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, list):
        return [_limited(item, depth + 1) for item in value[:MOST_ITEMS]]
    if isinstance(value, dict):
        some = list(value.items())[:MOST_ITEMS]
        return {_limited(name, depth + 1): _limited(item, depth + 1) for name, item in some}
    if value is None or isinstance(value, (bool, int, float, Tensor)):
        return value
    raise ValueError("no plain data")
