"""Tests what a check says about an answer that does not compute on its inputs' device: the check names the
line that makes a tensor on the CPU, but deducts no points.
"""

import pytest
import torch
from judged import IDS, PUBLIC, expected_of, verdict, worked_answer
from worked import answer_in

from autograder.exercises import find
from autograder.judge import cases_of
from autograder.probe.build import arguments, built, load_weights
from autograder.probe.elsewhere import called_there, moved
from autograder.probe.run_case import run_case
from autograder.schema.case import tensors_in

# In these a plain buffer, which stays on the CPU, is right: they are judged in float32 only.
IN_FLOAT32 = {one for one in IDS if one.startswith("loops.")} | {
    "finetune.replace_linears",
    "inside.outputs_of",
}
# Its worked answer sets `.data`, which the stand-in for a GPU does not support.
CANNOT_BE_MADE = {"norms.fold_norm"}


def taking_tensors() -> list[str]:
    with_tensors = (
        one
        for one in IDS
        if any(True for case in cases_of(find(one)) for _ in tensors_in((case.args, case.kwargs)))
    )
    return [one for one in with_tensors if one not in IN_FLOAT32]


@pytest.mark.parametrize("name", taking_tensors())
def test_every_exercise_that_takes_tensors_is_asked_on_another_device_and_its_worked_answer_stays_there(name):
    exercise, answer = find(name), worked_answer(name)
    asked = [case for case in expected_of(name, *PUBLIC).cases if case.elsewhere]
    assert asked
    for case in asked if name not in CANNOT_BE_MADE else ():
        call_there(exercise, answer, case)


def call_there(exercise, answer, case):
    call = answer
    if exercise.procedure == "class":
        call = built(answer, case.init)
        load_weights(call, case.weights)
    args, kwargs = arguments(case, moved=moved)
    called_there(lambda: run_case(case, moved(call), args, kwargs))


GPT = """
import torch
from torch import nn


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, dropout=0.0, activation="gelu",
                                       batch_first=True, norm_first=True) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.token_embedding.weight

    def forward(self, ids):
        n = ids.shape[1]
        if n > self.position_embedding.num_embeddings:
            raise ValueError("too long")
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(n{}))
        mask = torch.ones(n, n{}).triu(1).bool()
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.head(self.norm(x))
"""
TILES = """
import torch


def tiled_attention(q, k, v, block, causal=False):
    m = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=q.dtype)
    z = torch.zeros(*q.shape[:-1], 1, dtype=q.dtype)
    o = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    rows = torch.arange(q.shape[-2])[:, None]
    for s in range(0, k.shape[-2], block):
        K, V = k[..., s:s + block, :], v[..., s:s + block, :]
        S = q @ K.mT / q.shape[-1] ** 0.5
        if causal:
            S = S.masked_fill(s + torch.arange(K.shape[-2]) > rows, -torch.inf)
        n = torch.maximum(m, S.amax(-1, keepdim=True))
        f, p = (m - n).exp(), (S - n).exp()
        z, o, m = z * f + p.sum(-1, keepdim=True), o * f + p @ V, n
    return o / z
"""
MASK = """
import torch


def padding_mask(lengths, max_len):
    longest = [[j < n for j in range(max_len)] for n in lengths.tolist()]
    return torch.tensor(longest)
"""
THERE = ", device=ids.device"
AT_LINE = [
    ("lm.GPT", GPT.format("", ""), 22),
    ("lm.GPT", GPT.format(THERE, ""), 23),
    ("fast.tiled_attention", TILES, 6),
    ("masking.padding_mask", MASK, 7),
]


@pytest.mark.parametrize(("name", "text", "line"), AT_LINE)
def test_an_answer_that_stays_on_the_cpu_is_right_and_told_by_its_line(name, text, line):
    judged = verdict(name, answer_in(text, find(name).name))
    assert judged.passed and judged.message.startswith(f"Line {line} makes a tensor on the CPU")


def test_an_answer_that_makes_its_tensors_where_its_inputs_are_is_told_nothing():
    assert verdict("lm.GPT", answer_in(GPT.format(THERE, THERE), "GPT")).message == ""


def test_reading_numbers_is_no_matter_of_devices():
    """Test that an answer may do what a GPU allows: read numbers one by one, choose rows by a mask, take
    indices from a list.
    """

    def padding_mask(lengths, max_len):
        mask = torch.zeros(len(lengths), max_len, dtype=torch.bool, device=lengths.device)
        for row, length in zip(mask, lengths.tolist(), strict=True):
            row[list(range(length))] = True
        return mask[lengths >= 0]

    assert verdict("masking.padding_mask", padding_mask).message == ""
