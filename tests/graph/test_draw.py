"""Tests `draw`: what its graph shows, what its messages say, and that it leaves everything as it was."""

import functools
import random
import xml.dom.minidom

import numpy
import pytest
import torch
from forms import Heads, Layer, attention, loops, tensors
from torch import nn
from torch.nn import functional as F

from autograder import compare, draw
from autograder.errors import OUR_ERROR, UserError
from autograder.grading.safe.clean_html import clean
from autograder.graph.model import MAX_NODES

X = tensors((2, 5, 12))[0]
TAGS = {"svg", "title", "desc", "g", "path", "polygon", "polyline", "text"}


def qkv(n=5):
    return tensors((n, 4), (n, 4), (n, 4))


def labels(drawing):
    return [node.label for node in drawing.nodes]


def named(drawing, label):
    found = [node for node in drawing.nodes if node.label == label]
    assert found, f"no {label} in {labels(drawing)}"
    return found


def sources(drawing, node):
    by_id = {other.id: other for other in drawing.nodes}
    return {by_id[edge.source].label for edge in drawing.edges if edge.target == node.id}


def tags_in(svg):
    return {node.tagName for node in xml.dom.minidom.parseString(svg).getElementsByTagName("*")}


@pytest.mark.parametrize("n", [3, 6])
def test_loops_fold_to_the_same_few_boxes(n):
    drawing = draw(loops, *qkv(n))
    assert len(drawing.nodes) == 12
    scores, mixed = named(drawing, "matmul")
    assert (scores.times, mixed.times, named(drawing, "softmax")[0].times) == (n * n, n, n)
    assert sources(drawing, named(drawing, "output")[0]) == {"write"}
    assert f"softmax dim 0, {n} times" in str(drawing)


def test_shapes_stand_on_the_boxes():
    drawing = draw(attention, *tensors((3, 4), (5, 4), (5, 2)))
    assert {(3, 4), (4, 5), (3, 5), (5, 2), (3, 2)} <= {node.shape for node in drawing.nodes}
    assert "(3, 5)" in drawing.dot and "(3, 5)" in drawing.svg() and "(3, 5)" in str(drawing)


def masked(q, k, v, mask):
    return (q @ k.mT / 2).masked_fill(~mask, -torch.inf).softmax(-1) @ v


def masked_in_place(q, k, v, mask):
    scores = q @ k.mT / 2
    scores[:, ~mask[-1]] = -torch.inf
    scores.masked_fill_(~mask, -torch.inf)
    return scores.softmax(-1) @ v


def masked_by_a_table(q, k, v, mask):
    table = torch.zeros(mask.shape)
    table[~mask] = -torch.inf
    return (q @ k.mT / 2 + table).softmax(-1) @ v


@pytest.mark.parametrize("answer", [masked, masked_in_place, masked_by_a_table])
def test_a_mask_is_connected_and_quiet_however_it_is_written(answer):
    drawing = draw(answer, *qkv(), torch.ones(5, 5).tril().bool())
    mask = named(drawing, "mask")[0]
    assert mask.state == ""
    assert any(edge.source == mask.id and edge.is_auxiliary for edge in drawing.edges)
    assert [node for node in drawing.nodes if node.role == "mask"]


def test_parameters_are_shown_in_their_part_and_fused_attention_is_opened():
    projection = named(draw(Heads(), X), "q_proj: linear")[0]
    assert projection.detail == "weight (12, 12), bias (12,)"
    drawing = draw(Layer(), X, depth=1)
    assert [node.box for node in named(drawing, "softmax")] == ["self_attn"]
    assert {"q_proj: linear", "out_proj: linear", "norm1: layer_norm", "gelu"} <= set(labels(drawing))


def test_parts_open_and_close():
    closed, opened = draw(Layer(), X, depth=0), draw(Layer(), X, depth=1)
    assert "self_attn" in labels(closed) and "softmax" not in labels(closed)
    assert "softmax" in labels(opened) and len(opened.nodes) > len(closed.nodes)
    assert len(draw(Layer(), X).nodes) == len(closed.nodes) <= 12
    assert closed.whole == opened.whole
    with pytest.raises(UserError, match="depth counts how many levels"):
        draw(Layer(), X, depth="deep")


def written_rows(x):
    out = torch.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def written_through_a_view(x):
    out = torch.zeros_like(x)
    rows = out.T
    rows.copy_(x.T * 2)
    return out


def through_plain_numbers(x):
    return torch.tensor([[number.item() * 2 for number in row] for row in x])


