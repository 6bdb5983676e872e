"""Tests, for every exercise whose answer receives a function or a model, that the answer fails if it swallows
an error raised by that function or model, and passes if it replaces the error with another.
"""

import functools

import pytest
from judged import HIDDEN, IDS, PUBLIC, expected_of, records_of, verdict, verdict_on, worked_answer

from autograder.exercises import find
from autograder.grading.judging.untrusted_records import checked_records
from autograder.schema.case import Given, Module
from autograder.schema.raising import is_raising

RAISING = [one for one in IDS if any(map(is_raising, expected_of(one, *PUBLIC).cases))]
# Their answers receive models or functions, by name or by position.
GIVEN = [
    "encoder.greedy_decode",
    "lm.train_step",
    "generation.generate",
    "tasks.forecast",
    "preferences.dpo_step",
    "llama.chat_ids",
    "llama.generate_cached",
    "inside.outputs_of",
    "inside.run_patched",
    "finetune.replace_linears",
    "finetune.accumulated_step",
    "assistant.generate_batch",
]


def test_every_exercise_that_gives_a_function_or_a_model_has_cases_in_which_it_raises():
    assert GIVEN == RAISING


@pytest.mark.parametrize("exercise_id", [one for one in IDS if one not in GIVEN])
def test_an_exercise_without_such_cases_gives_functions_to_its_scripts_alone(exercise_id):
    for case in expected_of(exercise_id, *PUBLIC).cases:
        given = dict(zip(find(exercise_id).parameters, case.args, strict=False)) | dict(case.kwargs)
        called = [name for name, value in given.items() if isinstance(value, Given)]
        assert not set(called) & set(find(exercise_id).parameters)
        assert not any(isinstance(value, Module) and name == "model" for name, value in given.items())


@pytest.mark.parametrize("exercise_id", RAISING)
def test_an_error_that_is_caught_is_told_and_one_that_is_replaced_is_not(exercise_id):
    right = worked_answer(exercise_id)

    @functools.wraps(right)
    def caught(*args, **kwargs):
        try:
            return right(*args, **kwargs)
        except RuntimeError:
            return None

    @functools.wraps(right)
    def replaced(*args, **kwargs):
        try:
            return right(*args, **kwargs)
        except RuntimeError as error:
            raise OSError("the answer's own words") from error

    assert verdict(exercise_id, replaced).passed
    cases = expected_of(exercise_id, *PUBLIC).cases
    assert checked_records(records_of(exercise_id, right), find(exercise_id), cases)
    for check in (PUBLIC, HIDDEN):
        records, cases = records_of(exercise_id, caught, check), expected_of(exercise_id, *check).cases
        assert len(checked_records(records, find(exercise_id), cases)) == len(cases)
        judged = verdict_on(exercise_id, records, check)
        assert not judged.passed and "goes on as if nothing had happened" in judged.message, judged.message
