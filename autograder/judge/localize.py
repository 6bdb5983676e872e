"""Narrows down where an answer without a known mistake is wrong.

Each function tries one description: an input that the result never depends on, a parameter that it should not
depend on, the only aspect that is wrong, a need (such as a mask) that all failing cases share, or one or two
kinds of input.
"""

from autograder.judge import formatting
from autograder.judge.findings import FINITE, NUMBERS, Finding
from autograder.judge.findings.finding import GRADIENT, named_items
from autograder.schema.case import DTYPES, FULLY_MASKED, STABILITY, VALUES, Case
from autograder.schema.exercise import Exercise
from autograder.schema.twice import TWICE
from autograder.values import Encoded, Record

# For every LUCKY failing cases, one case may pass by luck, because its numbers hide the fault.
LUCKY = 4
# A sentence about more kinds of input than this would not help the student.
MOST_FAMILIES = 2
# An expected gradient below this counts as none.
SMALL = 1e-3

SINGLE_ASPECT = {
    FULLY_MASKED: (
        "Your result is wrong only for fully masked queries.",
        "What should such a query return?",
    ),
    STABILITY: (
        "Your result is right for ordinary numbers, and wrong for very large or very negative ones.",
        "Which step works only while its numbers are small?",
    ),
    DTYPES: (
        "Your result is wrong only for float64 inputs.",
        "Which step does not keep float64?",
    ),
}


def single_aspect(findings: list[Finding]) -> tuple[str, str] | None:
    """Return an observation and a question if three things hold: wrong numbers cost the points of exactly one
    aspect, SINGLE_ASPECT has words for that aspect, and every case with a wrong gradient has wrong numbers
    too. Otherwise return None.
    """
    numbers = [finding for finding in findings if finding.level in (FINITE, NUMBERS)]
    wrong, aspects = {finding.case for finding in numbers}, {finding.aspect for finding in numbers}
    if any(finding.level == GRADIENT and finding.case not in wrong for finding in findings):
        return None
    return SINGLE_ASPECT.get(aspects.pop()) if len(aspects) == 1 else None


def unused_input(exercise: Exercise, expected: list[Record], records: list[Record]) -> tuple[str, str] | None:
    """Return an observation and a question if the result depends on some of the inputs and parameters that it
    should depend on, but never on the others; else None.
    """
    needed: dict[str, bool] = {}  # whether the answer ever uses it
    for right, record in zip(expected, records, strict=True):
        should, actual = (one.get("steps", {}).get("gradients", {"kind": "None"}) for one in (right, record))
        if should["kind"] != "dict" or actual["kind"] != "dict":
            continue
        reached = named_items(actual)
        for key, gradient in named_items(should).items():
            if _exceeds(gradient, SMALL):
                needed[key] = needed.get(key, False) or _exceeds(reached.get(key, {}), 0.0)
    unused = [key for key, used in needed.items() if not used]
    if not unused or len(unused) == len(needed):
        return None
    return f"Your result never depends on `{_part(exercise, unused)}`.", "Which line should use it?"


def further_part(records: list[Record]) -> tuple[str, str] | None:
    """Return an observation and a question if the result depends on a parameter that the exercise does not
    name, else None.
    """
    for record in records:
        if further := record.get("steps", {}).get("further"):
            return (
                f"Your result depends on `{further['names'][0]}`, a part that the exercise does not name.",
                "Which step of the formula asks for it?",
            )
    return None


def _exceeds(value: Encoded, limit: float) -> bool:
    # subtle: NaN exceeds any limit; where it comes from is another question.
    return value.get("kind") == "tensor" and not bool((value["data"].abs() <= limit).all())


def _part(exercise: Exercise, unused: list[str]) -> str:
    """Return a readable name for the first unused input or parameter, or for its layer if the layer's weight
    and bias are both unused.
    """
    part, _, last = unused[0].rpartition(".")
    whole = last == "weight" and f"{part}.bias" in unused
    return formatting.name_of(exercise, part if whole and not part.isdigit() else unused[0])


def common_need(exercise: Exercise, cases: list[Case], findings: list[Finding]) -> tuple[str, str] | None:
    """Return an observation and a question about a need that all failing cases have and some passing case
    lacks.

    If several needs qualify, choose the one that the fewest cases have, because it is the most specific. The
    message says that cases with this need go wrong, so a need qualifies only if no more than a few of the
    cases with it pass (by luck). If no need qualifies, and all cases without a need are wrong, return the
    message stored under "".
    """
    numbers = {finding.case for finding in findings if finding.level in (FINITE, NUMBERS)}
    right = [case for number, case in enumerate(cases) if number not in numbers and case.aspect == VALUES]
    wrong = [cases[number] for number in numbers]
    fitting = [
        (sum(need in case.needs for case in cases), words)
        for need, words in exercise.needs.items()
        if wrong
        and all(need in case.needs for case in wrong)
        and any(need not in case.needs for case in right)
        and LUCKY * sum(need in case.needs for case in right) <= len(wrong)
    ]
    simplest = [number for number, case in enumerate(cases) if not case.needs and case.aspect == VALUES]
    if not fitting and simplest and numbers.issuperset(simplest):
        return exercise.needs.get("")
    return min(fitting, key=lambda one: one[0])[1] if fitting else None


def few_families(cases: list[Case], findings: list[Finding]) -> tuple[str, str] | None:
    """Return an observation and a question if values are wrong for only one or two kinds of input, and right
    for at least twice as many; else None.

    The case with two consecutive calls is not counted, because it repeats the numbers of other cases.
    """
    numbers = {finding.case for finding in findings if finding.level in (FINITE, NUMBERS)}
    families = dict.fromkeys(case.family for case in cases if case.family != TWICE)
    wrong = dict.fromkeys(cases[number].family for number in sorted(numbers) if cases[number].family != TWICE)
    if not wrong or len(wrong) > MOST_FAMILIES or len(families) < (1 + MOST_FAMILIES) * len(wrong):
        return None
    quoted = " and ".join(f'"{family}"' for family in wrong)
    kinds = "one kind" if len(wrong) == 1 else "two kinds"
    return f"Your result is wrong only for {kinds} of input: {quoted}.", "What is special about these inputs?"