@pytest.mark.parametrize("answer", [written_rows, written_through_a_view, through_plain_numbers])
def test_the_output_stays_connected_to_the_input(answer):
    drawing = draw(answer, *tensors((3, 4)))
    reached, grown = {named(drawing, "x")[0].id}, True
    while grown:
        grown = {edge.target for edge in drawing.edges if edge.source in reached} - reached
        reached |= grown
    assert named(drawing, "output")[0].id in reached


# --- what fails, and what is odd ----------------------------------------------------------------------------


class Broken(nn.Module):
    """A module that fails deep inside, in the second iteration of a loop."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Heads(), Heads(18)])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def test_a_failing_step_is_shown_with_the_shapes_that_met():
    drawing = draw(Broken(), X, depth=0)
    assert [node.op for node in drawing.nodes if node.state == "failed"] == ["linear"]
    assert "in parts.1.q_proj, where (2, 5, 12) and (18, 18) and (18,) met" in drawing.stopped
    assert "where (2, 5, 12) and (18, 18) and (18,) met" in " ".join(drawing.svg().split())


class SilentError(Exception):
    def __str__(self):
        raise ValueError


def fails_silently(x):
    raise SilentError


def goes_backward(x):
    (x * 2).sum().backward()


def unfinished(x):
    raise NotImplementedError


def forever(x):
    while True:
        x = x + 1


def in_a_thread(x):
    from threading import Thread

    found = []
    thread = Thread(target=lambda: found.append(x.relu()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize(
    "target, words",
    [
        (unfinished, "Stopped by NotImplementedError: not written yet."),
        (fails_silently, "Stopped by SilentError"),
        (goes_backward, "Stopped at backward: no gradients are computed while a graph is drawn."),
        (lambda x: exit(3), "Stopped by SystemExit"),
        (forever, "This takes more steps than can be drawn"),
        (lambda x: x.to("no_such_device"), "Stopped at to, given (2, 5, 12). RuntimeError"),
        (in_a_thread, "The steps to its result cannot be seen"),
        (attention, "Stopped by TypeError: attention() missing 2 required"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_sentence(target, words):
    drawing = draw(target, X)
    assert drawing.stopped.startswith(words) and "\n" not in drawing.stopped
    assert len(drawing.nodes) <= MAX_NODES and "image/svg+xml" in drawing._repr_mimebundle_()[0]
    assert compare(target, target, X).differences == [f"Yours could not be compared. {drawing.stopped}"]


def test_an_error_of_the_tracer_is_told(monkeypatch):
    def failing(*_):
        raise KeyError("ours")

    monkeypatch.setattr("autograder.graph.trace.describe", failing)
    assert draw(torch.relu, X).stopped.startswith(
        f"Not every step could be recorded: this is {OUR_ERROR} (KeyError in graph/trace.py, line "
    )


@pytest.mark.parametrize(
    "target, inputs, boxes",
    [
        (lambda x, n: x * n, (X, 3), ["x", "mul", "output"]),
        (lambda a, b: a + b, (2, 3), ["returns a value of type int"]),
        (
            lambda parts: parts["a"] + parts["b"],
            ({"a": X, "b": X},),
            ["parts['a']", "parts['b']", "add", "output"],
        ),
        (lambda x: {"out": x.relu(), "kept": [x, None]}, (X,), ["x", "relu", "output 1", "output 2"]),
        (functools.partial(lambda power, x: x**power, 2), (X,), ["x", "pow", "output"]),
        (torch.softmax, (X, -1), ["input", "softmax", "output"]),
        (lambda x: x.exp(), (torch.empty(0, 8),), ["x", "exp", "output"]),
        (lambda x: x.exp(), (torch.empty(2, 8, device="meta"),), ["x", "exp", "output"]),
        (lambda x: x.numpy(), (X,), ["x", "returns a value of type ndarray"]),
        (lambda x: x.to_sparse().to_dense(), (torch.eye(3),), ["x", "to_sparse", "to_dense", "output"]),
        (print, (X,), ["args[0]", "returns None"]),
    ],
)
def test_odd_inputs_and_results_are_drawn(target, inputs, boxes):
    drawing = draw(target, *inputs)
    assert (labels(drawing), drawing.stopped) == (boxes, "")
    assert drawing.svg()


def test_modules_may_be_inputs():
    def feed_forward(x, linear1, linear2):
        return linear2(F.gelu(linear1(x)))

    drawing = draw(feed_forward, *tensors((3, 4)), nn.Linear(4, 9), linear2=nn.Linear(9, 4))
    assert labels(drawing) == ["x", "linear1: linear", "gelu", "linear2: linear", "output"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((3, torch.ones(2)), "takes a function or a module"),
        ((Heads, torch.ones(2)), "Heads is a class"),
        ((Heads(),), "needs the inputs too"),
    ],
)
def test_bad_use_gives_one_sentence(arguments, words):
    with pytest.raises(UserError, match=words) as caught:
        draw(*arguments)
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match='engine must be "trace" or "torchview"'):
        draw(Heads(), X, engine="other")


class Restless(nn.Module):
    """A module whose forward changes everything that it can."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.calls = nn.Linear(4, 4), nn.BatchNorm1d(4), 0
        self.kept = None

    def forward(self, x):
        print("hello")
        self.calls += 1
        self.eval()
        x *= 2
        self.kept = self.norm(self.layer(x)) + torch.rand(1) + random.random() + numpy.random.rand()
        return F.dropout(self.kept, 0.5, True)


