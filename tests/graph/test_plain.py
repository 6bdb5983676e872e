"""Tests graphs as plain data: a graph that is sent comes back the same, and nothing else is accepted."""

import copy
import json
import random

import pytest
import torch
from forms import Heads, Layer, attention, qkv, tensors
from test_draw import TAGS, tags_in

from autograder import draw
from autograder.errors import UserError
from autograder.graph import as_data, compared, from_data
from autograder.graph.model import MAX_WHOLE

X = tensors((2, 5, 12))


def fails(x):
    return (x @ x).softmax(-1)


def by_numbers(x):
    """Compute with operations called by their ATen names, with a term that is zero, and with NaN as a factor."""
    return torch.ops.aten.mm.default(x[0], x[1].T) * (1 + (x[0, 0, 0] - torch.inf).exp()) * torch.nan


@pytest.mark.parametrize(
    "target, inputs", [(attention, qkv()), (Heads(), X), (Layer(), X), (fails, X), (by_numbers, X)]
)
def test_a_drawing_comes_back_as_it_was_sent(target, inputs):
    drawing = draw(target, *inputs)
    back = from_data(json.loads(json.dumps(as_data(drawing), allow_nan=False)))
    assert back.whole == drawing.whole
    assert (back.svg(), str(back), back.stopped) == (drawing.svg(), str(drawing), drawing.stopped)


HOSTILE = [
    None,
    True,
    -1,
    10**30,
    1.5,
    float("nan"),
    "",
    "<b>",
    '"];x[URL="http://a.b", image="/etc/passwd"]',
    "a\nb",
    "\x00",
    "\u202e",
    "x" * 5000,
    [],
    [[]],
    {},
    {"a": 1},
    [0] * 5000,
    "1x1:2",
    "9999x9999:1",
    "inf",
    "nan",
    b"x",
]


def leaves(data, path=()):
    """Yield the path of every list, dict and single value in the data."""
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
    reference = draw(Heads(), *X)
    good, chance = as_data(reference), random.Random(5)
    refused = drawn = 0
    for path in chance.sample(list(leaves(good)), 120):
        for value in chance.sample(HOSTILE, 6):
            try:
                drawing = from_data(changed(good, path, value))
            except UserError as error:
                assert isinstance(error, UserError)
                assert "\n" not in str(error)
                refused += 1
                continue
            assert all(ord(c) >= 32 for node in drawing.nodes for c in node.label + node.detail + node.box)
            assert compared(drawing, reference).differences is not None  # no rule fails
            drawn += 1
            if drawn % 20 == 0:
                assert tags_in(drawing.svg()) <= TAGS
    assert refused > 450 and drawn > 20


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data["nodes"].extend([data["nodes"][0]] * MAX_WHOLE),
        lambda data: data["edges"].append(data["edges"][0]),
        lambda data: data["edges"].append([3, 2, False, ["0"]]),
        lambda data: data["edges"].append([0, 9999, False, ["0"]]),
        lambda data: data["nodes"].reverse(),
        lambda data: data.update(more=1),
        lambda data: data.update(version=99),
    ],
)
def test_graphs_that_are_too_large_or_run_in_rings_are_refused(spoil):
    data = as_data(draw(attention, *qkv()))
    spoil(data)
    with pytest.raises(UserError, match="a computation graph could not be read"):
        from_data(data)
