"""Tests every kind of value: right ones pass, wrong ones do not, and all of them can be sent and stored."""

import json
import math
import struct
from collections import Counter

import numpy as np
import pytest
import torch
from simple_exercise import verdict_on

from autograder.schema.case import Case
from autograder.values.compare import EXACT, ONE_OF, SAME_ROWS, SAME_SET, Match, close, difference
from autograder.values.encode import encode
from autograder.values.pack import MOST_CONTAINERS, BadMessage, pack, unpack
from autograder.values.plain import MOST_KEYS
from autograder.values.store import Stored, Writer

X = torch.arange(6.0).reshape(2, 3)
LONG = "Aufmerksamkeit " * 100
MANY = list(range(3000))


def is_right(expected, actual) -> bool:
    case = Case("one", (X,), gradients=False)
    return verdict_on(lambda x: expected, lambda x: actual, case).passed


# (what is right, something else of the same kind)
DIFFERENT = {
    "bytes": (b"a\x00", b"a\x01"),
    "long text": (LONG + "a", LONG + "b"),
    "long list of numbers": (MANY, [*MANY[:-1], 0]),
    "long list of texts": (["a"] * 2000, ["a"] * 1999 + ["b"]),
    "whole numbers far apart by little": ([100_000] * 100, [100_000] * 99 + [100_001]),
    "ids in a tensor": (torch.tensor([100_000]), torch.tensor([100_001])),
    "keys of a dict": ({"a": 1}, {"b": 1}),
    "types of keys": ({1: 5}, {"1": 5}),
    "True for 1 as a key": ({1: 5}, {True: 5}),
    "pairs as keys": ({(1, 2): 3}, {(2, 1): 3}),
    "values of a dict": ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
    "a key too many": ({"a": 1}, {"a": 1, "b": None}),
    "a float": (0.5, 0.501),
    "a float for an int": (1, 1.0),
    "an int for a float": (1.0, 1),
    "True for 1": (1, True),
    "1 for True": (True, 1),
    "NaN": (0.5, math.nan),
    "None": (None, 0),
    "a list for a tuple": ((1, 2), [1, 2]),
    "a tensor within": ([{"a": X}], [{"a": X + 1}]),
    "a NumPy number that is no float": (0.5, np.float32(0.5)),
    "a NumPy integer": (1, np.int64(1)),
    "a NumPy array": (X, X.numpy()),
    "a large int": (1 << 100, (1 << 100) + 1),
}
SAME = {
    "bytes": (b"ab", bytes([97, 98])),
    "long text": (LONG, LONG[:-1] + " "),
    "long list": (MANY, [*MANY]),
    "order of keys": ({"a": 1, 2: X}, {2: X.clone(), "a": 1}),
    "a Counter": ({"a": 2}, Counter("aa")),
    "a float32 for a float64": (1 / 3, float(torch.tensor(1 / 3))),
    "a NumPy number that is a float": (0.5, np.float64(0.5)),
    "infinity": (math.inf, math.inf),
    "an empty list": ([], []),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_another_value_is_wrong(pair):
    expected, actual = pair
    assert is_right(expected, expected) and not is_right(expected, actual)


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_the_same_value_is_right_however_made(pair):
    assert is_right(*pair)


@pytest.mark.parametrize("value", [pair[0] for pair in DIFFERENT.values()], ids=DIFFERENT)
def test_values_travel_and_are_kept(value, tmp_path):
    recorded = encode(value)
    writer = Writer()
    number = writer.part(recorded)
    writer.write(tmp_path / "kept", {"one": recorded})
    kept = Stored(tmp_path / "kept")
    for other in (unpack(pack(recorded)), kept.value["one"], kept.part(number)):
        assert difference(recorded, other, EXACT) is None and difference(other, recorded, EXACT) is None


SAME_HASH = pack(dict.fromkeys(range(0, (MOST_KEYS + 1) * (2**61 - 1), 2**61 - 1)))
# JSON may write a bracket as \\u005b.
ESCAPED = (
    json.dumps({"__metadata__": {"json": f"[{'[],' * MOST_CONTAINERS}0]"}}).replace("[]", "\\u005b]").encode()
)


@pytest.mark.parametrize(
    "message", [SAME_HASH, struct.pack("<Q", len(ESCAPED)) + ESCAPED], ids=["hash", "escaped"]
)
def test_a_message_that_would_take_much_time_or_memory_is_refused(message):
    with pytest.raises(BadMessage) as refused:
        unpack(message)
    assert "too many" in str(refused.value) or f"{MOST_KEYS} keys" in str(refused.value.__cause__)


# How results are compared


def test_a_set_may_come_in_any_order_and_one_of_several_is_right():
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for how, expected, right, wrong in (
        (SAME_SET, [3, 1, 1], [1, 3, 1], [3, 3, 1]),
        (SAME_SET, rows, rows.flip(0), rows.flip(1)),
        (SAME_ROWS, [[rows]], [[rows.flip(0)[None]]], [[rows[[0, 0]]]]),
        (SAME_ROWS, [[rows[:1]]], [[rows[0]]], [[rows[1]]]),
        (ONE_OF, [1, (2, 3)], (2, 3), 3),
        (close(100.0), 1.0, 1.01, 1.1),
        (EXACT, 0.5, 0.5, 0.5000001),
    ):
        case = Case("one", (X,), gradients=False, expect=how)
        assert verdict_on(lambda x: expected, lambda x: right, case).passed  # noqa: B023
        assert not verdict_on(lambda x: expected, lambda x: wrong, case).passed  # noqa: B023
    with pytest.raises(ValueError):
        Match("roughly")
