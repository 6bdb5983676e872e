"""Describes how one call of an answer affects another, from the case with two consecutive calls, and from the
cases that use a module of an earlier one.
"""

from autograder.judge.findings import Finding
from autograder.judge.findings.finding import named_items
from autograder.schema.case import VALUES, Case, float_type, is_called_on_new_module, module_key
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


CALLED_BEFORE = (
    "All your wrong results come from modules that had been called before.",
    "What does your module keep from an earlier call?",
)
LUCKY = 3  # for so many wrong cases, one may be right because what was kept fits it
FEWEST = 3  # cases of each kind, before the two kinds can be told apart


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
    wrong = _wrong_keys(cases[number], right, actual)
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


def called_before(
    cases: list[Case], expected: list[Record], records: list[Record], findings: list[Finding]
) -> tuple[str, str] | None:
    """Return an observation and a question if the results of new modules are right, and results of modules
    that an earlier case has called are wrong: those of almost all such cases, or the second one of the case
    with two calls. Return None for any other answer.
    """
    modules: set[tuple] = set()
    firsts: set[int] = set()
    later: set[int] = set()
    for number, case in enumerate(cases):
        if case.new:
            continue
        key = module_key(case, float_type(case))
        is_new = is_called_on_new_module(case)
        (firsts if is_new or key not in modules else later).add(number)
        if not is_new:
            modules.add(key)
    wrong = {finding.case for finding in findings if finding.step == "output"}
    if not wrong or not wrong <= later or min(len(firsts), len(later)) < FEWEST:
        return None
    twice = {number for number in later if cases[number].family == TWICE}
    is_second_wrong = any(_only_second_wrong(cases[i], expected[i], records[i]) for i in twice & wrong)
    lucky = later - twice - wrong
    return CALLED_BEFORE if is_second_wrong or LUCKY * len(lucky) <= len(wrong - twice) else None


def _only_second_wrong(case: Case, expected: Record, record: Record) -> bool:
    """Return whether of the two calls of a case only the second one has a wrong result."""
    outputs = (one.get("steps", {}).get("output", {"kind": "None"}) for one in (expected, record))
    right, actual = map(named_items, outputs)
    if right.keys() != actual.keys():
        return False
    wrong = _wrong_keys(case, right, actual)
    return bool(wrong) and not any(key.startswith(FIRST) for key in wrong)


def _wrong_keys(case: Case, right: dict[str, Encoded], actual: dict[str, Encoded]) -> list[str]:
    dtype = float_type(case)
    return [
        key for key in right if difference(right[key], actual[key], case.match_of(key), dtype) is not None
    ]
