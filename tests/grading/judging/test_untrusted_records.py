"""Tests records that come out of a sandbox: honest ones are read; forged ones are refused as unreadable, or
judged like any others.
"""

import pytest
import torch

from autograder.exercises import all_exercises, find
from autograder.grading.judging.untrusted_records import checked_records
from autograder.judge import Expected, Verdict, cases_of, judge
from autograder.probe import probe
from autograder.untrusted import Unreadable
from autograder.values.pack import pack, unpack
from grading.judging.test_survival import DONE, RETURNED, SOFTMAX


def sent(answer, exercise, cases, seconds=None):
    """Return the records of an answer as they come out of a sandbox."""
    return unpack(pack(probe(answer, cases, exercise.procedure, seconds=seconds)))


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.id)
def test_what_the_probe_writes_is_read(exercise):
    cases = cases_of(exercise)
    for answer in (exercise.reference, *(mistake.answer for mistake in exercise.mistakes[:2])):
        records = sent(answer, exercise, cases)
        read = checked_records(records, exercise, cases)
        assert [record.keys() for record in read] == [record.keys() for record in records]


@pytest.mark.parametrize("name", [*RETURNED, *DONE])
def test_whatever_an_answer_does_is_read(name):
    exercise = find(SOFTMAX)
    cases = cases_of(exercise)[:2]
    assert (
        len(checked_records(sent((RETURNED | DONE)[name], exercise, cases, seconds=0.4), exercise, cases))
        == 2
    )


OTHERS = [None, True, -1, 10**30, 0.5, float("nan"), "", "x", [], {}, {"kind": "error"}, torch.zeros(0), [[]]]
OTHERS += [
    torch.zeros(2, dtype=torch.complex32),
    torch.zeros(3, dtype=torch.float8_e5m2),
    torch.zeros([1] * 70),
]


def paths_in(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_in(item, (*path, key))


def replaced(value, path, other):
    """Return a copy of nested data with `other` at `path`."""
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], other)
    return copy


@pytest.mark.parametrize("exercise_id", [SOFTMAX, "matmul.SelfAttention"])
def test_a_forged_field_is_unreadable_or_judged(exercise_id):
    """Replace each field in turn with each value in OTHERS: the records must be refused as unreadable, or
    judged without an error.
    """
    exercise = find(exercise_id)
    cases = cases_of(exercise)[:2]
    expected = Expected(exercise, cases)
    records = sent(exercise.reference, exercise, cases)
    unreadable = judged = 0
    for path in {tuple("n" if isinstance(k, int) else k for k in p): p for p in paths_in(records)}.values():
        for other in OTHERS:
            forged = replaced(records, path, other)
            try:
                plain = checked_records(forged, exercise, cases)
            except Unreadable:
                unreadable += 1
                continue
            assert isinstance(judge(exercise, cases, plain, expected=expected), Verdict)
            judged += 1
    assert unreadable > 10 * judged > 0


@pytest.mark.parametrize("field", ["output", "after", "again", "gradients", "usage"])
def test_a_step_that_is_left_out_is_unreadable(field):
    exercise = find(SOFTMAX)
    cases = cases_of(exercise)
    records = sent(exercise.reference, exercise, cases)
    number = next(number for number, record in enumerate(records) if field in record["steps"])
    del records[number]["steps"][field]
    with pytest.raises(Unreadable):
        checked_records(records, exercise, cases)
