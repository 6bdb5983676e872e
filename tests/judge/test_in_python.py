"""Tests that an answer breaks a rule of form if it calls PyTorch functions that are themselves written in
Python: the steps inside them do not count as the answer's own.
"""

import pytest
import torch
import torch._decomp.decompositions as decompositions
import torch._refs as refs
from judged import verdict

from autograder.judge import RULE


def softmax(scores):
    return decompositions._softmax(scores, -1, False)


def softmax_by_references(scores):
    return refs.softmax(scores, -1)


def next_token_loss(logits, targets, ignore=-100):
    log = decompositions._log_softmax(logits.flatten(0, 1), -1, False)
    return decompositions.nll_loss_forward(log, targets.flatten(), None, 1, ignore)[0]


def patchify(images, patch):
    if images.shape[2] % patch or images.shape[3] % patch:
        raise ValueError("patches do not fill the image")
    return refs.nn.functional.pixel_unshuffle(images, patch).flatten(2).mT


@pytest.mark.parametrize(
    "exercise_id, answer",
    [
        ("loops.softmax", softmax),
        ("loops.softmax", softmax_by_references),
        ("lm.next_token_loss", next_token_loss),
        ("images.patchify", patchify),
    ],
)
def test_they_are_known_by_where_they_are_written(exercise_id, answer):
    told = verdict(exercise_id, answer)
    assert (told.mistake, told.points) == (RULE, 0), told.message


def test_what_pytorch_itself_takes_from_there_is_no_step_of_the_answer():
    def softmax(scores):
        grown = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        zero = torch.zeros(1, 1)
        rows = torch.vmap(lambda row: torch.addr(zero, row, 1 / row.sum()[None])[..., 0])
        return rows(grown.flatten(0, -2) if grown.dim() > 1 else grown[None]).reshape(scores.shape)

    assert verdict("loops.softmax", softmax).passed


def test_functions_on_shapes_are_no_step_either():
    def masked_attention(q, k, v, mask=None):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is None:
            return scores.softmax(-1) @ v
        torch._check(mask.dtype == torch.bool)
        hidden = ~mask.expand(torch.broadcast_shapes(mask.shape, scores.shape))
        return scores.masked_fill(hidden, -1e30).softmax(-1).masked_fill(hidden, 0.0) @ v

    judged = verdict("masking.masked_attention", masked_attention)
    assert judged.passed, judged.message


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_function_is_judged_as_it_is_written():
    @torch.compile
    def softmax(scores):
        grown = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return grown / grown.sum(dim=-1, keepdim=True)

    assert verdict("loops.softmax", softmax).passed
    assert verdict("loops.softmax", torch.compile(softmax_by_references)).mistake == RULE
