"""Tests that values that cannot be compared never count as right, as unchanged, or as the same as anything."""

import numpy as np
import pytest
import torch
from judged import PUBLIC, expected_of, records_of, verdict, verdict_on, worked_answer
from red_team import values
from simple_exercise import exercise_of

from autograder.exercises import find
from autograder.judge import Expected
from autograder.probe import probe
from autograder.schema.case import Case
from autograder.values.encode import LARGEST_TENSOR, LONGEST_TEXT, MOST_INTS, MOST_ITEMS, encode
from autograder.values.plain import MOST_KEYS

ONES = torch.ones(2)
nested = []
for _ in range(10):
    nested = [nested]
INCOMPARABLE = {
    "too large": torch.zeros(1).expand(LARGEST_TENSOR + 1),
    "sparse": torch.zeros(2, 2).to_sparse(),
    "without numbers": torch.zeros(2, device="meta"),
    "a long text": "x" * (LONGEST_TEXT + 1),
    "a long list": [""] * (MOST_ITEMS + 1),
    "a very long list of numbers": [0] * (MOST_INTS + 1),
    "a long dict": {str(i): i for i in range(MOST_ITEMS + 1)},
    "a long dict of numbers": dict.fromkeys(range(MOST_KEYS + 1)),
    "keys of other types": {frozenset(): 2},
    "half a character": "\ud800",
    "a set": {1},
    "an array": np.ones(2),
    "a module": torch.nn.Linear(1, 1),
    "a function": len,
    "nested deeply": nested,
    "a large number": 1 << 5000,
    "a type": int,
    "within a list": [{1}],
    "within a dict": {"a": torch.zeros(2).to_sparse()},
}


def wrong_cases_of(reference, answer, x=ONES, **changed) -> set[int]:
    """Return the numbers of the cases in which an answer is wrong: {0}, or an empty set. `reference` is the
    right answer. `changed` replaces steps of the answer's record.
    """
    expected = Expected(exercise_of(reference), [Case("one", (x,), gradients="gradients" in changed)])
    return expected.wrong_cases(with_steps(probe(answer, expected.cases), **changed))


def with_steps(records: list[dict], **changed) -> list[dict]:
    """Return the records, with these steps of the first one replaced."""
    first, *others = records
    return [first | {"steps": first["steps"] | changed}, *others]


@pytest.mark.parametrize("value", INCOMPARABLE.values(), ids=INCOMPARABLE)
def test_it_is_never_right_even_if_the_reference_gives_the_same(value):
    assert wrong_cases_of(lambda x: value, lambda x: value) == {0}


def softmax_records() -> list[dict]:
    return records_of("loops.softmax", worked_answer("loops.softmax"))


def after(value: dict) -> dict:
    return {"kind": "dict", "keys": ["0"], "items": [value]}


AFTERWARDS = {
    "too large": after({"kind": "other", "class": "tensor of shape [3000000], too large to compare"}),
    "gone": after({"kind": "None"}),
    "of another class": after(
        encode(expected_of("loops.softmax", *PUBLIC).cases[0].args[0]) | {"class": "Mine"}
    ),
    "of another type": after(encode(expected_of("loops.softmax", *PUBLIC).cases[0].args[0].double())),
    "left out": {"kind": "dict", "keys": [], "items": []},
    "an error": {"kind": "error", "type": "ValueError", "text": ""},
    "something else": {"kind": "other", "class": "set"},
}


@pytest.mark.parametrize("value", AFTERWARDS.values(), ids=AFTERWARDS)
def test_an_input_that_cannot_be_compared_counts_as_changed(value):
    records = softmax_records()
    assert verdict_on("loops.softmax", records).passed
    judged = verdict_on("loops.softmax", with_steps(records, after=value))
    assert (judged.points, judged.max_points) == (6.0, 7.0)
    assert "`scores` has changed" in judged.message


def test_an_infinite_input_is_not_the_same_as_a_very_large_one():
    x = torch.tensor([torch.inf, torch.nan])
    assert not wrong_cases_of(lambda x: 1, lambda x: 1, x)
    assert wrong_cases_of(lambda x: 1, lambda x: (x.nan_to_num_(), 1)[1], x) == {0}


def test_a_gradient_that_cannot_be_compared_is_not_zero():
    def zeros(x):
        return 0 * x

    assert not wrong_cases_of(zeros, zeros, gradients=after(encode(torch.zeros(2))))
    too_large = after({"kind": "other", "class": "tensor of shape [3000000], too large to compare"})
    assert wrong_cases_of(zeros, zeros, gradients=too_large) == {0}


# --- parameters ---------------------------------------------------------------------------------------------


def points_of(exercise_id: str, code: str) -> float:
    names = {}
    exec(code, names)
    return verdict(exercise_id, names[find(exercise_id).name]).points


def test_the_right_copy_of_the_attacks_is_right():
    assert points_of("heads.copy_weights", values.RIGHT_COPY) == 5.0


ASKING = [values.PARTS_THAT_ASK, values.FORWARDS_THAT_ASK, values.HOOKS_THAT_ASK]


@pytest.mark.parametrize("code", ASKING, ids=["parts", "forwards", "hooks"])
def test_a_target_that_asks_the_source_has_no_points(code):
    assert points_of("heads.copy_weights", code) == 0.0


def test_modules_that_lie_about_their_parameters_count_as_changed():
    assert points_of("heads.copy_weights", values.LYING_SOURCE) == 4.0
    assert points_of("decoder.feed_forward", values.LYING_LAYER) == find("decoder.feed_forward").points - 1


STATED = {
    "an output": encode(torch.ones(2, 3)),
    "yes": encode(True),
    "nothing": encode({}),
    "other names": encode({"weight": torch.ones(2)}),
    "no numbers": None,
}


@pytest.mark.parametrize("stated", STATED.values(), ids=STATED)
def test_a_process_that_states_a_result_instead_of_parameters_is_wrong(stated):
    records = records_of("heads.copy_weights", find("heads.copy_weights").reference)
    assert verdict_on("heads.copy_weights", records).passed
    for number, record in enumerate(records):
        names = record["steps"]["output"]["keys"]
        value = stated or encode(dict.fromkeys(names, "x"))
        forged = [*records]
        forged[number] = record | {"steps": record["steps"] | {"output": value, "again": value}}
        assert not verdict_on("heads.copy_weights", forged).passed
