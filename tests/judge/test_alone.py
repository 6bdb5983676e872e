"""Tests that what an answer does in a case does not depend on the cases before it."""

from dataclasses import replace

import pytest
from judged import IDS, PUBLIC, expected_of, results_of

from autograder.exercises import find
from autograder.values.pack import pack


@pytest.mark.trial
@pytest.mark.parametrize("exercise_id", IDS)
def test_a_mistake_does_alone_what_it_does_among_all_cases(exercise_id):
    """Prove, for every third mistake, that its record in a case does not depend on the cases that ran
    earlier: with new instances and in reverse order, the records are the same (see
    autograder.judge.expected).
    """
    exercise, expected = find(exercise_id), expected_of(exercise_id, *PUBLIC)
    numbers = _with_something_before(exercise, expected.cases)
    cases = [replace(expected.cases[i], fresh=True, gradients=False, record=False) for i in reversed(numbers)]
    for number, mistake in list(enumerate(exercise.mistakes))[::3]:
        among = [_without_gradients(expected.run(number)[0][i]) for i in reversed(numbers)]
        assert pack(results_of(exercise, cases, mistake.answer, seconds=20.0)) == pack(among), mistake.id


def _with_something_before(exercise, cases) -> list[int]:
    """Return the indices of the cases that could be affected by what an earlier case left behind: for a
    class, those that reuse an instance; otherwise all.
    """
    if exercise.procedure != "class":
        return list(range(len(cases)))
    built = [repr(case.init) for case in cases]
    return [i for i, case in enumerate(cases) if not case.fresh and built[i] in built[:i]]


def _without_gradients(record) -> dict:
    asked_with_them = (
        "gradients",
        "further",
    )  # the gradients of the named parameters, and those of all others
    return record | {
        "steps": {name: step for name, step in record["steps"].items() if name not in asked_with_them}
    }
