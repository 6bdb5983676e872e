"""Graphs as plain data: what is sent comes back, and nothing else gets in. Depth, letters and marks of the pictures."""

import copy
import json
import random
import xml.dom.minidom

import pytest
import torch
from test_graph import Heads, Layer, attention, labels, reference_layer, tensors, unscaled
from torch import nn

from autograder import compare, draw
from autograder.errors import UserError
from autograder.graph import BadGraph, as_data, compared, from_data
from autograder.graph.model import MAX_WHOLE


def fails(x):
    return (x @ x).softmax(-1)


DRAWN = [
    (attention, ((4, 6), (5, 6), (5, 3))), (Heads(), ((2, 5, 8),)), (Layer(), ((2, 5, 8),)), (fails, ((3, 4),))
]  # fmt: skip


@pytest.mark.parametrize("target, shapes", DRAWN)
def test_a_drawing_comes_back_as_it_was_sent(target, shapes):
    drawing = draw(target, *tensors(*shapes))
    back = from_data(json.loads(json.dumps(as_data(drawing), allow_nan=False)))
    assert back.whole == drawing.whole
    assert (back.svg(), str(back), back.stopped) == (drawing.svg(), str(drawing), drawing.stopped)


def test_two_sent_drawings_can_be_compared():
    sent = [as_data(draw(function, *tensors((4, 6), (5, 6), (5, 3)))) for function in (unscaled, attention)]
    found = compared(*map(from_data, sent))
    assert found.differences == compare(unscaled, attention, *tensors((4, 6), (5, 6), (5, 3))).differences != []


HOSTILE = [
    None, True, -1, 10**30, 1.5, float("nan"), "", "<b>", '"];x[URL="http://a.b", image="/etc/passwd"]', "a\nb", "\x00",
    "\u202e", "x" * 5000, [], [[]], {}, {"a": 1}, [0] * 5000, "1x1:2", "9999x9999:1", "all", "inf", "nan", b"x",
]  # fmt: skip


def leaves(data, path=()):
    """The path of every list, dict and value in the data."""
    yield path
    if isinstance(data, (list, dict)):
        for key in range(len(data)) if isinstance(data, list) else data:
            yield from leaves(data[key], (*path, key))


def changed(data, path, value):
    if not path:
        return value
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


def test_hostile_data_is_refused_in_one_sentence_or_harmless():
    good = as_data(draw(Heads(), *tensors((2, 5, 8))))
    paths, chance = list(leaves(good)), random.Random(5)
    refused = drawn = 0
    for path in chance.sample(paths, 120):
        for value in chance.sample(HOSTILE, 6):
            try:
                drawing = from_data(changed(good, path, value))
            except BadGraph as error:
                assert isinstance(error, UserError)
                assert "\n" not in str(error)
                refused += 1
                continue
            assert all(ord(c) >= 32 for node in drawing.nodes for c in node.label + node.detail + node.box)
            drawn += 1
            if drawn % 20 == 0:
                tags = {n.tagName for n in xml.dom.minidom.parseString(drawing.svg()).getElementsByTagName("*")}
                assert tags <= {"svg", "title", "desc", "g", "rect", "path", "text"}
                assert not set("<>") & set(drawing.dot.replace("->", ""))
    assert refused > 450


@pytest.mark.parametrize("spoil", [
    lambda data: data["nodes"].extend([data["nodes"][0]] * MAX_WHOLE),
    lambda data: data["edges"].append(data["edges"][0]),
    lambda data: data["edges"].append([3, 2, None, False, ["0"], []]),
    lambda data: data["edges"].append([0, 9999, None, False, ["0"], []]),
    lambda data: data["nodes"].reverse(),
    lambda data: data.update(more=1),
    lambda data: data.update(version=99),
])
def test_graphs_that_are_too_large_or_run_in_rings_are_refused(spoil):
    data = as_data(draw(attention, *tensors((4, 6), (5, 6), (5, 3))))
    spoil(data)
    with pytest.raises(BadGraph, match="a computation graph could not be read"):
        from_data(data)


# Letters


def test_letters_stand_for_one_size_each_and_coincidences_stay_numbers():
    drawing = draw(Heads(), *tensors((2, 5, 8)))
    assert "B = 2, H = 2, N = 5, D = 4, d_model = 8" in str(drawing)
    scores = next(node for node in drawing.nodes if node.label == "matmul")
    assert scores.axes == ("B", "H", "N", "N")
    alike = draw(attention, *tensors((4, 4), (4, 4), (4, 4)))
    assert next(node for node in alike.nodes if node.label == "softmax").axes == ("N", "M")
    unknown = draw(lambda table: (table @ table).reshape(2, 8), *tensors((4, 4)))
    assert {axis for node in unknown.nodes for axis in node.axes} <= {""}


