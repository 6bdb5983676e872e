"""Tests that messages about hidden cases use a fixed vocabulary: nothing from a student's process is
repeated.

The records are invented, but a process could have written them: they have a word and a number in every field
that the process controls.
"""

import json
from dataclasses import asdict

import pytest
import torch
from judged import expected_of, records_of

from autograder.exercises import find
from autograder.judge import judge
from autograder.values.encode import encode

WORD, NUMBER = "CANARY", 7531
HIDDEN, SHOWN = ("a secret/0", True), ("a secret/0", False)
ERROR = {
    "type": WORD,
    "text": f"{WORD} of shape {NUMBER}",
    "line": NUMBER,
    "code": f"{WORD}({NUMBER})",
    "function": WORD,
    "raised": True,
    "bases": [WORD, "Exception"],
}
Named = type(WORD, (), {})


def answered(value, **steps) -> dict:
    return {"status": "answered", "steps": {"output": value, "again": value, **steps}}


STEPS = {
    "an error": {"kind": "error", **ERROR},
    "another type": encode(Named()),
    "a tensor of another type": encode(torch.ones(2)) | {"class": WORD},
    "a tensor of another shape": encode(torch.ones(NUMBER)),
    "a tensor of other numbers": encode(torch.full((2, 3), float(NUMBER))),
    "a number": encode(NUMBER),
    "a text": encode(WORD),
    "a list": encode([WORD, NUMBER]),
    "a dict": encode({WORD: NUMBER}),
}
RECORDS = {
    "raised": {"status": "raised", "steps": {}, "where": WORD, "error": ERROR},
    "out of time": {
        "status": "out of time",
        "steps": {},
        "where": WORD,
        "error": ERROR | {"type": "OutOfTime"},
    },
    "other parts": {
        "status": "parts",
        "steps": {},
        "expected": {WORD: [NUMBER]},
        "found": {WORD: [NUMBER, 1]},
    },
    "more parts": {"status": "parts", "steps": {}, "expected": {}, "found": {WORD: [NUMBER]}},
}


def told(exercise_id: str, records: list[dict], check) -> str:
    expected = expected_of(exercise_id, *check)
    return json.dumps(asdict(judge(find(exercise_id), expected.cases, records, check[1], expected)))


def right(exercise_id: str, check) -> list[dict]:
    return records_of(exercise_id, find(exercise_id).reference, check)


EXERCISES = ["loops.softmax", "heads.MultiheadSelfAttention", "masking.causal_mask", "mqa.kv_cache_bytes"]


@pytest.mark.parametrize("exercise_id", EXERCISES)
@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_nothing_of_an_answer_that_does_not_run_is_repeated(exercise_id, record):
    count = len(expected_of(exercise_id, *HIDDEN).cases)
    said = told(exercise_id, [record] * count, HIDDEN)
    assert WORD not in said and str(NUMBER) not in said
    count = len(expected_of(exercise_id, *SHOWN).cases)
    assert WORD in told(exercise_id, [record] * count, SHOWN)


@pytest.mark.parametrize("exercise_id", EXERCISES[:2])
@pytest.mark.parametrize("step", ["output", "after", "again", "evaluated", "gradients"])
@pytest.mark.parametrize("value", STEPS.values(), ids=STEPS)
def test_nothing_of_a_wrong_value_is_repeated(exercise_id, step, value):
    records = right(exercise_id, HIDDEN)
    changed = [
        record | {"steps": record["steps"] | {step: value}} if step in record["steps"] else record
        for record in records
    ]
    said = told(exercise_id, changed, HIDDEN)
    assert WORD not in said and str(NUMBER) not in said


@pytest.mark.parametrize("name", ["an error", "another type", "a tensor of another shape"])
def test_the_visible_check_repeats_it(name):
    records = [answered(STEPS[name], after=encode({})) for _ in expected_of("loops.softmax", *SHOWN).cases]
    said = told("loops.softmax", records, SHOWN)
    assert WORD in said or str(NUMBER) in said
