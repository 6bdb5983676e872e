"""Tests reruns: if a rule (such as "no loops") restricts how answers may compute, their steps are recorded as
programs, which are then run again on other numbers.
"""

import functools
import json
import zlib
from dataclasses import replace

import pytest
import torch
from answers import answers
from judged import sample

from autograder.exercises import all_exercises, find
from autograder.grading.judging.questions import Questions
from autograder.grading.judging.reruns import Rerun
from autograder.grading.judging.untrusted_records import Reply
from autograder.judge import RULE, cases_of
from autograder.probe import probe
from autograder.probe.rerun import rerun

SECRET = "a secret"
RERUN = [
    exercise.id
    for exercise in all_exercises()
    if any(case.program for case in cases_of(exercise, SECRET, True))
]
SIZES = [pytest.param("some", marks=pytest.mark.sample), pytest.param("all", marks=pytest.mark.trial)]


@functools.cache
def asked(exercise_id: str) -> tuple[Questions, Rerun]:
    questions = Questions(exercise_id, SECRET, hidden=True)
    return questions, Rerun(questions, SECRET)


def verdict_on_programs(exercise_id: str, answer, change=lambda data: data):
    """Return the verdict on the programs recorded from an answer, after running them again on other numbers.
    `change` may forge each program first.
    """
    questions, again = asked(exercise_id)
    cases = [case for case in questions.cases if case.program]
    records = iter(probe(answer, cases, questions.exercise.procedure))
    request = again.request(
        Reply(
            True,
            True,
            "function",
            [next(records) if case.program else {"steps": {}} for case in questions.cases],
        )
    )
    return again.verdict(rerun([change(data) for data in request["programs"]], again.cases))


@pytest.mark.parametrize("which", SIZES)
@pytest.mark.parametrize("exercise_id", RERUN)
def test_the_program_of_a_right_answer_is_right_on_other_numbers(exercise_id, which):
    exercise = find(exercise_id)
    right = list(answers(exercise)[0].values())
    for answer in (exercise.worked or exercise.reference, *(right if which == "all" else sample(right)[:1])):
        verdict = verdict_on_programs(exercise_id, answer)
        assert verdict is not None
        assert verdict.passed, verdict.message


def by_hand(scores):
    grown = torch.exp(scores - scores.amax(-1, keepdim=True))
    return grown / grown.sum(-1, keepdim=True)


def theirs(scores):
    return torch.softmax(scores, -1)


def hidden_in_a_constant(scores):
    hand = by_hand(scores)
    return hand + torch.tensor((torch.softmax(scores, -1) - hand).tolist())


def not_from_the_input(scores):
    return torch.tensor(torch.softmax(scores, -1).tolist()) + 0 * scores


def beside_the_result(scores):
    print(torch.softmax(scores, -1))
    return by_hand(scores)


def test_a_program_says_what_the_result_comes_from():
    assert verdict_on_programs("loops.softmax", theirs).mistake == RULE
    assert verdict_on_programs("loops.softmax", beside_the_result).passed
    assert verdict_on_programs("loops.softmax", hidden_in_a_constant).passed  # it adds nothing but rounding


def test_numbers_from_elsewhere_are_wrong_on_other_inputs():
    verdict = verdict_on_programs("loops.softmax", not_from_the_input)
    assert not verdict.passed
    assert verdict.mistake != RULE


def test_recording_adds_nothing_to_what_is_observed():
    exercise = find("loops.softmax")
    cases = [case for case in asked(exercise.id)[0].cases if case.program]
    unrecorded = [replace(case, program=False) for case in cases]

    def functions(answer, cases):
        usages = [record["steps"]["usage"] for record in probe(answer, cases, exercise.procedure)]
        return [
            (one["calls"], [name for name in one["names"] if name.startswith("torch:")]) for one in usages
        ]

    for name, answer in answers(exercise)[0].items():
        assert functions(answer, cases) == functions(answer, unrecorded), name


def test_what_cannot_be_called_has_no_program():
    assert asked("loops.softmax")[1].request(Reply(False, False, "NoneType", [])) is None


def test_a_forged_program_runs_nothing_but_kernels():
    def with_step(step):
        return lambda data: zlib.compress(
            json.dumps(json.loads(zlib.decompress(data)) | {"steps": [step]}).encode()
        )

    for step in (
        ["aten::from_file", [["/etc/passwd"], {"map": {}}], [50]],
        ["os::system", [["touch taken"], {"map": {}}], [50]],
        ["aten::exp.__class__", [[{"tensor": 0}], {"map": {}}], [50]],
        ["", [[1.0], "Tensor", [1]], [50]],
        ["aten::exp", [[{"tensor": 99}], {"map": {}}], [50]],
    ):
        assert verdict_on_programs("loops.softmax", by_hand, with_step(step)) is None
    for data in (b"", b"x", *map(zlib.compress, (b"[]", b"{", b'{"steps": 7}'))):
        assert verdict_on_programs("loops.softmax", by_hand, lambda _, data=data: data) is None
