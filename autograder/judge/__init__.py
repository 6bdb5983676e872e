"""The judge: records in, verdict out.

Pure. It never calls a student's code and never prints; the same records give the same verdict and the same
words in a notebook, on the command line and in the gradebook.
"""

from dataclasses import replace

from autograder.exercises.exercise import VALUES, Case, Exercise
from autograder.exercises.values import PUBLIC_SEED, Values
from autograder.judge.clues import clue, one_aspect, unused
from autograder.judge.expected import Expected, expected_on
from autograder.judge.findings import FINITE, NUMBERS, RUNS, Finding, findings
from autograder.judge.invariants import is_broken
from autograder.judge.masks import mask_relation
from autograder.judge.naming import Name, name_mistake
from autograder.judge.picture import picture_of
from autograder.judge.relations import place, relation
from autograder.judge.rules import broken_rule
from autograder.judge.verdict import (
    DOES_NOT_RUN,
    NOT_STARTED,
    PARTLY_RIGHT,
    RIGHT,
    WRONG,
    Aspect,
    Verdict,
)

HIDDEN_ROUNDS = 2

__all__ = ["Expected", "Verdict", "cases_of", "judge", "not_started", "unable_to_run"]


def cases_of(exercise: Exercise, seed: str = PUBLIC_SEED, hidden: bool = False) -> list[Case]:
    """The cases of a check: the visible ones of a seed, or the hidden ones, which are more."""
    if not hidden:
        return list(exercise.cases(Values(exercise.id, seed)))
    first, *others = (Values(exercise.id, f"{seed}/{i}", hidden=True) for i in range(HIDDEN_ROUNDS))
    cases = list(exercise.cases(first))
    # What only a chance of sizes and numbers could hide shows in the values, at a third of the time.
    for values in others:
        cases += [replace(case, gradients=False, observe=False) for case in exercise.cases(values)]
    return cases


def judge(
    exercise: Exercise,
    cases: list[Case],
    records: list[dict],
    hidden: bool = False,
    expected: Expected | None = None,
) -> Verdict:
    """The verdict on one answer's records. With `hidden`, the message names no input and no number of a case."""
    if _is_stub(records):
        return not_started(exercise)
    expected = expected or expected_on(exercise, cases)
    found = findings(exercise, cases, expected.right, records)
    lost = {finding.aspect for finding in found}
    if VALUES not in lost and (rule := broken_rule(exercise, cases, records)):
        return Verdict(exercise.id, WRONG, _aspects(exercise, {VALUES}), _lines(*rule), "RULE")
    if not found:
        return Verdict(exercise.id, RIGHT, _aspects(exercise, ()))
    told = _first(found)
    name = (
        name_mistake(cases, expected, records, {finding.case for finding in found}, VALUES in lost)
        or _unused(exercise, cases, expected, records, told)
        or _broken_invariant(exercise, cases, expected, records, found)
        or _relation(exercise, cases, expected, records, found, told)
    )
    # What shows another fault of the answer would be no example of the one that is named.
    told = _first([finding for finding in found if name and finding.case in name.explains] or found)
    return Verdict(
        exercise.id,
        _state(found, lost, records),
        _aspects(exercise, lost),
        _message(told, name, hidden),
        name.id if name else None,
        None if hidden else picture_of(cases, expected, records, told),
    )


def _first(found: list[Finding]) -> Finding:
    """What is told first: what is lowest on the ladder, there what counts most, in the first case."""
    return min(found, key=lambda finding: (finding.rung, finding.aspect != VALUES, finding.case))


def not_started(exercise: Exercise, why: str = "") -> Verdict:
    """The verdict on a stub or a missing name."""
    message = why or f"{exercise.name} is not written yet."
    return Verdict(exercise.id, NOT_STARTED, _aspects(exercise, {VALUES}), message)


def unable_to_run(exercise: Exercise, message: str) -> Verdict:
    """The verdict on an answer that ended or crashed the process, or whose file does not run."""
    return Verdict(exercise.id, DOES_NOT_RUN, _aspects(exercise, {VALUES}), message)


def _is_stub(records) -> bool:
    first = next((record for record in records if record["status"] in ("raised", "answered")), None)
    if first is None or first["status"] == "answered":
        return False
    error = first["error"]
    # subtle: PyTorch raises the same where a module has no forward, or an operation no kernel: started, and wrong.
    return "NotImplementedError" in error["bases"] and bool(error.get("raised"))


def _aspects(exercise, lost) -> tuple[Aspect, ...]:
    """Points by aspect. Without right values nothing else is worth anything."""
    nothing = VALUES in lost
    return tuple(
        Aspect(name, 0.0 if nothing or name in lost else float(points), float(points))
        for name, points in exercise.aspects.items()
    )


def _state(found: list[Finding], lost, records) -> str:
    if VALUES not in lost:
        return PARTLY_RIGHT
    base = [finding for finding in found if finding.aspect == VALUES]
    ran = any(record["status"] == "answered" for record in records)
    return WRONG if ran or any(finding.rung != RUNS for finding in base) else DOES_NOT_RUN


def _unused(exercise, cases, expected, records, told) -> Name | None:
    if told.rung != NUMBERS:
        return None
    seen = unused(exercise, cases, expected.right, records)
    return Name(None, *seen) if seen else None


def _broken_invariant(exercise, cases, expected, records, found) -> Name | None:
    # Only for answers that run, give the right shape and repeat themselves: before that, this is what to tell.
    if VALUES not in {finding.aspect for finding in found} or any(finding.rung < FINITE for finding in found):
        return None
    due, outputs = _outputs(expected.right), _outputs(records)
    for invariant in exercise.invariants:
        if is_broken(invariant, cases, due, outputs):
            return Name(None, invariant.sees, invariant.asks)
    return None


def _outputs(records):
    """The tensor or whole number that came out of each case, or None."""
    outputs = (record.get("steps", {}).get("output", {}) for record in records)
    return [output.get({"tensor": "data", "int": "value"}.get(output.get("kind"))) for output in outputs]


def _relation(exercise, cases, expected, records, found, told) -> Name | None:
    if told.rung not in (NUMBERS, FINITE):
        return None
    seen = (
        one_aspect(found)
        or mask_relation(cases, expected.right, records)
        or relation(exercise, cases, expected.right, records)
        or clue(exercise, cases, found)
        or place(exercise, cases, expected.right, records)
    )
    # Where a NaN came from is the better question, whichever inputs it came with.
    return Name(None, seen[0], told.asks if told.rung == FINITE else seen[1]) if seen else None


def _message(told: Finding, name: Name | None, hidden: bool) -> str:
    if name is not None:
        return _lines(name.sees, name.asks, "" if hidden else _example(told, name))
    if hidden:
        return _lines(_without_numbers(told), told.asks)
    return _lines(told.sees, told.asks, f"With {told.detail}." if told.detail else "")


def _example(told: Finding, name: Name) -> str:
    if told.rung == RUNS or told.sees == name.sees:
        return f"{told.sees} ({told.detail})" if told.detail else told.sees
    return f"With {told.detail}: {told.sees[0].lower()}{told.sees[1:]}" if told.detail else told.sees


def _without_numbers(told: Finding) -> str:
    return {
        "output": "In a hidden case the result is not what is due.",
        "after": "In a hidden case an input is changed by the call.",
        "gradients": "In a hidden case a gradient is not right.",
    }.get(told.step, "In a hidden case a second call gives another result.")


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
