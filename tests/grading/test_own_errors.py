"""Tests that an error of our own never becomes a student's zero: if the judge, the transfer of data, a rule
or the course breaks, the submission stays ungraded, the message says whose error it is, and the traceback is
kept.
"""

import shutil
import tempfile
from pathlib import Path

import pytest
from gradebooks import scores_in
from sandboxed import needs_sandbox

from autograder.cli import main
from autograder.exercises import find
from autograder.grading.course import make as course_module
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook import recorder
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.gradebook.outcomes import last_outcome
from autograder.grading.judging import questions, run
from autograder.grading.pages.report import report
from autograder.grading.submission import reading
from autograder.grading.submission.find import Submission
from autograder.grading.worker import session
from autograder.grading.worker.fork_server import shared_fork_server
from autograder.judge import judging
from autograder.notebook import check as check_module
from autograder.notebook.check import NotJudged, check

OURS = "an error of the autograder itself"
WORD = "the very error that we made"
# The function that is made to fail, by the part of grading that it breaks.
PLACES = {
    "reading": (reading, "with_course_metadata"),
    "judge": (questions, "judge"),
    "rule": (judging, "judged_by_rules"),
    "wire": (session, "pack"),
    "course": (run, "find"),
    "recording": (recorder, "fill_in"),
}
RIGHT = """
import torch
def softmax(scores):
    grown = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return grown / grown.sum(dim=-1, keepdim=True)
"""


def broken(*args, **kwargs):
    raise KeyError(WORD)


def scores(folder: Path, student: str) -> list:
    """Return the automatic scores of a student's checks in the gradebook."""
    return [row.auto for row in scores_in(folder) if row.student == student and row.cell.startswith("check-")]


@pytest.fixture(scope="module")
def graded(empty_course, tmp_path_factory):
    """A course in which ada is graded and then hands in again, bo hands in for the first time, and cy hands
    in something that is not a notebook.
    """
    folder = Path(shutil.copytree(empty_course, tmp_path_factory.mktemp("own") / "course"))
    hand_in(folder, SampleSubmission("ada"))
    grade(folder)
    hand_in(folder, SampleSubmission("ada", answers={SOFTMAX: "SMX-01"}))
    hand_in(folder, SampleSubmission("bo", answers={"loops.weighted_sum": "LOOP-17"}))
    hand_in(folder, SampleSubmission("cy", file="no notebook"))
    return folder


@pytest.fixture
def course(graded, tmp_path):
    return Path(shutil.copytree(graded, tmp_path / "course"))


@needs_sandbox
@pytest.mark.parametrize("place", PLACES)
def test_it_leaves_a_submission_ungraded_and_is_named(course, place, monkeypatch, capsys):
    before = scores(course, "ada")
    with monkeypatch.context() as patch:
        patch.setattr(*PLACES[place], broken)
        assert main(["grade", str(course)]) == 1
    said = capsys.readouterr()
    assert scores(course, "ada") == before and sum(before) == 21.0
    assert scores(course, "bo") == []
    for student in ("ada", "bo"):
        assert (
            sum(
                f"'{student}', {FIRST}: not graded: {OURS} (KeyError" in line
                for line in said.err.splitlines()
            )
            == 1
        )
    assert f"not graded: {OURS}" in said.out and "cannot be read" in said.out
    assert (course / "grading.log").read_text().count(WORD) >= 2
    assert "Traceback (most recent call last)" in (course / "grading.log").read_text()
    assert "Traceback" not in said.err
    assert OURS in report(course).read_text()
    assert main(["grade", str(course)]) == 0
    assert all(0 < sum(scores(course, student)) < 21.0 for student in ("ada", "bo"))


