"""Verdicts for the tests. The cases, and the records of references and mistakes, are made only once for each
exercise and seed.

A hidden check has several rounds, each with all families of cases; these tests use only one round. `make
test` tries a few answers of each kind to an exercise, `make trial` all of them.
"""

import functools
import os
from pathlib import Path
from unittest.mock import patch

import torch

# PyTorch imports this module when it first meets a padding mask or an optimiser. It is imported here so that
# a trial's time limit cannot cut the import off halfway.
import torch.fx.experimental.symbolic_shapes
from answers import answers
from worked import answer_in, worked_file, worked_sources

from autograder.bundle import kept
from autograder.bundle.records import write_exercises, write_expected
from autograder.exercises import all_exercises, find
from autograder.judge import Expected, Verdict, cases_of, judge
from autograder.judge.expected import RecordedExpected
from autograder.judge.findings import findings
from autograder.judge.judging import with_suspects
from autograder.judge.rules import broken_rule
from autograder.probe import probe
from autograder.schema.draw import Draw
from autograder.schema.recorded import read

SAMPLE = 3  # how many mistakes, right answers and other wrong answers of an exercise are tried
IDS = [exercise.id for exercise in all_exercises()]
PUBLIC, OTHER, HIDDEN = ("public", False), ("other", False), ("a secret/0", True)

# The tensors are small: a second thread costs more than it gives.
torch.set_num_threads(1)


@functools.cache
def expected_of(exercise_id: str, seed: str, hidden: bool) -> Expected:
    """Return the expected records, and those of the known mistakes, on the cases drawn from a seed."""
    exercise = find(exercise_id)
    return Expected(exercise, with_suspects(exercise, exercise.drawn(Draw(exercise_id, seed, hidden))))


def records_of(exercise_id: str, answer, check=PUBLIC) -> list[dict]:
    """Return the records of an answer on a check's cases; `check` is the pair (seed, is hidden)."""
    return probe(answer, expected_of(exercise_id, *check).cases, find(exercise_id).procedure)


def results_of(exercise, cases, answer, **more) -> list[dict]:
    """Return the records of an answer on these cases."""
    return probe(answer, cases, exercise.procedure, **more)


def is_caught(exercise, expected: Expected, answer, seconds: float | None = None) -> bool:
    """Return whether a case or a rule rejects an answer. Try the cases one by one first, because the first
    case already rejects most wrong answers.
    """
    for case, right in zip(expected.cases, expected.right, strict=True):
        records = results_of(exercise, [case], answer, seconds=seconds)
        if findings(exercise, [case], [right], records):
            return True
    records = results_of(exercise, expected.cases, answer, seconds=seconds)
    return bool(expected.wrong_cases(records) or broken_rule(exercise, expected.cases, records))


def verdict_on(exercise_id: str, records: list[dict], check=PUBLIC) -> Verdict:
    """Return the verdict on an answer's records."""
    expected = expected_of(exercise_id, *check)
    return judge(find(exercise_id), expected.cases, records, check[1], expected)


def verdict(exercise_id: str, answer, check=PUBLIC) -> Verdict:
    """Return the verdict on an answer."""
    return verdict_on(exercise_id, records_of(exercise_id, answer, check), check)


@functools.cache
def mistake_records(exercise_id: str) -> list[tuple]:
    """Return (mistake, the probe's records of it) for every known mistake, on the visible cases."""
    exercise, expected = find(exercise_id), expected_of(exercise_id, *PUBLIC)
    return [(mistake, expected.run(number)[0]) for number, mistake in enumerate(exercise.mistakes)]


@functools.cache
def recorded(exercise_id: str, folder: Path) -> RecordedExpected:
    """Return what the student bundle compares an answer with. It is recorded here and lies in `folder`, which
    all test processes share, and from where the bundle of the tests takes it: the mistakes, which have been
    run for the tests, are not run a second time.
    """
    here = folder / exercise_id
    here.mkdir(parents=True, exist_ok=True)
    file = here / f"{exercise_id}.safetensors"
    write_exercises(here, [find(exercise_id)])
    write_expected(file, expected_of(exercise_id, *PUBLIC))
    with patch.dict(os.environ, XDG_CACHE_HOME=str(folder)):
        kept.keep(_names().of(exercise_id), file)
    [exercise] = read(here)
    return RecordedExpected(exercise, cases_of(exercise))


@functools.cache
def _names() -> kept.Names:
    return kept.Names()


@functools.cache
def mistake_verdicts(exercise_id: str, folder: Path) -> list[tuple]:
    """Return (mistake, the verdict on it) for every known mistake, on the visible cases, as the student
    bundle judges it.
    """
    expected = recorded(exercise_id, folder)
    return [
        (mistake, judge(expected.exercise, expected.cases, records, expected=expected))
        for mistake, records in mistake_records(exercise_id)
    ]


@functools.cache
def hidden_verdicts(exercise_id: str) -> list[tuple]:
    """Return (mistake, the verdict on it) for every fourth known mistake, on hidden cases."""
    return [(one, verdict(exercise_id, one.answer, HIDDEN)) for one in find(exercise_id).mistakes[::4]]


@functools.cache
def sampled_verdicts(exercise_id: str) -> list[tuple]:
    """Return (mistake, the verdict on it) for a few known mistakes, on the visible cases."""
    mistakes = sample(find(exercise_id).mistakes)
    return [(mistake, verdict(exercise_id, mistake.answer)) for mistake in mistakes]


def sample(answers) -> list:
    """Return a few answers, spread evenly over a list."""
    answers = list(answers)
    return answers[:: -(-len(answers) // SAMPLE)]


@functools.cache
def wrong_records(exercise_id: str) -> list[list[dict]]:
    """Return the records of those wrong answers that are not known mistakes."""
    _, wrong = answers(find(exercise_id))
    return [records_of(exercise_id, answer) for answer in wrong.values()]


@functools.cache
def wrong_verdicts(exercise_id: str) -> dict[str, Verdict]:
    """Return, by name, the verdicts on those wrong answers that are not known mistakes."""
    _, wrong = answers(find(exercise_id))
    return {
        name: verdict_on(exercise_id, records)
        for name, records in zip(wrong, wrong_records(exercise_id), strict=True)
    }


def worked_answer(exercise_id: str):
    """Return the worked answer in the exercise's lesson or, if the lesson is not written yet, the exercise's
    own worked answer; if there is none, the exercise's reference.
    """
    exercise = find(exercise_id)
    if exercise_id in worked_sources(exercise.lesson):
        return answer_in(worked_file(exercise), exercise.name)
    return exercise.worked or exercise.reference