def state_of(model):
    tensors = [tensor.clone() for tensor in model.state_dict().values()]
    return tensors, [p.grad.clone() for p in model.parameters()], [m.training for m in model.modules()]


@pytest.mark.parametrize("engine", ["trace", "torchview", "wrapped"])
def test_draw_changes_nothing(engine, capfd, recwarn):
    model, (x,) = Restless(), tensors((3, 4))
    model(x.clone()).sum().backward()
    model.train()
    before, given = state_of(model), x.clone()
    states = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].copy()
    calls = nn.Module.__call__, torch.zeros, torch.is_grad_enabled()
    capfd.readouterr()

    if engine == "wrapped":
        draw(lambda x: model(x), x).svg()
    else:
        draw(model, x, engine=engine).svg()
        assert model.calls == 1

    after = state_of(model)
    assert all(torch.equal(a, b) for a, b in zip([*before[0], *before[1], given], [*after[0], *after[1], x]))
    assert before[2] == after[2]
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1] == random.getstate()
    assert (states[2] == numpy.random.get_state()[1]).all()
    assert calls == (nn.Module.__call__, torch.zeros, torch.is_grad_enabled())
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


# --- the picture --------------------------------------------------------------------------------------------

HOSTILE = '</svg><script>alert(1)</script>"];x[image="/etc/passwd", URL="http://a.b"]\n\\N&lt;</B>>'


class Hostile(nn.Module):
    def __init__(self):
        super().__init__()
        name = HOSTILE.replace(".", "_")
        self.layers = nn.ModuleDict(
            {name: nn.Sequential(nn.Linear(4, 4), nn.ReLU()), name + "2": nn.Linear(4, 4)}
        )

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


def test_names_from_outside_stay_text():
    import pygraphviz

    drawing = draw(Hostile(), *tensors((3, 4)))
    assert "alert(1)" in str(drawing) and "alert(1)" in drawing.nodes[1].box
    drawings = (
        drawing,
        draw(lambda x: int(HOSTILE), torch.ones(1)),
        compare(Hostile(), Hostile(), *tensors((3, 4))),
    )
    for shown in (*drawings, draw(Hostile(), *tensors((3, 4)), engine="torchview")):
        assert tags_in(shown.svg()) <= TAGS
        assert "alert(1)" in shown.svg() and "href" not in shown.svg()
    assert all(len(node.label) <= 60 and node.label.isprintable() for node in drawing.nodes)
    graph = pygraphviz.AGraph(string=drawing.dot)
    keys = {key for item in [*graph.nodes(), *graph.edges()] for key in item.attr.to_dict()}
    assert not keys & {"image", "URL", "href", "shapefile", "fontpath", "imagepath"}
    assert len(graph.nodes()) == len(drawing.nodes)


def test_the_number_of_boxes_is_bounded():
    def long(x):
        for i in range(400):
            x = torch.sin(x) * (i + 2)
        return x

    drawing = draw(long, *tensors((2, 2)))
    assert len(drawing.nodes) <= MAX_NODES
    assert any("more steps" in label for label in labels(drawing))


def test_the_picture_is_a_named_image_on_white_and_fetches_nothing():
    data, metadata = draw(attention, *qkv())._repr_mimebundle_()
    root = xml.dom.minidom.parseString(data["image/svg+xml"]).documentElement
    name = "Computation graph of attention: from q, k, v by"
    assert root.getAttribute("role") == "img" and root.getAttribute("aria-label").startswith(name)
    assert root.getElementsByTagName("title")[0].firstChild.data.startswith(name)
    assert "softmax dim -1" in root.getElementsByTagName("desc")[0].firstChild.data
    assert root.getElementsByTagName("polygon")[0].getAttribute("fill") == "white"
    assert data["image/svg+xml"].count("http") == data["image/svg+xml"].count("http://www.w3.org/")
    assert metadata["image/svg+xml"]["alt"].startswith(name)
    for html in (data["text/html"], clean(data["text/html"])):
        assert html.startswith(f'<img alt="{name}')
    assert "softmax dim -1" in data["text/plain"]