@needs_sandbox
def test_who_has_no_score_counts_in_no_mean(course, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(questions, "judge", broken)
        rows = {row.student: row for row in grade(course)}
    assert rows["bo"].ungraded and set(rows["bo"].points.values()) == {None} and not rows["bo"].waits
    assert rows["bo"].as_json()["graded"] is False
    assert not rows["cy"].ungraded and rows["cy"].total == 0
    assert "3 submissions, on average 0.0 of 25 points; 2 not graded" in capsys.readouterr().out
    outcome = last_outcome(Submission(course, "ada", FIRST))
    assert outcome.ours and outcome.again and outcome.result  # the earlier result is still known


@needs_sandbox
def test_stock_autograde_leaves_no_score(course, monkeypatch):
    api = open_course(course)
    monkeypatch.chdir(course)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(questions, "judge", broken)
            done = api.autograde(FIRST, "bo")
    finally:
        shared_fork_server().close()
        shared_fork_server.cache_clear()
    assert not done["success"]
    assert OURS in done["log"] and WORD in done["log"] and "Traceback" in done["log"]
    assert set(scores(course, "bo")) == {None}
    with api.gradebook as book:
        row = book.find_submission_notebook(FIRST, FIRST, "bo")
        assert all(grade.needs_manual_grade for grade in row.grades)
    assert not (course / "autograded" / "bo").exists() or not list(
        (course / "autograded" / "bo").rglob("*.ipynb")
    )


@needs_sandbox
def test_check_of_files_says_in_one_line_that_it_is_ours(tmp_path, monkeypatch, capsys):
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    for file in files:
        file.write_text(RIGHT)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(questions, "judge", broken)
    assert main(["check", SOFTMAX, *map(str, files)]) == 2
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert len(lines) == 2 and said.out == ""
    for line, file in zip(lines, files, strict=True):
        assert f"{file} cannot be judged: this is {OURS} (KeyError" in line and "not of the answer" in line
        assert WORD in Path(line.split("Its traceback is in ")[1].rstrip(".")).read_text()


def test_an_error_in_any_command_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(course_module, "make_course", broken)
    assert main(["course", str(tmp_path / "course")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert OURS in line and WORD in Path(line.split("Its traceback is in ")[1].rstrip(".")).read_text()


@pytest.mark.parametrize("name", ["judge", "probe", "cases_of"])
def test_check_in_a_notebook_blames_nobody(name, monkeypatch, capsys):
    monkeypatch.setattr(check_module, name, broken)
    with pytest.raises(NotJudged) as caught:
        check(lambda scores: scores, SOFTMAX)
    shown = "\n".join(caught.value._render_traceback_())
    assert OURS in shown and "not your answer" in shown
    assert not any(word in shown for word in ("wrong", "points", "Traceback", WORD))
    assert len(caught.value._render_traceback_()) <= 5
    assert isinstance(caught.value.__cause__, KeyError)


# --- what a student's process says is no error of ours ------------------------------------------------------


class Says:
    """A stand-in for the session of a submission; every probe gets the reply given to the constructor."""

    def __init__(self, **reply):
        self.reply = reply

    def probe(self, name, procedure, cases, isolated, limits=None):
        return self.reply


def verdict_on(asked, session, stopped=None):
    return asked.verdict(asked.ask(session, isolated=False), stopped)


@pytest.mark.parametrize(
    "reply", [{}, {"ended": "9" * 300}, {"ended": 10**300}, {"ended": None}, {"records": []}]
)
def test_a_reply_that_cannot_be_read_is_the_answers(reply):
    for hidden in (False, True):
        judged = verdict_on(questions.Questions(SOFTMAX, hidden=hidden), Says(**reply))
        assert judged.points == 0 and judged.message == "What came back from your code could not be read."


def test_in_hidden_cases_all_words_are_ours():
    visible, hidden = (questions.Questions(SOFTMAX, hidden=hidden) for hidden in (False, True))
    ended = Says(ended=123)
    missing = Says(found=False, callable=False, kind="NoneType", records=[])
    other = Says(found=True, callable=False, kind="number_7", records=[])
    stopped = questions.Stopped("E7", "number 7", 7, in_cell=True)
    for reply in (ended, missing, other):
        assert not set("1234567") & set(verdict_on(hidden, reply, stopped).message)
    assert "(exit status 123)" in verdict_on(visible, ended).message
    assert "a cell stopped in line 7 with E7: number 7" in verdict_on(visible, missing, stopped).message
    assert "number_7" in verdict_on(visible, other).message
    assert find(SOFTMAX).name in verdict_on(hidden, missing, stopped).message
