"""Tests that forbidden changes by an answer are found and have their own messages: changes to its arguments,
to the modules that it receives, and to the random numbers and settings of the process.
"""

import pytest
import torch
from judged import PUBLIC, expected_of, verdict, worked_answer

from autograder.exercises import find
from autograder.schema.case import Module


def kept_in_eval(model):
    model.eval()


def learning(model):
    for parameter in model.parameters():
        parameter.requires_grad_(False)


def hooked(model):
    model.register_forward_hook(lambda module, args, out: None)


def with_another_part(model):
    model.add_module("another", torch.nn.Identity())


LEFT_BEHIND = {
    kept_in_eval: "in a different mode",
    learning: "changes `requires_grad` of",
    hooked: "changes the hooks",
    with_another_part: "changes the parts",
}


def given_modules(exercise_id: str) -> bool:
    """Return whether an exercise's function receives modules that it must not change."""
    cases = expected_of(exercise_id, *PUBLIC).cases
    return find(exercise_id).procedure == "function" and any(
        isinstance(value, Module) and name not in case.changes and case.family != "two calls in a row"
        for case in cases
        for name, value in (*((str(i), arg) for i, arg in enumerate(case.args)), *case.kwargs.items())
    )


@pytest.mark.parametrize("leave", LEFT_BEHIND, ids=lambda leave: leave.__name__)
@pytest.mark.parametrize("exercise_id", ["norms.pre_norm", "inside.logit_lens"])
def test_what_is_left_behind_on_a_module_is_told(exercise_id, leave):
    assert given_modules(exercise_id)
    right = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        result = right(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.nn.Module):
                leave(value)
        return result

    judged = verdict(exercise_id, answer)
    assert not judged.passed and LEFT_BEHIND[leave] in judged.message, judged.message


@pytest.mark.parametrize("exercise_id", ["loops.softmax", "matmul.attention", "masking.masked_attention"])
def test_an_input_that_a_call_makes_require_gradients_is_told(exercise_id):
    right = worked_answer(exercise_id)

    def answer(first, *others, **kwargs):
        return right(first.requires_grad_(), *others, **kwargs)

    judged = verdict(exercise_id, answer)
    assert not judged.passed and "Your call changes `requires_grad` of `" in judged.message, judged.message


@pytest.mark.parametrize("exercise_id", ["matmul.attention", "finetune.merge_lora", "tokens.merge_pair"])
def test_a_call_that_sets_the_seed_of_the_whole_program_is_told(exercise_id):
    right = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        torch.manual_seed(0)
        return right(*args, **kwargs)

    judged = verdict(exercise_id, answer)
    assert not judged.passed and "resets the random number generator of the whole program" in judged.message


@pytest.mark.parametrize("exercise_id", ["finetune.LoRALinear", "heads.MultiheadSelfAttention"])
def test_a_module_that_sets_the_seed_when_it_is_made_is_told(exercise_id):
    right = worked_answer(exercise_id)

    class Answer(right):
        def __init__(self, *args, **kwargs):
            torch.manual_seed(0)
            super().__init__(*args, **kwargs)

    judged = verdict(exercise_id, Answer)
    assert not judged.passed and "resets the random number generator of the whole program" in judged.message


@pytest.mark.parametrize(
    ("exercise_id", "leave"),
    [("llama.LlamaLayer", kept_in_eval), ("llama.Llama", kept_in_eval), ("finetune.LoRALinear", hooked)],
)
def test_what_a_constructor_leaves_behind_on_a_module_that_it_is_given_is_told(exercise_id, leave):
    right = worked_answer(exercise_id)

    class Answer(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            for part in self.modules():
                if part is not self:
                    leave(part)

    judged = verdict(exercise_id, Answer)
    assert not judged.passed and (
        "in a different mode" in judged.message or "changes the hooks" in judged.message
    )


@pytest.mark.parametrize(
    "change", [lambda: torch.set_grad_enabled(False), lambda: torch.set_default_dtype(torch.float64)]
)
@pytest.mark.parametrize("exercise_id", ["masking.causal_mask", "tokens.merge_pair"])
def test_a_setting_of_the_whole_program_that_a_call_leaves_changed_is_told(exercise_id, change):
    right = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        result = right(*args, **kwargs)
        change()
        return result

    judged = verdict(exercise_id, answer)
    assert not judged.passed and "gradient mode or the default dtype" in judged.message
