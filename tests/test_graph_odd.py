"""Odd things to draw: one clear sentence or a picture, never a traceback, and nothing changed."""

import functools

import pytest
import torch
from test_graph import attention, labels, tensors
from torch import nn
from torch.nn import functional as F

from autograder import compare, draw
from autograder.graph.model import MAX_NODES

X = tensors((2, 5, 8))[0]


class WithBuffers(nn.Module):
    """Counts its calls in a buffer, normalises over the batch, and drops at random."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.layer, self.norm, self.drop = nn.Linear(8, 8), nn.BatchNorm1d(5), nn.Dropout(0.5)

    def forward(self, x):
        self.calls += 1
        return self.drop(self.norm(self.layer(x)))


class SilentError(Exception):
    def __str__(self):
        raise ValueError


def fails_silently(x):
    raise SilentError


def goes_backward(x):
    (x * 2).sum().backward()


def quits(x):
    raise SystemExit


def in_a_thread(x):
    from threading import Thread

    found = []
    thread = Thread(target=lambda: found.append(x.relu()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("target, inputs, words", [
    (fails_silently, (X,), "Stopped by SilentError"),
    (goes_backward, (X,), "Stopped at backward: no gradients are computed while a graph is drawn."),
    (quits, (X,), "Stopped by SystemExit"),
    (lambda x: x.to("no_such_device"), (X,), "Stopped at to, given (2, 5, 8). RuntimeError"),
    (lambda x: x + torch.zeros(8, device="cuda:99"), (X,), "Stopped at zeros"),
    (in_a_thread, (X,), "The steps to its result cannot be seen"),
    (attention, (X,), "Stopped by TypeError: attention() missing 2 required"),
    (nn.Linear(7, 3), (X,), "Stopped at linear, where (2, 5, 8) and (3, 7) and (3,) met."),
])  # fmt: skip
def test_what_cannot_be_drawn_is_told_in_one_sentence(target, inputs, words):
    drawing = draw(target, *inputs)
    assert drawing.stopped.startswith(words)
    assert "\n" not in drawing.stopped
    assert words.split(":")[0] in drawing.svg()
    assert compare(target, target, *inputs).differences == [f"Yours could not be compared. {drawing.stopped}"]


@pytest.mark.parametrize("target, inputs, boxes", [
    (lambda x, n: x * n, (X, 3), ["x", "mul", "output"]),
    (lambda a, b: a + b, (2, 3), ["returns a value of type int"]),
    (lambda x, mask=None: x.relu(), (X, None), ["x", "relu", "output"]),
    (lambda parts: parts["a"] + parts["b"], ({"a": X, "b": X},), ["parts[0]", "parts[1]", "add", "output"]),
    (lambda x: {"out": x.relu(), "kept": [x, None]}, (X,), ["x", "relu", "output 1", "output 2"]),
    (functools.partial(attention, k=X, v=X), (X,), ["q", "v", "v", "matmul", "div", "softmax", "matmul", "output"]),
    (functools.partial(nn.Linear(8, 4)), (X,), ["input", "weight", "bias", "linear", "output"]),
    (torch.softmax, (X, -1), ["input", "softmax", "output"]),
    (F.relu, (X.clone().requires_grad_(),), ["input", "relu", "output"]),
    (lambda x: x.exp(), (torch.empty(0, 8),), ["x", "exp", "output"]),
    (lambda x: x.exp(), (torch.empty(2, 8, device="meta"),), ["x", "exp", "output"]),
    (lambda x: x.numpy(), (X,), ["x", "returns a value of type ndarray"]),
    (print, (X,), ["args[0]", "returns None"]),
])  # fmt: skip
def test_odd_inputs_and_results_are_drawn(target, inputs, boxes):
    drawing = draw(target, *inputs)
    assert (labels(drawing), drawing.stopped) == (boxes, "")
    assert len(drawing.nodes) <= MAX_NODES and drawing.svg()


def test_buffers_modes_and_chance_are_left_alone():
    model, before = WithBuffers(), torch.get_rng_state()
    kept = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert "dropout" in labels(draw(model, X))
    assert labels(draw(model.eval(), X))[-2:] == ["norm: batch_norm", "output"]
    assert all(torch.equal(kept[name], tensor) for name, tensor in model.state_dict().items())
    assert not model.training and torch.equal(before, torch.get_rng_state())


def test_a_compiled_model_is_drawn_as_it_was_written():
    class Compiled(nn.Module):  # what torch.compile returns, without its compiler
        def __init__(self, model):
            super().__init__()
            self._orig_mod = model

    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
    assert str(draw(Compiled(model), X)) == str(draw(model, X))


def test_inputs_have_my_names_on_both_sides():
    def mine(a, b, c):
        return attention(a, b, b)

    found = compare(mine, F.scaled_dot_product_attention, *tensors((4, 6), (5, 6), (5, 6)))
    assert found.differences == ["Theirs takes the values from c, yours from b."]
    assert [node.label for node in found.theirs.nodes if node.kind == "input"] == ["a", "b", "c"]


def test_nothing_is_cut_off_at_the_sides():
    """Each title stands inside the card, however narrow the graphs are."""
    import xml.dom.minidom

    def a_function_with_a_rather_long_name(x):
        return x

    picture = xml.dom.minidom.parseString(compare(F.relu, a_function_with_a_rather_long_name, X).svg())
    width = float(picture.documentElement.getAttribute("width"))
    for text in picture.getElementsByTagName("text"):
        words = text.firstChild.data
        if words.startswith("theirs:"):
            assert float(text.getAttribute("x")) + len(words) * 14 * 0.55 / 2 < width
