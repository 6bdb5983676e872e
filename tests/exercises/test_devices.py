"""The answers in the lessons make their tensors on the device of those that they are given: they run on a GPU too.

PyTorch's device "meta" stands for a GPU here: its tensors hold no numbers, and refuse to meet one on the CPU.
"""

import pytest
import torch
from judged import IDS
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map
from worked import answer_in, worked_file

from autograder.exercises import find
from autograder.judge import cases_of
from autograder.probe.build import arguments, built

# They read single numbers or choose rows by them, and "meta" has none. (nn.TransformerDecoder looks at its mask.)
READ_NUMBERS = {
    "loops.dot_product_scores",
    "loops.weighted_sum",
    "loops.attention_from_loops",
    "encoder.EncoderDecoder",
    "encoder.greedy_decode",
    "generation.generate",
    "generation.speculate",
    "lm.next_token_loss",
    "llama.generate_cached",
    "moe.MixtureOfExperts",
    "preferences.preference_accuracy",
}


def tensors_in(case) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves((case.args, case.kwargs)) if isinstance(leaf, torch.Tensor)]


def calls_of(name: str) -> list:
    """The cases in which an answer is called once, on tensors."""
    exercise = find(name)
    plain = exercise.procedure in ("function", "class") and name not in READ_NUMBERS
    cases = cases_of(exercise) if plain else []
    return [
        case for case in cases if tensors_in(case) and not case.script and not case.new and not case.raises
    ]


def moved(value):
    return value.to("meta") if isinstance(value, (torch.Tensor, nn.Module)) else value


@pytest.mark.parametrize("name", [name for name in IDS if calls_of(name)])
def test_an_answer_computes_where_its_inputs_are(name):
    exercise = find(name)
    answer = answer_in(worked_file(exercise), exercise.name)
    for case in calls_of(name):
        call = moved(built(answer, case.init)) if exercise.procedure == "class" else answer
        args, kwargs = tree_map(moved, arguments(case))
        made = [leaf for leaf in tree_leaves(call(*args, **kwargs)) if isinstance(leaf, torch.Tensor)]
        assert made and all(tensor.device.type == "meta" for tensor in made), case.family
