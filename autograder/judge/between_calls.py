"""Describes how one call of an answer affects another, from the case with two consecutive calls."""

from autograder.judge.findings import Finding
from autograder.judge.findings.finding import named_items
from autograder.schema.case import VALUES, Case, float_type
from autograder.schema.twice import FIRST, LATER, SECOND, TWICE
from autograder.values import Encoded, Record
from autograder.values.compare import difference, same_value

OVERWRITTEN = (
    "The second call changes what the first one returned.",
    "Do the two results share storage?",
)
GIVEN_AGAIN = (
    "A second call with other arguments still returns something from the first.",
    "What does your code keep from its first call?",
)


def between_calls(
    cases: list[Case], expected: list[Record], records: list[Record], findings: list[Finding]
) -> tuple[str, str] | None:
    """Return an observation and a question if one of two consecutive calls spoils the result of the other,
    else None.
    """
    number = next((i for i, case in enumerate(cases) if case.family == TWICE), None)
    if number is None or all(finding.case != number for finding in findings):
        return None
    outputs = (one[number].get("steps", {}).get("output", {"kind": "None"}) for one in (expected, records))
    right, actual = map(named_items, outputs)
    if not actual or right.keys() != actual.keys():
        return None
    case, dtype = cases[number], float_type(cases[number])
    wrong = [
        key for key in right if difference(right[key], actual[key], case.match_of(key), dtype) is not None
    ]
    last = LATER if LATER in right else SECOND
    is_first_wrong, is_last_wrong = (any(key.startswith(which) for key in wrong) for which in (FIRST, last))
    if is_first_wrong and is_last_wrong:
        return None
    elsewhere = any(finding.aspect == VALUES and finding.case != number for finding in findings)
    if elsewhere and not any(_is_the_others(key, actual) for key in wrong):
        return None
    return OVERWRITTEN if is_first_wrong else GIVEN_AGAIN if wrong else None


def _is_the_others(key: str, results: dict[str, Encoded]) -> bool:
    """Return whether a result of one call equals the corresponding result of the other call."""
    one, other = (FIRST, SECOND) if key.startswith(FIRST) else (SECOND, FIRST)
    return same_value(results[key], results.get(other + key.removeprefix(one)))
