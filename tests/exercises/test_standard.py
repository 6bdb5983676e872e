"""Tests the cases that every exercise gets by default."""

import inspect

import pytest
import torch
from judged import IDS, PUBLIC, expected_of, verdict, worked_answer

from autograder.exercises import find
from autograder.schema.case import DTYPES, Module, tensors_in

ALL_CASES = {one: expected_of(one, *PUBLIC).cases for one in IDS}


def given(case) -> list:
    """Return the tensors of more than one entry among a case's arguments, except those inside modules."""
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


@pytest.mark.parametrize("exercise_id", ["positions.rope_to_halves", "generation.min_p_logits"])
def test_a_step_in_float32_shows_also_where_entries_are_only_moved(exercise_id):
    right = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        logits, *others = (*args, *kwargs.values())
        return right(logits.float(), *others).to(logits.dtype)

    judged = verdict(exercise_id, answer)
    assert [one.name for one in judged.aspects if one.points < one.max_points] == [DTYPES], judged.message


MOVING_IDS = [
    "encoder.shift_right",
    "tokens.count_pairs",
    "tokens.merge_pair",
    "lm.split_into_windows",
    "generation.generate",
    "finetune.answer_targets",
    "assistant.pack_documents",
    "assistant.pad_left",
]


def cut(value):
    """Return a copy of a value in which only the last sixteen bits of each id are left."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(cut, value))
    is_ids = isinstance(value, int) or (isinstance(value, torch.Tensor) and value.dtype == torch.int64)
    return value % 2**16 if is_ids else value


@pytest.mark.parametrize("exercise_id", MOVING_IDS)
def test_ids_are_larger_than_sixteen_bits_hold(exercise_id):
    right = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        return right(*map(cut, args), **{name: cut(value) for name, value in kwargs.items()})

    assert not verdict(exercise_id, answer).passed


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