def test_a_reshape_that_may_mix_axes_has_no_letters():
    def mixed(x):
        return x.reshape(2, 10, 4)

    drawing = draw(mixed, *tensors((2, 5, 8)))
    assert next(node for node in drawing.nodes if node.kind == "output").axes[1:] == ("", "")


# Depth


class Stack(nn.Module):
    def __init__(self, count=6, alike=True):
        super().__init__()
        self.layers = nn.ModuleList(Layer("" if alike or i else "relu") for i in range(count))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def test_parts_open_and_close():
    x = tensors((2, 5, 8))[0]
    closed, opened = draw(Layer(), x, depth=0), draw(Layer(), x, depth=1)
    assert "self_attn" in labels(closed) and "softmax" not in labels(closed)
    assert "softmax" in labels(opened) and len(opened.nodes) > len(closed.nodes)
    assert len(draw(Layer(), x).nodes) == len(closed.nodes) <= 12
    assert closed.whole == opened.whole
    with pytest.raises(UserError, match="depth counts how many levels"):
        draw(Layer(), x, depth="deep")


def test_layers_that_repeat_are_drawn_once():
    x = tensors((2, 5, 8))[0]
    drawing = draw(Stack(), x)
    assert {"layers \u00d7 6"} <= {node.box for node in drawing.nodes}
    assert len(drawing.nodes) <= 12
    assert "in layers \u00d7 6:" in str(drawing) and "layers \u00d7 6" in drawing.svg()
    assert len([node for node in drawing.whole[0] if node.label == "softmax"]) == 6
    assert not any("\u00d7" in node.box for node in draw(Stack(2, alike=False), x).nodes)


class Broken(nn.Module):
    """Fails deep inside, in the second turn of a loop."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Heads(), Heads(12)])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def test_a_failing_step_is_shown_wherever_it_is():
    drawing = draw(Broken(), *tensors((2, 5, 8)), depth=0)
    failed = [node for node in drawing.nodes if node.state == "failed"]
    assert [node.op for node in failed] == ["linear"]
    assert "in parts.1.q_proj, where (2, 5, 8) and (12, 12) and (12,) met" in drawing.stopped


# Marks


def test_matching_steps_share_a_number_and_what_differs_is_marked():
    found = compare(Layer("no residual"), reference_layer(), *tensors((2, 5, 8)), depth=1)
    marked = [node.label for node in found.theirs.nodes if node.state == "differs"]
    assert marked == ["add"] and not [node for node in found.mine.nodes if node.state == "differs"]
    numbers = [{node.badge: node.label for node in side.nodes if node.badge} for side in (found.mine, found.theirs)]
    assert numbers[0] == numbers[1] and len(numbers[0]) >= 10
    same = compare(Heads(), Heads(), *tensors((2, 5, 8)))
    assert not any(node.state for side in (same.mine, same.theirs) for node in side.nodes)


def test_the_picture_in_a_notebook_keeps_its_name():
    data, _ = draw(attention, *tensors((4, 6), (5, 6), (5, 3)))._repr_mimebundle_()
    assert data["text/html"].startswith('<img alt="Computation graph of attention: from q, k, v by')
    assert 'src="data:image/svg+xml;base64,' in data["text/html"]
    from autograder.grading.safe_html import clean

    assert "alt=" in clean(data["text/html"]) and "data:image/svg+xml" in clean(data["text/html"])


def test_a_decoder_layer_is_little_work():
    """Its graph is bounded work: few steps noted, each layer laid out once."""
    from autograder.graph.run import trace

    done = trace(Layer(), tensors((2, 5, 8)), {})
    assert len(done.steps) < 120
    assert len(draw(Layer(), torch.ones(2, 5, 8)).whole[0]) < 60


def test_the_first_drawing_loads_no_compiler():
    """torch.fx's symbolic shapes and their algebra package take a second to import: longer than a picture may take."""
    import subprocess
    import sys

    code = (
        "import sys, torch; from torch import nn; from autograder import draw\n"
        "draw(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.zeros(2, 5, 8)).svg()\n"
        "assert not {'sympy', 'torch._dynamo', 'torch.fx.experimental.symbolic_shapes'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
