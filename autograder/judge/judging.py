"""Judges the records of an answer."""

from collections.abc import Collection
from dataclasses import replace

from autograder.exercises import exercises_of
from autograder.judge.expected import Expected, expected_on
from autograder.judge.explain import Explanation, WrongAnswer, explain
from autograder.judge.findings import NUMBERS, RUNS, Finding, findings
from autograder.judge.picture import picture_of
from autograder.judge.rules import is_rerun, judged_by_rules, suspects
from autograder.schema.case import SIDE_EFFECTS, VALUES, Case, tensors_in
from autograder.schema.draw import PUBLIC_SEED, Draw
from autograder.schema.exercise import Exercise
from autograder.schema.raising import is_raising
from autograder.schema.twice import TWICE
from autograder.values import Record
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED, PARTLY_RIGHT, RIGHT, WRONG, Aspect, Verdict

HIDDEN_ROUNDS = 2
RULE = "RULE"  # the mistake of a verdict on an answer that breaks a rule of form


def cases_of(exercise: Exercise, seed: str = PUBLIC_SEED, hidden: bool = False) -> list[Case]:
    """Return the cases of a check for a seed: the visible ones or, with `hidden`, the more numerous hidden
    ones.
    """
    return with_suspects(exercise, _cases_of(exercise, seed, hidden))


def with_suspects(exercise: Exercise, cases: list[Case]) -> list[Case]:
    """Return the cases, with the names of the forbidden operations attached to every case whose operations
    are recorded.
    """
    names = suspects(exercise)
    return [replace(case, suspects=names) if case.has_usage else case for case in cases]


def _cases_of(exercise: Exercise, seed: str, hidden: bool) -> list[Case]:
    if not hidden:
        return exercise.drawn(Draw(exercise.id, seed))
    first, *others = (Draw(exercise.id, f"{seed}/{i}", hidden=True) for i in range(HIDDEN_ROUNDS))
    cases = exercise.drawn(first)
    if is_rerun(exercise, cases):
        # subtle: where loops are required, matrix products are forbidden. One case is enough to show a matrix
        # product, and recording every step of a loop takes time.
        last = 1 if exercise.rules.loops == "required" else None
        rerun = [case for case in cases if case.observe and case.repeats][:last]
        cases = [replace(case, program=any(case is one for one in rerun)) for case in cases]
    # Further draws catch faults that lucky sizes and numbers hid. Only values are judged in them, which takes
    # a third of the time.
    for draw in others:
        further = [case for case in exercise.drawn(draw) if not case.slow and not case.new]
        # A third of these calls are recorded, and no answer can know which.
        recorded = (draw.integers(0, 2, len(further)) == 0).tolist()
        cases += [
            replace(case, gradients=False, observe=False, repeats=False, record=record, elsewhere=False)
            for case, record in zip(further, recorded, strict=True)
        ]
    return cases


def judge(
    exercise: Exercise,
    cases: list[Case],
    records: list[Record],
    hidden: bool = False,
    expected: Expected | None = None,
    in_words: bool = True,
    trail: list[str] | None = None,
) -> Verdict:
    """Return the verdict on one answer's records.

    With `hidden`, the message reveals neither the inputs of a case nor numbers from its results. Without
    `in_words`, a wrong answer's verdict has no message and names no mistake, unless the answer breaks a rule
    of form. `trail` gets a line for each step that led to the message about a wrong answer.
    """
    if (where := _stub(records)) is not None:
        half = f"`forward` of {exercise.name} is not written yet." if where.endswith("forward") else ""
        return _waits_for(exercise, where) or not_started(exercise, half)
    expected = expected or expected_on(exercise, cases)
    faults = findings(exercise, cases, expected.right, records)
    lost = {finding.aspect for finding in faults}
    # Skip the rules for cases that already lose points; the finding is more specific.
    kept = [number for number, case in enumerate(cases) if not lost & {VALUES, case.aspect}]
    rule, note = judged_by_rules(exercise, [cases[i] for i in kept], [records[i] for i in kept])
    if rule:
        return Verdict(exercise.id, WRONG, _aspects(exercise, {VALUES}), _lines(*rule), RULE)
    if not faults:
        remarks = _lines(note, _left_behind(records, hidden))
        return Verdict(exercise.id, RIGHT, _aspects(exercise, ()), remarks)
    state, aspects = _state(faults, lost, records), _aspects(exercise, lost)
    if not in_words:
        return Verdict(exercise.id, state, aspects)
    reported = _most_telling(cases, faults)
    trail = [] if trail is None else trail
    wrong = dict.fromkeys(cases[fault.case].family for fault in faults)
    trail += [f"wrong in: {', '.join(wrong)}", f"most telling: {reported.observation}"]
    explanation = explain(WrongAnswer(exercise, cases, expected, records, faults, reported, trail))
    if explanation and explanation.cases:
        # The example must show the named mistake, not another fault of the answer.
        reported = _most_telling(
            cases, [finding for finding in faults if finding.case in explanation.cases] or faults
        )
    elif explanation is None and reported.level == NUMBERS:
        reported = _smallest(cases, faults, reported)
    return Verdict(
        exercise.id,
        state,
        aspects,
        _message(reported, explanation, hidden),
        explanation.mistake if explanation else None,
        None if hidden else picture_of(expected, records, reported),
    )


