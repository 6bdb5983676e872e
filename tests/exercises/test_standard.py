"""The cases that every exercise gets by default."""

import inspect

import pytest
from judged import IDS, PUBLIC, expected_of

from autograder.exercises import find
from autograder.schema.case import Module, tensors_in

ALL_CASES = {one: expected_of(one, *PUBLIC).cases for one in IDS}


def given(case) -> list:
    """Return the tensors of more than one entry that a case provides, except those of modules."""
    values = [value for value in (*case.args, *case.kwargs.values()) if not isinstance(value, Module)]
    return [one for one in tensors_in(values) if one.dim() and one.numel() > 1]


TAKING_TENSORS = [one for one in IDS if any(map(given, ALL_CASES[one]))]


@pytest.mark.parametrize("exercise_id", TAKING_TENSORS)
def test_every_exercise_that_takes_tensors_is_given_some_that_are_not_contiguous(exercise_id):
    assert any(not tensor.is_contiguous() for case in ALL_CASES[exercise_id] for tensor in given(case))


@pytest.mark.parametrize(
    "exercise_id",
    ["lm.next_token_loss", "fast.merge_attention", "inside.logit_lens", "finetune.accumulated_step"],
)
def test_integers_vectors_and_tensors_within_lists_are_not_contiguous_either(exercise_id):
    (case,) = (case for case in ALL_CASES[exercise_id] if case.family == "columns in memory order")
    assert given(case) and not any(tensor.is_contiguous() for tensor in given(case))


BY_NAME = [one for one in IDS if "by name" in find(one).standard]


@pytest.mark.parametrize("exercise_id", BY_NAME)
def test_by_name_gives_as_many_arguments_as_any_plain_case_does(exercise_id):
    (case,) = (case for case in ALL_CASES[exercise_id] if case.family == "arguments by name")
    assert not case.args or case.script
    assert set(case.kwargs) <= set(find(exercise_id).parameters) or case.script


def test_by_name_gives_an_optional_argument_as_well():
    (case,) = (case for case in ALL_CASES["moe.sigmoid_gate"] if case.family == "arguments by name")
    assert (
        "scale" in case.kwargs and len(inspect.signature(find("moe.sigmoid_gate").reference).parameters) == 4
    )
