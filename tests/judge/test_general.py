"""Tests sentences that would fit many exercises, with answers of which such a sentence was once untrue."""

from dataclasses import replace

import pytest
import torch
from answers import IMPORTS
from judged import verdict
from worked import answer_in, worked_file

from autograder.exercises import find
from autograder.judge.formatting import format_named_shape
from autograder.schema.case import Case

KEPT_CONTEXT = """
class MultiheadCrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, context, mask=None):
        if getattr(self, "kept", None) is None or self.kept[0] != context.shape:
            self.kept = (context.shape, self.split(self.k_proj(context)), self.split(self.v_proj(context)))
        out = F.scaled_dot_product_attention(self.split(self.q_proj(x)), *self.kept[1:], attn_mask=mask)
        return self.out_proj(out.transpose(1, 2).flatten(2))
"""
AS_STRIDED = """
def split_into_windows(ids, length):
    count = (len(ids) - 1) // length
    if length < 1 or count < 1:
        raise ValueError("too short")
    return tuple(torch.as_strided(ids, (count, length), (length, 1), start).clone() for start in (0, 1))
"""
ONE_ANSWER = """
def group_advantages(rewards, eps=1e-6):
    if rewards.shape[-1] == 1:
        return rewards
    apart = rewards - rewards.mean(-1, keepdim=True)
    return apart / (rewards.std(-1, correction=0, keepdim=True) + eps)
"""
NO_DECAY_OF_VECTORS = """
def adamw_step(parameter, gradient, mean, square, step, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    first, second = betas
    mean = first * mean + (1 - first) * gradient
    square = second * square + (1 - second) * gradient**2
    decay = weight_decay if parameter.dim() > 1 else 0.0
    step_size = lr / (1 - first**step)
    root = (square / (1 - second**step)).sqrt() + eps
    return parameter * (1 - lr * decay) - step_size * mean / root, mean, square
"""
AS_PLAIN_NUMBERS = """
def logit_difference(logits, lengths, right, wrong):
    rows = [row[length - 1] for row, length in zip(logits, lengths.tolist())]
    return torch.tensor([row[a].item() - row[b].item() for row, a, b in zip(rows, right, wrong)])
"""
DETACHED_AND_NOT_RESCALED = """
def tiled_attention(q, k, v, block, causal=False):
    top = q.new_full((*q.shape[:-1], 1), -torch.inf)
    total, output, query = torch.zeros_like(top), 0.0, torch.arange(q.shape[-2])[:, None]
    for start in range(0, k.shape[-2], block):
        keys, values = k[..., start : start + block, :], v[..., start : start + block, :]
        scores = q @ keys.mT / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(start + torch.arange(keys.shape[-2]) > query, -torch.inf)
        top = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
        weights = (scores - top).exp()
        total, output = total + weights.sum(-1, keepdim=True), output + weights @ values
    return output / total
"""
ENDS_OF_PATHS = """
def replace_linears(model, names, make):
    ends = tuple(names)
    linears = [(path, part) for path, part in model.named_modules() if isinstance(part, nn.Linear)]
    found = [(path, part) for path, part in linears if path.endswith(ends)]
    if not found:
        raise ValueError("no such layer")
    before = list(model.parameters())
    for path, part in found:
        above, _, name = path.rpartition(".")
        setattr(model.get_submodule(above), name, make(part))
    for parameter in before:
        parameter.requires_grad_(False)
    return len(found)
"""
FEW_STEPS = """
def returns_to_go(rewards, discount=1.0):
    n = rewards.shape[-1]
    out = torch.zeros_like(rewards)
    for t in range(n):
        ahead = rewards[..., t : t + 100]
        out[..., t] = (ahead * discount ** torch.arange(ahead.shape[-1], dtype=rewards.dtype)).sum(-1)
    return out
"""
BY_SIZE = """
def top_k_gate(logits, k):
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError("there are not so many experts")
    experts = logits.abs().topk(k, dim=-1).indices
    return logits.gather(-1, experts).softmax(-1), experts
"""


@pytest.mark.parametrize(
    ("exercise_id", "code", "told", "untrue"),
    [
        (
            "heads.MultiheadCrossAttention",
            KEPT_CONTEXT,
            "modules that had been called before",
            "does not change your result",
        ),
        ("lm.split_into_windows", AS_STRIDED, "only those that are not contiguous go wrong", "A second call"),
        ("inside.logit_difference", AS_PLAIN_NUMBERS, "only as exact as float32", "half precision"),
        ("fast.tiled_attention", DETACHED_AND_NOT_RESCALED, "your earlier sums are not rescaled", "by hand"),
        ("finetune.replace_linears", ENDS_OF_PATHS, "other parts than it should have", "in a different mode"),
        ("rl.group_advantages", ONE_ANSWER, "", "one of the inputs added"),
        ("lm.adamw_step", NO_DECAY_OF_VECTORS, "", "changes with the size"),
        ("rl.returns_to_go", FEW_STEPS, "", "very large or very negative"),
        ("moe.top_k_gate", BY_SIZE, "", "weights of such a row"),
    ],
)
def test_a_general_sentence_is_said_only_where_it_is_true(exercise_id, code, told, untrue):
    judged = verdict(exercise_id, answer_in(IMPORTS + code, find(exercise_id).name))
    assert not judged.passed and told in judged.message and untrue not in judged.message, judged.message


def test_a_weight_shared_with_the_new_layer_is_said_to_change_in_training():
    exercise = find("images.conv_to_linear")
    source = worked_file(exercise)
    shared = source.replace("layer.bias.copy_(conv.bias)", "layer.bias.data = conv.bias.data")
    assert shared != source
    judged = verdict(exercise.id, answer_in(shared, exercise.name))
    assert "after your new layer is trained, the caller's `conv.bias` has changed" in judged.message, (
        judged.message
    )


def test_a_result_of_a_case_with_several_calls_is_named_by_its_call():
    exercise = find("generation.CachedSelfAttention")
    source = worked_file(exercise)
    judged = verdict(exercise.id, answer_in(source.replace("return ", "return 2 * ", 1), exercise.name))
    assert not judged.passed and "`first" not in judged.message, judged.message


@pytest.mark.parametrize(
    ("exercise_id", "old", "new"),
    [("assistant.pass_at_k", "return ", "import numpy as np\n    return np.float64(1.0) * ")],
)
def test_a_number_of_numpys_that_is_a_float_is_right(exercise_id, old, new):
    exercise = find(exercise_id)
    source = worked_file(exercise)
    last = source.rindex(old)
    judged = verdict(exercise_id, answer_in(source[:last] + new + source[last + len(old) :], exercise.name))
    assert judged.passed, judged.message


def test_a_size_that_is_also_an_argument_gets_no_letter():
    exercise, src = find("encoder.greedy_decode"), torch.zeros(2, 4, dtype=torch.int64)
    case = Case("a limit of its own", (None, src, 1, 0, 9), gradients=False)
    assert format_named_shape(exercise, case, (2, 4)) == "(B, M) = (2, 4)"
    assert format_named_shape(exercise, replace(case, args=(None, src, 1, 0, 4)), (2, 4)) == "(2, 4)"
