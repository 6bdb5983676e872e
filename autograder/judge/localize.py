"""Narrows down where an answer without a known mistake is wrong.

Each function tries one description: an input that the result never depends on, a parameter that it should not
depend on, the only aspect that is wrong, inputs that are not contiguous, a need (such as a mask) that all
failing cases share, or one or two kinds of input.
"""

import torch

from autograder.judge import formatting
from autograder.judge.findings import FINITE, NUMBERS, Finding
from autograder.judge.findings.finding import GRADIENT, named_items
from autograder.schema.case import (
    DTYPES,
    FULLY_MASKED,
    STABILITY,
    VALUES,
    Case,
    Module,
    named_arguments,
    tensors_in,
)
from autograder.schema.exercise import Exercise
from autograder.schema.twice import TWICE
from autograder.values import Encoded, Record

# For every LUCKY failing cases, one case may pass by luck, because its numbers hide the fault.
LUCKY = 4
# A sentence about more kinds of input than this would not help the student.
MOST_FAMILIES = 2
# An expected gradient below this counts as none.
SMALL = 1e-3
# A number above this is large: ordinary cases draw their floats from a normal distribution and have few tokens.
LARGE, LARGE_INT = 4.5, 100

SINGLE_ASPECT = {
    FULLY_MASKED: (
        "Of the inputs tried, only those with fully masked queries go wrong.",
        "What should such a query return?",
    ),
    STABILITY: (
        "Your result is right for ordinary numbers, and wrong for very large or very negative ones.",
        "Which step works only while its numbers are small?",
    ),
    DTYPES: (
        "Of the inputs tried, only those in float64 go wrong.",
        "Which step does not keep float64?",
    ),
}


def single_aspect(cases: list[Case], findings: list[Finding]) -> tuple[str, str] | None:
    """Return an observation and a question if three things hold: wrong numbers cost the points of exactly one
    aspect, SINGLE_ASPECT has words for that aspect, and every case with a wrong gradient has wrong numbers
    too. Otherwise return None. In a case about stability, some number must be large.
    """
    numbers = [finding for finding in findings if finding.level in (FINITE, NUMBERS)]
    wrong, aspects = {finding.case for finding in numbers}, {finding.aspect for finding in numbers}
    if any(finding.level == GRADIENT and finding.case not in wrong for finding in findings):
        return None
    if STABILITY in aspects and not all(_is_large(cases[number]) for number in wrong):
        return None
    return SINGLE_ASPECT.get(aspects.pop()) if len(aspects) == 1 else None


def _is_large(case: Case) -> bool:
    """Return whether a number among the inputs is large or infinite."""
    if any(isinstance(value, int) and abs(value) > LARGE_INT for value in named_arguments(case).values()):
        return True
    given = tensors_in((case.args, case.kwargs, case.weights))
    return any(bool((tensor.abs() > LARGE).any()) for tensor in given if tensor.is_floating_point())


def not_contiguous(cases: list[Case], findings: list[Finding]) -> tuple[str, str] | None:
    """Return an observation and a question if values are wrong in all cases with an input that is not
    contiguous, and in no others; else None.
    """
    numbers = {finding.case for finding in findings if finding.level in (FINITE, NUMBERS)}
    apart = {number for number, case in enumerate(cases) if _has_gaps(case)}
    single = {number for number, case in enumerate(cases) if case.family != TWICE}
    if not numbers or numbers & single != apart & single or apart >= single:
        return None
    return "Of the inputs tried, only those that are not contiguous go wrong.", (
        "Which step assumes that an input's entries lie in memory in the order of its axes?"
    )


def _has_gaps(case: Case) -> bool:
    return any(not tensor.is_contiguous() for tensor in tensors_in((case.args, case.kwargs)))


def unused_input(
    exercise: Exercise, cases: list[Case], expected: list[Record], records: list[Record], wrong: set[int]
) -> tuple[str, str] | None:
    """Return an observation and a question if the result depends on some of the inputs and parameters that it
    should depend on, but never on the others; else None. `wrong` holds the numbers of the cases in which the
    result is wrong: a right result depends on whatever it should depend on.
    """
    needed: dict[str, bool] = {}  # whether the answer ever uses it
    for number, (right, record) in enumerate(zip(expected, records, strict=True)):
        should, actual = (one.get("steps", {}).get("gradients", {"kind": "None"}) for one in (right, record))
        if should["kind"] != "dict" or actual["kind"] != "dict":
            continue
        reached = named_items(actual)
        for key, gradient in named_items(should).items():
            if _exceeds(gradient, SMALL):
                is_used = _exceeds(reached.get(key, {}), 0.0) or (
                    number not in wrong and not _is_neutral(cases[number], key)
                )
                needed[key] = needed.get(key, False) or is_used
    unused = [key for key, used in needed.items() if not used]
    if not unused or len(unused) == len(needed):
        return None
    return (
        f"A change of `{_part(exercise, unused)}` does not change your result.",
        "Which line of the call should use it?",
    )


def _is_neutral(case: Case, key: str) -> bool:
    """Return whether a result may be right without an input or parameter, because it holds only zeros or only
    ones, or is the identity matrix.
    """
    name, _, part = key.partition(".")
    value = named_arguments(case).get(name, case.weights.get(key))
    if isinstance(value, Module):
        value = value.weights.get(part)
    if not isinstance(value, torch.Tensor):
        return False
    is_identity = value.dim() == 2 and torch.equal(value, torch.eye(*value.shape, dtype=value.dtype))
    return is_identity or bool((value == 0).all()) or bool((value == 1).all())


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
    kinds = "one kind goes wrong" if len(wrong) == 1 else "two kinds go wrong"
    return f"Of the inputs tried, only {kinds}: {quoted}.", "What is special about these inputs?"
