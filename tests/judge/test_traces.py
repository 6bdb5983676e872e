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


def hooked_for_states(model):
    model.register_state_dict_pre_hook(lambda *args: None)


def with_hooks_on_weights(model):
    for weight in model.parameters():
        weight.register_hook(lambda gradient: None)


def with_a_buffer(model):
    model.register_buffer("rubbish", torch.zeros(1))


LEFT_BEHIND = {
    hooked_for_states: "changes the hooks",
    with_hooks_on_weights: "changes the hooks",
    with_a_buffer: "changes the parts",
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
    "change",
    [
        lambda: torch.set_grad_enabled(False),
        lambda: torch.set_default_dtype(torch.float64),
        lambda: torch.set_num_threads(torch.get_num_threads() + 1),
        lambda: torch.autocast("cpu").__enter__(),
    ],
)
@pytest.mark.parametrize("exercise_id", ["masking.causal_mask", "tokens.merge_pair"])
def test_a_setting_of_the_whole_program_that_a_call_leaves_changed_is_told(exercise_id, change):
    right = worked_answer(exercise_id)

    def answer(*args, **kwargs):
        result = right(*args, **kwargs)
        change()
        return result

    judged = verdict(exercise_id, answer)
    assert not judged.passed and "such as the gradient mode" in judged.message


WHEN = {
    "with gradients": lambda module, x: x.requires_grad,
    "in evaluation mode": lambda module, x: not module.training,
    "in a second call": lambda module, x: module.calls % 2 == 0,
}


@pytest.mark.parametrize("when", WHEN)
def test_an_argument_that_a_later_call_writes_into_is_told(when):
    right = worked_answer("heads.SelfAttentionHead")

    class Answer(right):
        calls = 0

        def forward(self, x, mask=None):
            self.calls += 1
            result = super().forward(x, mask)
            if WHEN[when](self, x):
                x.data -= x.data.mean()
            return result

    judged = verdict("heads.SelfAttentionHead", Answer)
    assert not judged.passed and "the caller's `x` has changed" in judged.message, judged.message


def test_gradients_that_a_call_switches_on_again_are_told():
    right = worked_answer("heads.SelfAttentionHead")

    class Answer(right):
        def forward(self, x, mask=None):
            result = super().forward(x, mask)
            torch.set_grad_enabled(True)
            return result

    judged = verdict("heads.SelfAttentionHead", Answer)
    assert not judged.passed and "such as the gradient mode" in judged.message


def test_a_part_of_a_trained_model_that_is_left_in_another_mode_is_told():
    right = worked_answer("lm.train_step")

    def train_step(model, *args, **kwargs):
        loss = right(model, *args, **kwargs)
        for part in model.children():
            part.eval()
        return loss

    assert not verdict("lm.train_step", train_step).passed


def test_what_the_backward_pass_changes_is_told():
    right = worked_answer("loops.softmax")

    def softmax(scores):
        result = right(scores)
        if result.requires_grad:
            result.register_hook(lambda gradient: torch.set_default_dtype(torch.float64))
        return result

    judged = verdict("loops.softmax", softmax)
    assert not judged.passed and "such as the gradient mode" in judged.message
