"""An instructor's term with nbgrader's own commands, each in a process of its own."""

import shutil
from pathlib import Path

import nbformat
import pytest
from gradebooks import scores_in
from sandboxed import needs_sandbox
from term import add_to_settings, as_student, autograder, change, nbgrader, written_points

from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, WRITTEN, SampleSubmission
from autograder.grading.gradebook.open_course import open_course

pytestmark = needs_sandbox
CHECKS = 21.0  # the points of all checks of the first lesson


@pytest.fixture(scope="session")
def first_course(tmp_path_factory) -> Path:
    """A course of the first lesson alone."""
    return make_course(tmp_path_factory.mktemp("courses") / "course", ["01"])


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    return Path(shutil.copytree(first_course, tmp_path / "course"))


def total(course: Path, student: str) -> float:
    """The points that are exported, less the penalty."""
    nbgrader(course, "export", "--to=grades.csv")
    rows = [line.split(",") for line in (course / "grades.csv").read_text().splitlines()]
    (row,) = (row for row in rows if row[3] == student)
    return float(row[rows[0].index("score")])


# --- the exchange ---------------------------------------------------------------------------------------------------


def test_a_lesson_goes_through_the_exchange_to_a_student_and_back(course, tmp_path):
    exchange = tmp_path / "exchange"
    student = as_student(tmp_path / "student")
    place, mine = [f"--Exchange.root={exchange}", "--course=attention-by-hand"], tmp_path / "student"
    nbgrader(course, "release_assignment", FIRST, *place)
    nbgrader(mine, "fetch_assignment", FIRST, *place, **student)
    released = course / "release" / FIRST / f"{FIRST}.ipynb"
    assert (mine / FIRST / f"{FIRST}.ipynb").read_bytes() == released.read_bytes()

    answered = hand_in(course, SampleSubmission("x", answers={SOFTMAX: "SMX-01"}))
    (mine / FIRST / f"{FIRST}.ipynb").write_bytes(answered.read_bytes())
    shutil.rmtree(course / "submitted")
    nbgrader(mine, "submit", FIRST, *place, **student)
    nbgrader(course, "collect", FIRST, *place)
    (name,) = (folder.name for folder in (course / "submitted").iterdir())
    # Another one came by mail: no time stamp, no secret of the exchange.
    hand_in(course, SampleSubmission("by_mail"))
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    nbgrader(course, "release_feedback", FIRST, *place)
    nbgrader(mine, "fetch_feedback", FIRST, *place, **student)
    (page,) = (mine / FIRST / "feedback").rglob("*.html")
    assert "What is exp(1000) in float32?" in page.read_text(encoding="utf-8")
    assert page.read_bytes() == (course / "feedback" / name / FIRST / f"{FIRST}.html").read_bytes()


# --- the settings ---------------------------------------------------------------------------------------------------

BROKEN = {"not Python": "\nc.Autograde.x = (\n", "a name that is not there": "\nd.LateSubmissionPlugin.x = 1\n"}


@pytest.mark.parametrize("error", BROKEN)
def test_settings_with_an_error_stop_every_command_that_would_do_harm(course, tmp_path, error):
    trace = tmp_path / "ran"
    work = hand_in(course, SampleSubmission("ada"))
    change(work, lambda notebook: notebook.cells.insert(0, nbformat.v4.new_code_cell(f"open({str(trace)!r}, 'w')")))
    autograder("grade", course, cwd=course)
    add_to_settings(course, BROKEN[error])
    for command in ("autograde", "generate_assignment", "generate_feedback"):
        said = nbgrader(course, command, FIRST, "--force", fails=True)
        last = said.strip().splitlines()[-1]
        assert "Nothing was done" in last and "nbgrader_config.py cannot be loaded" in last, said
    assert not trace.exists() and list((course / "release" / FIRST).iterdir())
    (course / "nbgrader_config.py").unlink()
    assert "Nothing was done" in nbgrader(course, "autograde", FIRST, "--force", fails=True)
    assert not trace.exists()


# --- late work ------------------------------------------------------------------------------------------------------


def test_late_work_follows_due_date_extension_and_points_given_by_hand(course):
    add_to_settings(course, 'c.LateSubmissionPlugin.penalty_method = "zero"\n')
    due = ["db", "assignment", "add", FIRST]
    nbgrader(course, *due, "--duedate=2026-01-02 00:00:00 UTC")
    work = hand_in(course, SampleSubmission("ada", written=WRITTEN))
    (work.parent / "timestamp.txt").write_text("2026-01-03 12:00:00 UTC")
    autograder("grade", course, cwd=course)
    assert total(course, "ada") == 0
    written_points(course, FIRST, "ada", "loops-why_scale", 3.0)
    assert total(course, "ada") == 0
    nbgrader(course, *due, "--duedate=2026-01-04 00:00:00 UTC")
    assert total(course, "ada") == CHECKS + 3
    nbgrader(course, *due, "--duedate=2026-01-02 00:00:00 UTC")
    assert total(course, "ada") == 0
    with open_course(course).gradebook as book:
        book.grant_extension(FIRST, "ada", days=2)
    nbgrader(course, "generate_feedback", FIRST)
    assert {row.penalty for row in scores_in(course)} == {None}
    assert total(course, "ada") == CHECKS + 3
    with open_course(course).gradebook as book:
        book.grant_extension(FIRST, "ada")
    autograder("grade", course, cwd=course)
    assert {row.penalty for row in scores_in(course)} == {CHECKS + 3}
