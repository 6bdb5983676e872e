"""Verdicts on answers to an exercise that has only a reference."""

from dataclasses import replace

from autograder.exercises import find
from autograder.judge import Expected, Verdict, judge
from autograder.probe import probe
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise, Rules


def exercise_of(reference, **more) -> Exercise:
    """Return an exercise that has only this reference."""
    plain = {"mistakes": (), "rules": Rules(), "invariants": (), "worked": None, "procedure": "function"}
    return replace(find("loops.softmax"), reference=reference, **plain | {"aspects": {"values": 1}} | more)


def verdict_on(reference, answer, *cases: Case, **more) -> Verdict:
    """Return the verdict on `answer` in these cases, with `reference` as the right answer."""
    exercise = exercise_of(reference, **more)
    return judge(
        exercise, [*cases], probe(answer, [*cases], exercise.procedure), False, Expected(exercise, [*cases])
    )
