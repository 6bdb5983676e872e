"""Tests draw(..., engine="torchview"): what it shows of PyTorch's own modules, and its limits, which the
lessons state.
"""

import sys

import pytest
import torch
from forms import Layer, tensors
from torch import nn

from autograder import draw
from autograder.errors import UserError

X = tensors((2, 5, 12))[0]


def labels(drawing):
    return [node.label for node in drawing.nodes]


def seen(target, *inputs, **how):
    return draw(target, *inputs, engine="torchview", **how)


def test_multi_head_attention_is_one_operation():
    drawing = seen(nn.MultiheadAttention(12, 3, batch_first=True), X, X, X)
    assert labels(drawing)[:3] == ["query", "key", "value"]
    assert labels(drawing).count("multi_head_attention_forward") == 1 and "softmax" not in labels(drawing)
    assert {node.shape for node in drawing.nodes if node.kind == "output"} == {(2, 5, 12), (2, 5, 5)}


def test_a_layer_shows_its_parts_and_its_residuals():
    layer = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True, norm_first=True)
    closed, opened = seen(layer, X, depth=0), seen(layer, X, depth=1)
    assert {"self_attn: MultiheadAttention", "norm1: LayerNorm", "linear1: Linear", "relu"} <= set(
        labels(closed)
    )
    assert labels(closed).count("add") == 2 and closed.dot.count("penwidth=2.6") == 2
    assert "multi_head_attention_forward" in labels(opened)
    assert layer.training


class DoubledRows(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            out[i] = x[i] * 2
        return out


def test_rows_written_into_a_buffer_are_lost_and_loops_are_not_folded():
    """Prove what lesson 04 says about torchview: unlike the course's own tracer, it neither shows the writes
    into a buffer nor folds a loop.
    """
    (x,) = tensors((3, 4))
    drawing = seen(DoubledRows(), x)
    assert "torchview found no path to the output" in labels(drawing) and "output" not in labels(drawing)
    assert labels(drawing).count("mul") == 3
    assert labels(draw(DoubledRows(), x)) == ["x", "pick", "mul", "write", "output"]


def test_the_inside_of_attention_and_parameters_are_not_shown():
    """Prove what lesson 06 says about torchview: it shows neither the number of heads nor the scale of the
    scores.
    """
    pictures = [str(seen(Layer(12, heads), X, depth=1)) for heads in (2, 3)]
    assert pictures[0] == pictures[1] and "weight" not in pictures[0]
    assert "weight (12, 12)" in str(draw(Layer(12, 3), X, depth=1))


def test_without_the_package_one_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchview", None)
    with pytest.raises(UserError, match="pip install torchview graphviz"):
        seen(nn.Linear(12, 3), X)


@pytest.mark.parametrize(
    "target, words",
    [
        (nn.Linear(7, 3), "torchview cannot draw Linear. RuntimeError: mat1 and mat2"),
        (nn.MultiheadAttention(12, 3), "torchview cannot draw MultiheadAttention. TypeError"),
        (torch.relu, "torchview draws modules, and relu is a function"),
    ],
)
def test_what_it_cannot_draw_is_told_in_one_sentence(target, words):
    with pytest.raises(UserError, match=words) as caught:
        seen(target, X)
    assert "\n" not in str(caught.value)