def _left_behind(records: list[Record], hidden: bool) -> str:
    """Return a remark about a line that makes a tensor on the CPU although the inputs are on a GPU; empty if
    there is none.
    """
    lines = [steps["elsewhere"]["line"] for record in records if "elsewhere" in (steps := record["steps"])]
    if not lines:
        return ""
    # subtle: for hidden cases, nothing that the student's process chose is shown.
    where = f"Line {lines[0]}" if lines[0] and not hidden else "Some line"
    return f"{where} makes a tensor on the CPU even when the inputs are on a GPU. This costs no points."


def _most_telling(cases: list[Case], faults: list[Finding]) -> Finding:
    """Return the finding to report: ordinary cases come before special ones, then low levels before high
    ones, then values before side effects, then early cases before late ones. A fault in the case with two
    consecutive calls, or in one where a given function or model raises, comes last among the ordinary or the
    special cases.
    """

    def rank(one: Finding) -> tuple:
        special = one.aspect not in (VALUES, SIDE_EFFECTS)
        return special, _is_derived(cases[one.case]), one.level, one.aspect != VALUES, one.case

    return min(faults, key=rank)


def _is_derived(case: Case) -> bool:
    return case.family == TWICE or is_raising(case)


def _smallest(cases: list[Case], faults: list[Finding], reported: Finding) -> Finding:
    """Return, of the findings with the aspect, level and step of the reported one, the one with the smallest
    case, because a small case is the easiest to follow.
    """

    def size(one: Finding) -> int:
        case = cases[one.case]
        return sum(tensor.numel() for tensor in tensors_in((case.args, case.kwargs, case.weights)))

    kind = reported.aspect, reported.level, reported.step
    alike = [one for one in faults if (one.aspect, one.level, one.step) == kind]
    return min(alike, key=size)


def not_started(exercise: Exercise, why: str = "") -> Verdict:
    """Return the verdict on an answer that is still a stub, or that is not defined at all."""
    message = why or f"{exercise.name} is not written yet."
    return Verdict(exercise.id, NOT_STARTED, _aspects(exercise, {VALUES}), message)


def unable_to_run(exercise: Exercise, message: str) -> Verdict:
    """Return the verdict on an answer that could not be run or judged; `message` says why."""
    return Verdict(exercise.id, DOES_NOT_RUN, _aspects(exercise, {VALUES}), message)


def _stub(records: list[Record]) -> str | None:
    """Return the name of the unwritten function whose NotImplementedError ended the first call of the answer,
    or None if the call ended in another way.
    """
    first = next((record for record in records if record["status"] in ("raised", "answered")), None)
    if first is None or first["status"] == "answered":
        return None
    error = first["error"]
    # subtle: PyTorch raises the same error if a module has no forward, or an operation no kernel; such an
    # answer is started, and wrong.
    return error["function"] if error.get("raised") and error.get("unwritten") else None


def _waits_for(exercise: Exercise, function: str) -> Verdict | None:
    """Return the verdict on an answer that called the unwritten function named `function`, if this function
    belongs to another exercise of the lesson, else None.
    """
    others = (other.name for other in exercises_of(exercise.lesson) if other.id != exercise.id)
    if (name := next((other for other in others if other == function.partition(".")[0]), None)) is None:
        return None
    return unable_to_run(
        exercise,
        f"{exercise.name} calls {name}, which is not written yet.\nWrite {name} first; then check this one again.",
    )


def _aspects(exercise: Exercise, lost: Collection[str]) -> tuple[Aspect, ...]:
    """Return each aspect with its earned and its possible points. The aspects in `lost` earn nothing; if
    VALUES is in `lost`, no aspect earns anything.
    """
    nothing = VALUES in lost
    return tuple(
        Aspect(name, 0.0 if nothing or name in lost else float(points), float(points))
        for name, points in exercise.aspects.items()
    )


def _state(faults: list[Finding], lost: Collection[str], records: list[Record]) -> str:
    if VALUES not in lost:
        return PARTLY_RIGHT
    ran = any(record["status"] == "answered" for record in records)
    other_fault = any(finding.level != RUNS for finding in faults if finding.aspect == VALUES)
    return WRONG if ran or other_fault else DOES_NOT_RUN


def _message(reported: Finding, explanation: Explanation | None, hidden: bool) -> str:
    if explanation is not None:
        example = "" if hidden else _example(reported, explanation)
        return _lines(explanation.observation, explanation.question, example)
    if hidden:
        # These questions ask about an entry, or a line, that is not shown.
        is_shown = reported.step == "refusal" or reported.level not in (RUNS, NUMBERS)
        question = reported.question if is_shown else ""
        return _lines(_without_numbers(reported), question)
    return _lines(
        reported.observation, reported.question, f"With {reported.detail}." if reported.detail else ""
    )


def _example(reported: Finding, explanation: Explanation) -> str:
    observation, detail = reported.observation, reported.detail
    if observation == explanation.observation:
        return f"With {detail}." if detail else ""
    if not detail:
        return observation
    if reported.level == RUNS:
        return f"{observation} ({detail})"
    return f"With {detail}: {observation[0].lower()}{observation[1:]}"


def _without_numbers(reported: Finding) -> str:
    if reported.level == RUNS and reported.step == "output":
        return "In a hidden case your answer does not run to its end."
    return {
        "output": "In a hidden case your result is wrong.",
        "after": "In a hidden case your call changes an input.",
        "gradients": "In a hidden case a gradient is wrong.",
        "new": reported.observation,
        "raises": reported.observation,
        "refusal": "In a hidden case your answer does not refuse its arguments as it should.",
    }.get(reported.step, "In a hidden case a second call gives a different result.")


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)
