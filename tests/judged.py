"""Verdicts for the tests: cases, what is due and what mistakes give are made once for each exercise and seed.

A hidden check has several rounds, each of all its families; the trial takes one of them.
"""

import functools

import torch
from answers import answers
from worked import answer_in, worked_file, worked_sources

from autograder.exercises import all_exercises, find
from autograder.exercises.values import Values
from autograder.judge import Expected, Verdict, judge
from autograder.judge.findings import findings
from autograder.judge.rules import broken_rule
from autograder.probe import probe

IDS = [exercise.id for exercise in all_exercises()]
PUBLIC, OTHER, HIDDEN = ("public", False), ("other", False), ("a secret/0", True)

# The tensors are small: a second thread costs more than it gives.
torch.set_num_threads(1)


@functools.cache
def expected_of(exercise_id: str, seed: str, hidden: bool) -> Expected:
    """What is due, and what the known mistakes give, on the cases of a seed."""
    exercise = find(exercise_id)
    return Expected(exercise, list(exercise.cases(Values(exercise_id, seed, hidden))))


def records_of(exercise_id: str, answer, check=PUBLIC) -> list[dict]:
    """What an answer does on the cases of a check."""
    return probe(answer, expected_of(exercise_id, *check).cases, find(exercise_id).procedure)


def is_caught(exercise, expected: Expected, answer, seconds: float | None = None) -> bool:
    """Whether some case, or a rule, tells an answer from a right one. Most are told by the first case."""
    for case, due in zip(expected.cases, expected.right, strict=True):
        records = probe(answer, [case], exercise.procedure, seconds=seconds)
        if findings(exercise, [case], [due], records):
            return True
    records = probe(answer, expected.cases, exercise.procedure, seconds=seconds)
    return bool(expected.wrong_cases(records) or broken_rule(exercise, expected.cases, records))


def verdict_on(exercise_id: str, records: list[dict], check=PUBLIC) -> Verdict:
    """The verdict on records."""
    expected = expected_of(exercise_id, *check)
    return judge(find(exercise_id), expected.cases, records, check[1], expected)


def verdict(exercise_id: str, answer, check=PUBLIC) -> Verdict:
    """The verdict on an answer."""
    return verdict_on(exercise_id, records_of(exercise_id, answer, check), check)


@functools.cache
def mistake_verdicts(exercise_id: str, check=PUBLIC) -> list[tuple]:
    """(mistake, the verdict on it) for every known mistake."""
    expected = expected_of(exercise_id, *check)
    return [(mistake, verdict_on(exercise_id, records, check)) for mistake, records in expected.mistakes]


@functools.cache
def wrong_records(exercise_id: str) -> list[list[dict]]:
    """What the wrong answers do that are no known mistake."""
    _, wrong = answers(find(exercise_id))
    return [records_of(exercise_id, answer) for answer in wrong.values()]


@functools.cache
def wrong_verdicts(exercise_id: str) -> dict[str, Verdict]:
    """The verdicts on the wrong answers that are no known mistake, by name."""
    _, wrong = answers(find(exercise_id))
    return {
        name: verdict_on(exercise_id, records)
        for name, records in zip(wrong, wrong_records(exercise_id), strict=True)
    }


def named(judged: Verdict) -> bool:
    """Whether a message says more than that an entry is another: the mistake, or what kind of thing is wrong."""
    return judged.mistake is not None or "Work this one" not in judged.message


def worked_answer(exercise_id: str):
    """The worked answer of the lesson, or where the lesson is not written yet the first right form."""
    exercise = find(exercise_id)
    if exercise_id in worked_sources(exercise.lesson):
        return answer_in(worked_file(exercise), exercise.name)
    return next(iter(answers(exercise)[0].values()), exercise.reference)
