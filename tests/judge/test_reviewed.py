"""Tests answers that reviewers found: right ones that were rejected, nearly right ones that lost too many
points, and wrong ones whose messages were untrue.
"""

import pytest
from answers import IMPORTS
from judged import verdict
from worked import answer_in, worked_file

from autograder.exercises import find
from autograder.schema.mistake import edited_source

ONE_PRODUCT = """
import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha=16.0):
        super().__init__()
        if rank < 1:
            raise ValueError("a rank is at least 1")
        like = {"dtype": linear.weight.dtype, "device": linear.weight.device}
        self.linear, self.scale, self.rank = linear, alpha / rank, rank
        self.down = nn.Linear(linear.in_features, rank, bias=False, **like)
        self.up = nn.Linear(rank, linear.out_features, bias=False, **like)
        nn.init.zeros_(self.up.weight)
        for parameter in linear.parameters():
            parameter.requires_grad_(False)

    def forward(self, x):
        both = F.linear(x, torch.cat([self.linear.weight, self.down.weight]))
        out, low = both.split([self.linear.out_features, self.rank], dim=-1)
        bias = 0 if self.linear.bias is None else self.linear.bias
        return out + bias + self.scale * self.up(low)
"""
DIVERGENCE = """
import torch
import torch.nn.functional as F


def next_token_loss(logits, targets, ignore=-100):
    counts = targets != ignore
    sure = F.one_hot(targets[counts], logits.shape[-1]).to(logits)
    return F.kl_div(torch.log_softmax(logits[counts], -1), sure, reduction="batchmean")
"""


@pytest.mark.parametrize(
    ("exercise_id", "text"),
    [
        ("finetune.LoRALinear", ONE_PRODUCT),
        ("lm.next_token_loss", DIVERGENCE),
    ],
)
def test_a_right_answer_that_was_rejected_passes(exercise_id, text):
    judged = verdict(exercise_id, answer_in(text, find(exercise_id).name))
    assert judged.passed, judged.message


NO_BLOCKS = """
import torch


def dequantise_q4(blocks):
    if blocks.shape[0] == 0:
        raise ValueError("no blocks")
    blocks = blocks.contiguous()
    d, m = (blocks[:, i : i + 2].contiguous().view(torch.float16).float() for i in (0, 2))
    return d * torch.cat([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1) + m
"""
MEAN_OF_ROWS = """
import torch


def next_token_loss(logits, targets, ignore=-100):
    counts = targets != ignore
    picked = torch.log_softmax(logits, -1).gather(-1, targets.masked_fill(~counts, 0)[..., None])[..., 0]
    rows = -(picked * counts).sum(1) / counts.sum(1).clamp(min=1)
    return rows[counts.any(1)].mean()
"""


@pytest.mark.parametrize(
    ("exercise_id", "text", "lost"),
    [("llama.dequantise_q4", NO_BLOCKS, 1), ("lm.next_token_loss", MEAN_OF_ROWS, 3)],
)
def test_what_is_right_but_for_one_thing_loses_that_things_points(exercise_id, text, lost):
    judged = verdict(exercise_id, answer_in(text, find(exercise_id).name))
    assert judged.points == judged.max_points - lost, judged.message


ADAMW = """
import math


def adamw_step(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    first, second = betas
    mean = first * mean + (1 - first) * gradient
    square = second * square + (1 - second) * gradient**2
    rate = lr * math.sqrt(1 - second**step) / (1 - first**step)
    parameter = parameter - rate * mean / (square.sqrt() + eps)
    return parameter - lr * weight_decay * parameter, mean, square
"""
DOWN_CONSTANT = "\n        nn.init.constant_(self.down.weight, 0.01)"
START = "nn.init.zeros_(self.up.weight)"


def test_the_commonest_public_adamw_is_named():
    judged = verdict("lm.adamw_step", answer_in(ADAMW, "adamw_step"))
    assert "after its update, and you add eps before the square is corrected" in judged.message


def test_a_small_layer_that_starts_with_one_number_is_not_told_that_it_starts_as_zeros():
    text = ONE_PRODUCT.replace(START, START + DOWN_CONSTANT)
    message = verdict("finetune.LoRALinear", answer_in(text, "LoRALinear")).message
    assert message.startswith("`down` starts with the same number everywhere.")


@pytest.mark.parametrize("name", ["train", "children", "buffers"])
@pytest.mark.parametrize("exercise_id", ["llama.LlamaLayer", "matmul.SelfAttention"])
def test_a_name_that_nn_module_needs_is_told(exercise_id, name):
    right = answer_in(worked_file(find(exercise_id)), find(exercise_id).name)

    class Answer(right):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            setattr(self, name, True)

    message = verdict(exercise_id, Answer).message
    assert message.startswith(f"`self.{name}` replaces nn.Module's own `{name}`."), message


def test_wider_heads_are_not_called_wrong_where_most_of_them_are_right():
    def ablate_heads(mixed, heads, n_heads, mean=None):
        if any(not 0 <= head < n_heads for head in heads):
            raise ValueError("there is no such head")
        width = mixed.shape[-1] // n_heads
        gone = mixed.new_zeros(n_heads)
        for head in heads:
            gone[head] = gone[head] + 1
        gone = gone.repeat_interleave(width)
        return mixed * (gone == 0) + (0 if mean is None else gone * mean)

    judged = verdict("inside.ablate_heads", ablate_heads)
    assert not judged.passed and "wider ones are not" not in judged.message


def test_of_two_known_mistakes_at_once_one_is_named():
    exercise = find("generation.sample")
    two = ("SAM-03", "SAM-99")
    edits = {one.id: one.edits for one in reversed(exercise.mistakes)}  # of several forms, the first
    source = edited_source(exercise.worked, {**edits[two[0]], **edits[two[1]]})
    assert verdict(exercise.id, answer_in(IMPORTS + source, exercise.name)).mistake in two
