"""Tests, for every exercise, that an effect of one call on the next is detected and has its own message."""

import copy
from itertools import pairwise

import pytest
import torch
from judged import IDS, PUBLIC, expected_of, verdict, worked_answer
from torch import nn

from autograder.exercises import find
from autograder.judge.between_calls import GIVEN_AGAIN, OVERWRITTEN
from autograder.judge.findings.record import OTHER
from autograder.schema.twice import TWICE


def kept_by_sizes(answer, give):
    """Wrap an answer so that it caches its first result for each combination of the sizes of the arguments
    and the result. A call in which an argument requires gradients returns its own result; any other call
    returns `give(cached, result)`.
    """
    kept = {}

    def changed(*args, **kwargs):
        result = answer(*args, **kwargs)
        values = (*args, *kwargs.values())
        if any(isinstance(value, torch.Tensor) and value.requires_grad for value in values):
            return result
        return give(kept.setdefault(str(list(map(size, (result, *values)))), result), result)

    return changed


def size(value):
    if isinstance(value, tuple):
        return tuple(map(size, value))
    if isinstance(value, nn.Module):
        return [part.shape for part in value.parameters()]
    return (value.shape, value.dtype) if isinstance(value, torch.Tensor) else type(value)


def in_the_same_memory(kept, result):
    if isinstance(result, tuple):
        return tuple(map(in_the_same_memory, kept, result))
    return kept.copy_(result) if isinstance(result, torch.Tensor) else result


def as_it_was(kept, result):
    return kept


def gives_tensors(exercise_id):
    """Return whether an exercise's cases are single calls that return tensors."""
    expected = expected_of(exercise_id, *PUBLIC)
    return not expected.cases[0].script and "'tensor'" in str(expected.right[0]["steps"]["output"])


# Their results depend on the sizes of the arguments alone.
OF_SIZES_ALONE = ("masking.causal_mask", "positions.sinusoidal_positions", "positions.alibi_bias")
# These change a model, and return None or a count.
CHANGE_A_MODEL = ("heads.copy_weights", "finetune.replace_linears")
NOT_ASKED = OF_SIZES_ALONE + CHANGE_A_MODEL
FUNCTIONS = [one for one in IDS if find(one).procedure == "function" and one not in NOT_ASKED]


@pytest.mark.parametrize("exercise_id", [one for one in IDS if find(one).procedure in ("function", "class")])
def test_every_answer_is_called_again_with_other_arguments(exercise_id):
    (case,) = (case for case in expected_of(exercise_id, *PUBLIC).cases if case.family == TWICE)
    assert case.script


@pytest.mark.parametrize("exercise_id", list(filter(gives_tensors, FUNCTIONS)))
def test_a_result_that_the_next_call_overwrites_is_told(exercise_id):
    judged = verdict(exercise_id, kept_by_sizes(worked_answer(exercise_id), in_the_same_memory))
    assert not judged.passed and OVERWRITTEN[0] in judged.message, judged.message


@pytest.mark.parametrize("exercise_id", ["llama.swiglu", "decoder.feed_forward", "inside.head_outputs"])
def test_weights_that_are_kept_by_the_layer_they_came_from_are_told(exercise_id):
    right, kept = worked_answer(exercise_id), {}

    def answer(*args, **kwargs):
        copies = [
            kept.setdefault(id(arg), (arg, copy.deepcopy(arg)))[1] if isinstance(arg, nn.Module) else arg
            for arg in args
        ]
        is_learning = any(
            p.grad_fn is None and p.requires_grad for a in args if isinstance(a, torch.Tensor) for p in [a]
        )
        return right(*(args if is_learning else copies), **kwargs)

    judged = verdict(exercise_id, answer)
    assert not judged.passed and GIVEN_AGAIN[0] in judged.message, judged.message


@pytest.mark.parametrize("exercise_id", FUNCTIONS)
def test_a_result_that_is_given_again_for_other_arguments_does_not_pass_and_a_tensor_is_told(exercise_id):
    judged = verdict(exercise_id, kept_by_sizes(worked_answer(exercise_id), as_it_was))
    assert not judged.passed
    assert GIVEN_AGAIN[0] in judged.message or not gives_tensors(exercise_id), judged.message


def test_what_is_kept_in_a_default_argument_is_told_by_the_second_call():
    def count_pairs(ids, counts={}):  # noqa: B006
        for pair in pairwise(ids):
            counts[pair] = counts.get(pair, 0) + 1
        return counts

    assert verdict("tokens.count_pairs", count_pairs).message.startswith(OTHER["again"][0])
