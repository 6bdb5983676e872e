"""Tests that further calls of an answer get only seconds instead of a minute each, once one of its calls has
not returned in time. The same holds for a cell that is run again.
"""

import shutil
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from sandboxed import needs_sandbox
from term import change

from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import ATTENTION, FIRST, SCORES, SOFTMAX, SUM, SampleSubmission
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.judging.run import HowToRun, run_here
from autograder.grading.submission.find import Submission
from autograder.grading.submission.reading import read, read_lesson
from autograder.grading.worker.allowance import USUAL
from autograder.grading.worker.session import Session
from autograder.verdict import DOES_NOT_RUN

pytestmark = needs_sandbox

SECRET = "a secret"
LOOP = "while True:\n    pass"
# No exception stops it, so its whole process must be killed.
STUBBORN = f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\n{LOOP}"
CALLS = "weights = [softmax(torch.ones(1, 1)) for _ in range(2)]\nprint('not reached')"
# Slow answers are given up early, so that these tests need not wait.
HURRIED = replace(USUAL, cell=8.0, probe=8.0, again=2.0, again_call=0.5)


@pytest.fixture
def asked(monkeypatch) -> dict:
    """For each cell (by its code) and each answer (by its name), the time limits of its runs, in seconds and
    in order. An answer's run has two limits: one for the whole run and one for each call.
    """
    given = defaultdict(list)
    cell, probe = Session.cell, Session.probe

    def asked_cell(session, source, limits=None):
        given[source].append(limits.whole)
        return cell(session, source, limits)

    def asked_probe(session, name, procedure, cases, isolated, limits=None):
        given[name].append((limits.whole, limits.call))
        return probe(session, name, procedure, cases, isolated, limits)

    monkeypatch.setattr(Session, "cell", asked_cell)
    monkeypatch.setattr(Session, "probe", asked_probe)
    return given


def run(course: Path, softmax: str, cells: tuple[str, ...] = ()):
    """Return the result of a submission whose softmax has this body and whose notebook ends with `cells`."""
    answers = {SOFTMAX: softmax}
    work = hand_in(course, SampleSubmission("ada", answers=answers))
    change(work, lambda notebook: notebook.cells.extend(map(new_code_cell, cells)))
    with open_course(course).gradebook as gradebook:
        lesson = read_lesson(gradebook, course, FIRST)
    unit = read(Submission(course, "ada", FIRST), lesson, SECRET).unit
    return run_here(unit, HowToRun(SECRET, allowance=HURRIED))


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    return Path(shutil.copytree(first_course, tmp_path / "course"))


def test_whatever_calls_an_answer_that_does_not_return_has_seconds(course, asked):
    result = run(course, LOOP, (CALLS, "print('reached')"))
    usual = HURRIED.probe, None
    # Whether a probe can still be stopped, or is killed and repeated, depends on the machine.
    assert asked["softmax"][0] == usual and {call for _, call in asked["softmax"][1:]} == {HURRIED.again_call}
    assert {call for _, call in asked["attention_from_loops"]} == {HURRIED.again_call}
    assert {*asked["dot_product_scores"], *asked["weighted_sum"]} == {usual}
    assert asked[CALLS] == [HURRIED.again] * 2 and set(asked["print('reached')"]) == {HURRIED.cell}
    for one in (SOFTMAX, ATTENTION):
        verdict = result.verdicts[one]
        assert verdict.state == DOES_NOT_RUN and "There was no answer after 5 seconds" in verdict.message
    assert all(result.verdicts[one].passed for one in (SCORES, SUM)) and not result.problem


def test_an_answer_that_cannot_be_stopped_is_ended_early_the_next_time(course, asked):
    result = run(course, STUBBORN)
    usual, short = (HURRIED.probe, None), (HURRIED.again, HURRIED.again_call)
    assert asked["softmax"] == [usual, short, short]
    assert set(asked["attention_from_loops"]) == {short}
    assert all(result.verdicts[one].passed for one in (SCORES, SUM))
    assert "did not return in time" in result.verdicts[SOFTMAX].message


def test_a_cell_that_did_not_stop_is_stopped_early_the_next_time(course, asked):
    result = run(course, "return torch.softmax(scores, -1)", (LOOP,))
    assert asked[LOOP] == [HURRIED.cell, HURRIED.again]
    assert result.verdicts[SUM].passed
