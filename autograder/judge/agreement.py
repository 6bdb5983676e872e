"""Measures how similarly two answers behave. A known mistake explains an answer if the two behave alike in all
cases, or in most.
"""

import re
from collections.abc import Mapping

from autograder.judge.expected import Expected
from autograder.judge.findings.finding import named_items
from autograder.judge.sketch import sketch, sketch_of
from autograder.schema.case import Case
from autograder.values import Encoded, Record
from autograder.values.compare import difference, same_value

FEWEST = 2


def agreement(
    expected: Expected, records: list[Record], others: list[Record], either: set[int]
) -> tuple[float, list[int]]:
    """Return the share of the cases in `either` in which two answers do the same, and the numbers of the
    cases in which they do. `either` holds the numbers of the cases in which at least one of the two answers
    is wrong. Return (0.0, []) if the cases prove too little.
    """
    same = [i for i in sorted(either) if same_record(expected, i, records[i], others[i])]
    # subtle: the tolerance of same_record follows the largest number of a tensor, so of two results within it
    # one may be right and the other wrong.
    same = [i for i in same if expected.is_right(i, records[i]) == expected.is_right(i, others[i])]
    answered = [i for i in same if records[i]["status"] == "answered"]
    if not answered and not all(_same_error(records[i], others[i]) for i in same):
        return 0.0, []
    if len(same) < min(FEWEST, len(either)) or (not answered and len(same) < len(either)):
        return 0.0, []
    return (len(same) / len(either) if either else 0.0), same


def _same_error(a: Record, b: Record) -> bool:
    # A RuntimeError may be anything: without other evidence its text is compared, numbers left out.
    if a["status"] != "raised" or a["error"]["type"] != "RuntimeError":
        return True
    return _text_without_numbers(a["error"]) == _text_without_numbers(b["error"])


def _text_without_numbers(error: Encoded) -> str:
    return re.sub(r"\d+", "", error.get("text", "")).partition("\n")[0]


def same_everywhere(expected: Expected, records: list[Record], others: list[Record]) -> bool:
    pairs = zip(records, others, strict=True)
    return all(same_record(expected, number, *pair) for number, pair in enumerate(pairs))


def same_record(expected: Expected, number: int, a: Record, b: Record) -> bool:
    """Return whether two answers did the same in the case of this number. Numbers are compared within the
    tolerance, gradients by their sketches (see sketch.py).
    """
    case, right = expected.cases[number], expected.right[number]
    if not same_output(case, a, b):
        return False
    if a["status"] != "answered":
        return True
    steps, others = a["steps"], b["steps"]
    # subtle: the tolerance of same_value follows the largest number, and an answer may write -1e9 into its
    # input.
    after = [one["after"] for one in (steps, others) if "after" in one]
    if len(after) == 1 or (after and difference(*after) is not None):
        return False
    for step in ("again", "evaluated"):
        if not same_value(steps.get(step), others.get(step), case.scale):
            return False
    return same_value(_gradients(right["steps"], steps), _gradients(right["steps"], others), case.scale)


def _gradients(right: Mapping[str, Encoded], steps: Mapping[str, Encoded]) -> Encoded | None:
    """Return the sketch of an answer's gradients. If the reference has any gradients, keep only the gradients
    that it has too; the others are never compared.
    """
    if "gradients" not in right:
        return sketch(steps.get("gradients"))
    asked = {key for key, item in named_items(right["gradients"]).items() if item["kind"] == "tensor"}
    return sketch_of(steps.get("gradients"), asked)


def same_output(case: Case, a: Record, b: Record) -> bool:
    if a["status"] != b["status"]:
        return False
    if a["status"] == "raised":
        return a["error"]["type"] == b["error"]["type"]
    if a["status"] == "parts":
        return a["found"] == b["found"]
    if a["status"] != "answered":
        return True
    return same_value(a["steps"]["output"], b["steps"]["output"], case.scale)
