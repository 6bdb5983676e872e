"""Tests that records keep their types when they are written to a file and read, and that other data are
refused.
"""

import json
from dataclasses import asdict
from math import inf, isnan, nan

import pytest

from autograder.grading.judging.results import Result
from autograder.untrusted import Unreadable, as_text, checked
from autograder.verdict import WRONG, Aspect, Picture, Verdict

PICTURE = Picture([[0.5, inf]], [[1.0, -1.0]], (0, 1), "the result")
VERDICT = Verdict(
    "loops.softmax", WRONG, (Aspect("values", 0.0, 4.0),), "Why?", "SMX-01", PICTURE, hidden=True
)
RESULT = Result(
    {3: [{"output_type": "stream"}]}, {"loops.softmax": VERDICT}, {"x": {}}, "stopped", "", {"cells": 1}
)


def read(data) -> Result:
    return checked(Result, json.loads(json.dumps(data)))


def paths(data, path=()):
    """Yield the path of every item, but do not look into outputs and graphs, whose forms are checked
    elsewhere.
    """
    yield path
    if path[:1] not in (("outputs",), ("graphs",)) and isinstance(data, (dict, list, tuple)):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from paths(data[key], (*path, key))


def changed(data, path, value):
    if not path:
        return value
    items = dict(data) if isinstance(data, dict) else list(data)
    items[path[0]] = changed(items[path[0]], path[1:], value)
    return items


def test_a_result_comes_back_as_it_was_kept():
    assert read(asdict(RESULT)) == RESULT
    assert isnan(checked(float, json.loads(json.dumps(nan))))


@pytest.mark.parametrize("path", list(paths(asdict(RESULT))), ids=str)
def test_a_value_of_another_form_is_refused(path):
    with pytest.raises(ValueError):
        read(changed(asdict(RESULT), path, [{"a": [True]}]))


@pytest.mark.parametrize("name", ["actual", "state", "max_points", "problem"])
def test_a_renamed_field_is_refused(name):
    text = json.dumps(asdict(RESULT))
    assert f'"{name}"' in text
    with pytest.raises(Unreadable):
        read(json.loads(text.replace(f'"{name}"', '"other"')))


def test_half_a_character_is_replaced():
    assert as_text("a\ud800b", 2) == "a?" and as_text(None, 2) == ""
