"""Tests an instructor's whole term with nbgrader's own commands, each in a separate process."""

import json
import re
import shutil
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import nbformat
import pytest
from collected import add_students
from gradebooks import scores_in
from nbgrader.utils import compute_checksum
from sandboxed import needs_sandbox
from term import add_to_settings, as_student, autograder, cell_named, change, nbgrader, written_points

from autograder.errors import UserError
from autograder.grading.collect.collect import collect
from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, STUB, WRITTEN, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.pages.report import report

pytestmark = needs_sandbox
CHECKS = 21.0  # the points of all checks of the first lesson


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    return Path(shutil.copytree(first_course, tmp_path / "course"))


def total(course: Path, student: str) -> float:
    """Return the student's exported score, from which the penalty is already deducted."""
    nbgrader(course, "export", "--to=grades.csv")
    rows = [line.split(",") for line in (course / "grades.csv").read_text().splitlines()]
    (row,) = (row for row in rows if row[3] == student)
    return float(row[rows[0].index("score")])


# --- the exchange -------------------------------------------------------------------------------------------


@pytest.fixture
def open_to_all():
    """A folder that each user of this machine may enter.

    subtle: it is not one of pytest's folders, because pytest makes those private whenever a session starts.
    """
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_lesson_goes_through_the_exchange_to_a_student_and_back(course, open_to_all):
    exchange, mine = open_to_all / "exchange", open_to_all / "student"
    student = as_student(mine)
    place = [f"--Exchange.root={exchange}", "--course=attention-by-hand"]
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
    # Another submission came by mail: no time stamp, no secret of the exchange.
    hand_in(course, SampleSubmission("by_mail"))
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    nbgrader(course, "release_feedback", FIRST, *place)
    nbgrader(mine, "fetch_feedback", FIRST, *place, **student)
    (page,) = (mine / FIRST / "feedback").rglob("*.html")
    assert "What is exp(1000) in float32?" in page.read_text(encoding="utf-8")
    assert page.read_bytes() == (course / "feedback" / name / FIRST / f"{FIRST}.html").read_bytes()


def test_two_sections_on_one_hub_never_collect_from_each_other(course, tmp_path, open_to_all):
    other = make_course(tmp_path / "section_b", ["01"])
    exchange, mine = open_to_all / "exchange", open_to_all / "student"
    student = as_student(mine)
    root = f"--Exchange.root={exchange}"
    for section in (course, other):
        nbgrader(section, "release_assignment", FIRST, root)
    to_first = f"--course={open_course(course).coursedir.course_id}"
    nbgrader(mine, "fetch_assignment", FIRST, root, to_first, **student)
    nbgrader(mine, "submit", FIRST, root, to_first, **student)
    nbgrader(other, "collect", FIRST, root)
    assert not list((other / "submitted").iterdir())
    nbgrader(course, "collect", FIRST, root)
    assert len(list((course / "submitted").iterdir())) == 1


# --- the settings -------------------------------------------------------------------------------------------

BROKEN = {
    "not Python": "\nc.Autograde.x = (\n",
    "a name that is not there": "\nd.LateSubmissionPlugin.x = 1\n",
}


@pytest.mark.parametrize("error", BROKEN)
def test_settings_with_an_error_stop_every_command_that_would_do_harm(course, tmp_path, error):
    trace = tmp_path / "ran"
    work = hand_in(course, SampleSubmission("ada"))
    change(
        work,
        lambda notebook: notebook.cells.insert(0, nbformat.v4.new_code_cell(f"open({str(trace)!r}, 'w')")),
    )
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


def test_a_source_that_nbgrader_refuses_leaves_the_release_as_it_was(course):
    before = (course / "release" / FIRST / f"{FIRST}.ipynb").read_bytes()
    twice = lambda notebook: notebook.cells.append(cell_named(notebook, "check-loops-softmax"))  # noqa: E731
    change(course / "source" / FIRST / f"{FIRST}.ipynb", twice)
    nbgrader(course, "generate_assignment", FIRST, "--force", fails=True)
    assert (course / "release" / FIRST / f"{FIRST}.ipynb").read_bytes() == before


# --- late work ----------------------------------------------------------------------------------------------


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
    assert "2026-01-04 00:00" in autograder("extend", course, FIRST, "ada", "--days=2", cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    assert {row.penalty for row in scores_in(course)} == {None}
    assert total(course, "ada") == CHECKS + 3
    told = autograder("extend", course, FIRST, "bo", "--days=2", cwd=course, fails=True)
    assert f"'bo' has no graded submission for {FIRST} yet" in told
    autograder("extend", course, FIRST, "ada", "--days=0", cwd=course)
    autograder("grade", course, cwd=course)
    assert {row.penalty for row in scores_in(course)} == {CHECKS + 3}


# A time stamp, and how late it is for a due date of 23:59 UTC.
STAMPS = {
    "with_offset": ("2026-11-21 01:30:00 +0200", 0),
    "with_colon": ("2026-11-21 01:30:00 +02:00", 0),
    "in_new_york": ("2026-11-20 23:30:00 -0500", 4.5 * 3600 + 60),
    "by_name": ("2026-11-21 01:30 Europe/Berlin", 31 * 60),
    "of_notepad": ("\ufeff2026-11-20 23:30:00 UTC\r\n", 0),
    "unreadable": ("But I want ...", 0),
    "in_summer": ("2026-11-21 01:30 CEST", 0),
}


def test_time_stamps_are_read_with_their_zones_or_named(course, capsys):
    with open_course(course).gradebook as book:
        book.update_or_create_assignment(FIRST, duedate="2026-11-20 23:59 UTC")
    for student, (text, _) in STAMPS.items():
        work = hand_in(course, SampleSubmission(student, STUB))
        (work.parent / "timestamp.txt").write_bytes(text.encode())
    grade(course)
    said = capsys.readouterr().out
    report(course)
    page = (course / "report.html").read_text(encoding="utf-8")
    with open_course(course).gradebook as book:
        late = {one.student.id: one.total_seconds_late for one in book.assignment_submissions(FIRST)}
    assert late == {student: seconds for student, (_, seconds) in STAMPS.items()}
    for words in (
        "timestamp.txt holds no time such as",
        "timestamp.txt has a time zone that is not known, 'CEST'",
    ):
        assert words in said and words.split(",")[0] in page
    assert "Time stamps that cannot be read" in page
    # nbgrader's own command would read +0200 as 200 seconds, so it is made to refuse that submission and to go on
    # with the others.
    said = nbgrader(course, "autograde", FIRST, "--force", fails=True)
    assert "timestamp.txt is misread by nbgrader's own command" in said


# --- collecting ---------------------------------------------------------------------------------------------


def test_a_course_without_its_gradebook_says_so_and_how_to_go_on(course):
    archive = course / "a.zip"
    work = hand_in(course, SampleSubmission("ada"))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(
            f"Ada Lovelace_1_assignsubmission_file_/{FIRST}.ipynb", work.read_text(encoding="utf-8")
        )
    (course / "gradebook.db").unlink()
    for command in (partial(collect, archives=[archive]), grade, partial(grade, lesson=FIRST), report):
        with pytest.raises(UserError, match=r"gradebook.db. is missing or contains no lesson"):
            command(course)
    nbgrader(course, "generate_assignment", FIRST, "--force")
    assert collect(course, [archive])
    assert grade(course)[0].total > 0


def test_the_report_names_what_was_handed_in_and_is_no_notebook(course, capsys):
    add_students(course, {student: (student, "Muster") for student in ("s001", "s002", "s003", "s004")})
    moodle = "{} Muster_{}_assignsubmission_{}/{}"
    right = hand_in(course, SampleSubmission("x")).read_text(encoding="utf-8")
    shutil.rmtree(course / "submitted" / "x")
    files = {
        moodle.format("s001", 1, "file", f"{FIRST}.ipynb"): right,
        moodle.format("s002", 2, "file", "homework.py"): "def softmax(scores): ...",
        moodle.format("s003", 3, "onlinetext", "onlinetext.html"): "<p>softmax",
    }
    with zipfile.ZipFile(course / "a.zip", "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    assert not collect(course, [course / "a.zip"], lesson=FIRST)
    assert "s002 (homework.py), s003 (onlinetext.html)" in capsys.readouterr().out
    grade(course)
    report(course)
    page = (course / "report.html").read_text(encoding="utf-8")
    assert (
        "Handed in, but no notebook: s002 Muster (s002): homework.py, s003 Muster (s003): onlinetext.html"
        in page
    )
    assert "Handed in nothing: s004 Muster (s004)" in page
    assert (course / "unplaced/s002" / FIRST / "homework.py").read_text() == "def softmax(scores): ..."


def test_a_file_of_another_name_than_the_lessons_is_graded_or_named(course, capsys):
    for student, name in {
        "renamed": f"{FIRST}.ipynb.txt",
        "capitals": f"{FIRST}.IPYNB",
        "script": "a.py",
    }.items():
        work = hand_in(course, SampleSubmission(student))
        work.rename(work.with_name(name))
    grade(course)
    said = capsys.readouterr().out
    found = points_of(course)
    assert (
        found["renamed"]["softmax"] == found["capitals"]["softmax"] == 7 and found["script"]["softmax"] == 0
    )
    assert f"there is no file {FIRST}.ipynb; the folder holds a.py" in said


# --- a teacher's own points, tasks and tests ----------------------------------------------------------------


def own_cells(notebook) -> None:
    """Change the points of three checks, and add a task and two tests as a teacher might: one test asserts
    something, the other shows a word.
    """
    for cell in notebook.cells:
        kind = cell.metadata.get("nbgrader", {})
        points = {
            "check-loops-softmax": 10,
            "check-loops-weighted_sum": 2,
            "check-loops-dot_product_scores": 0,
        }
        kind.update({"points": points[kind["grade_id"]]} if kind.get("grade_id") in points else {})
    plain = {"schema_version": 3, "locked": True, "solution": False, "points": 3}
    task = plain | {"grade_id": "my-essay", "grade": False, "task": True, "cell_type": "markdown"}
    notebook.cells.append(nbformat.v4.new_markdown_cell("Draw a map.", metadata={"nbgrader": task}))
    for name, text in {"my-test": "assert softmax(torch.zeros(2))[0] == 0.5", "my-word": "'fine'"}.items():
        test = plain | {"grade_id": name, "grade": True, "task": False, "cell_type": "code"}
        notebook.cells.append(nbformat.v4.new_code_cell(text, metadata={"nbgrader": test}))


OWN = {
    **{
        "dot_product_scores": 0,
        "softmax": 10,
        "weighted_sum": 2,
        "attention_from_loops": 6,
        "why_scale": None,
    },
    **{"my-essay": None, "my-test": 3, "my-word": None},
}


@pytest.fixture(scope="module")
def own_course(first_course, tmp_path_factory) -> Path:
    """A course in which the teacher has changed points and added cells; it is graded by `grade`."""
    course = Path(shutil.copytree(first_course, tmp_path_factory.mktemp("own") / "course"))
    change(course / "source" / FIRST / f"{FIRST}.ipynb", own_cells)
    nbgrader(course, "generate_assignment", FIRST, "--force")
    hand_in(course, SampleSubmission("right", written=WRITTEN))
    hand_in(course, SampleSubmission("partly", answers={SOFTMAX: "SMX-01"}, written=WRITTEN))
    hand_in(course, SampleSubmission("wrong", STUB, written=WRITTEN))
    autograder("grade", course, cwd=course)
    return course


def points_of(course: Path) -> dict:
    from autograder.grading.gradebook.table import read_rows
    from autograder.grading.submission.find import find_submissions

    return {
        row.student: row.points
        for row in read_rows(open_course(course), find_submissions(course, None, [FIRST]))
    }


def test_points_of_the_teachers_own_and_tests_and_tasks_count_as_in_nbgrader(own_course, tmp_path):
    found = points_of(own_course)
    assert found["right"] == OWN
    assert found["partly"]["softmax"] == pytest.approx(10 * 5 / 7, abs=0.001)
    assert found["wrong"] == dict.fromkeys(OWN, 0) | {"why_scale": None, "my-essay": None, "my-word": None}
    stock = shutil.copytree(own_course, tmp_path / "stock")
    nbgrader(stock, "autograde", FIRST, "--force")
    assert points_of(stock) == found
    nbgrader(stock, "generate_feedback", FIRST, "--student=right")
    page = (stock / "feedback/right" / FIRST / f"{FIRST}.html").read_text(encoding="utf-8")
    assert "✓ loops.softmax: right, 10 of 10 points" in page
    written_points(stock, FIRST, "right", "my-essay", 2.5)
    assert points_of(stock)["right"]["my-essay"] == 2.5


# --- odd files ----------------------------------------------------------------------------------------------


def strip(notebook) -> None:
    for cell in notebook.cells:
        cell.metadata = {}


def strip_ids_too(notebook) -> None:
    strip(notebook)
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        cell.pop("id")


def without_the_question(notebook) -> None:
    notebook.cells.remove(cell_named(notebook, "loops-why_scale"))


def test_whatever_is_handed_in_gets_a_page_and_no_answer_is_lost(course):
    for name, edit in {
        "no_metadata": strip,
        "no_ids": strip_ids_too,
        "no_question": without_the_question,
    }.items():
        change(hand_in(course, SampleSubmission(name, answers={SOFTMAX: "SMX-01"}, written=WRITTEN)), edit)
    work = hand_in(course, SampleSubmission("renamed", written=WRITTEN))
    work.rename(work.with_name("my <homework> (1).ipynb"))
    odd = {"empty": "", "damaged": '{"cells": [', "of_the_web": "<html>"}
    for name, text in odd.items():
        hand_in(course, SampleSubmission(name, file=text))
    (course / "submitted" / ".hidden" / FIRST).mkdir(parents=True)
    said = autograder("grade", course, cwd=course)
    assert ".hidden" in said and "begins with a dot" in said
    found = points_of(course)
    for name in ("no_metadata", "no_ids", "no_question"):
        assert found[name]["softmax"] == 5 and found[name]["why_scale"] is None, name
    assert found["renamed"]["softmax"] == 7 and found["renamed"]["why_scale"] is None
    nbgrader(course, "generate_feedback", FIRST)
    pages = {
        folder.parent.name: next(folder.glob("*.html")) for folder in (course / "feedback").glob(f"*/{FIRST}")
    }
    assert pages.keys() == found.keys()
    for name in odd:
        assert "Your notebook could not be graded" in pages[name].read_text(encoding="utf-8")


def test_an_answer_that_calls_one_that_is_not_written_says_for_which_it_waits(course):
    scores = "torch.stack([torch.stack([a @ b for b in k]) for a in q])"
    calls = f"return weighted_sum(softmax({scores} / q.shape[-1] ** 0.5), v)"
    answers = {SOFTMAX: STUB, "loops.attention_from_loops": calls}
    hand_in(course, SampleSubmission("ada", answers=answers))
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    page = (course / "feedback/ada" / FIRST / f"{FIRST}.html").read_text(encoding="utf-8")
    assert "attention_from_loops calls softmax, which is not written yet." in page
    assert "attention_from_loops is not written yet" not in page


# --- what students read -------------------------------------------------------------------------------------


def page_of(course: Path, student: str) -> str:
    return (course / "feedback" / student / FIRST / f"{FIRST}.html").read_text(encoding="utf-8")


def test_an_answer_that_waits_for_a_person_is_not_a_zero_on_the_feedback_page(course):
    hand_in(course, SampleSubmission("ada", written=WRITTEN))
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    page = page_of(course, "ada")
    assert f"{FIRST}: 21 of 21 points so far" in page
    assert "One answer is not graded yet and not in this total." in page
    assert "why scale</a>: not graded yet (4 points)" in page
    assert "Score: 0.0" not in page and "Not graded yet, of 4.0" in page
    written_points(course, FIRST, "ada", "loops-why_scale", 3.0)
    nbgrader(course, "generate_feedback", FIRST, "--force")
    page = page_of(course, "ada")
    assert f"{FIRST}: 24 of 25 points<" in page and "why scale</a>: 3 of 4" in page
    assert "graded yet" not in page


def test_what_is_the_lesson_s_own_is_folded_on_the_feedback_page(course):
    path = hand_in(course, SampleSubmission("ada", written=WRITTEN))
    change(
        path, lambda notebook: notebook.cells.insert(3, nbformat.v4.new_markdown_cell("A note of my own."))
    )
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    page = page_of(course, "ada")
    shown = re.sub(r'<details class="lesson">.*?</details>', "", page, flags=re.S)
    assert "A network starts with one list" in page and "A network starts with one list" not in shown
    for own in ("A note of my own.", "Softmax then puts", "✓ loops.softmax", "Student's answer"):
        assert own in shown
    assert page.count("<details") == page.count("</details>")


def test_changed_points_are_the_same_wherever_a_student_reads_them(course):
    def ten(notebook):
        cell_named(notebook, "check-loops-softmax").metadata.nbgrader.points = 10

    change(course / "source" / FIRST / f"{FIRST}.ipynb", ten)
    nbgrader(course, "generate_assignment", FIRST, "--force")
    row, old = "| `softmax` | 10 | 10 |", "| `softmax` | 7 | 10 |"
    released = nbformat.read(course / "release" / FIRST / f"{FIRST}.ipynb", as_version=4)
    assert row in released.cells[0].source and old not in released.cells[0].source
    hand_in(course, SampleSubmission("ada", answers={SOFTMAX: "SMX-01"}))
    before = hand_in(course, SampleSubmission("bo"))  # bo still has the earlier lesson
    change(
        before, lambda notebook: notebook.cells[0].update(source=notebook.cells[0].source.replace(row, old))
    )
    said = autograder("grade", course, cwd=course)
    autograder("report", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    assert "7.14" in said and "7.142" not in said
    report = (course / "report.html").read_text(encoding="utf-8")
    assert ">7.14<" in report and "7.142" not in report
    for student in ("ada", "bo"):
        page = page_of(course, student)
        assert "<td>10</td>" in page and "<td>7</td>" not in page
    assert "softmax</a>: 7.14 of 10" in page_of(course, "ada")
    graded = nbformat.read(course / "autograded" / "bo" / FIRST / f"{FIRST}.ipynb", as_version=4)
    assert not graded.cells[0].metadata.get("tags")  # it is not reported as changed by the student


@pytest.mark.parametrize("points", [7, 5], ids=["as the check", "fewer than the check gives"])
def test_validate_says_what_the_check_says_whatever_the_points(course, points):
    path = hand_in(course, SampleSubmission("ada", answers={SOFTMAX: "SMX-01"}, written=WRITTEN))

    def other_points(notebook):
        for cell in notebook.cells:
            kind = cell.metadata.get("nbgrader", {})
            if kind.get("grade") and kind.get("locked"):
                kind.points = 1 if points == 5 else kind.points
                kind.checksum = compute_checksum(cell)

    change(path, other_points)
    said = nbgrader(course, "validate", str(path))
    assert "Traceback" not in said and "Partial credit" not in said
    assert "VALIDATION FAILED ON 2 CELL" in said.upper()
    assert "What is exp(1000) in float32?" in said and "check(weighted_sum)" not in said


def test_a_team_in_brackets_gets_its_page(course):
    team = "[CS2103T-W12-2][Team] {a}"
    hand_in(course, SampleSubmission(team))
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    assert f"{FIRST}: 21 of 25 points" in page_of(course, team)
    shutil.rmtree(course / "feedback")
    nbgrader(course, "generate_feedback", FIRST, f"--student={team}")
    assert page_of(course, team)


CONFLICT = '<<<<<<< HEAD\n  "a": 1,\n=======\n  "a": 2,\n>>>>>>> main\n'
WORDS = {
    "conflict": "contains the conflict markers of an unfinished merge",
    "utf_16": "is not saved as UTF-8 text",
    "cut": "damaged, or not a notebook",
}


def test_an_odd_cell_or_a_mark_costs_no_points_and_what_cannot_be_read_says_why(course):
    text = hand_in(course, SampleSubmission("bom")).read_text(encoding="utf-8")
    (course / "submitted" / "bom" / FIRST / f"{FIRST}.ipynb").write_text("\ufeff" + text, encoding="utf-8")
    for number, odd in enumerate(
        (
            {"cell_type": "code", "source": None, "metadata": {}, "outputs": []},
            {"cell_type": "markdown", "source": None, "metadata": {}},
            {"cell_type": "markdown", "metadata": {}},
            {"cell_type": "sql", "source": "select 1", "metadata": {}},
            None,
        )
    ):
        content = json.loads(text)
        content["cells"].insert(2, odd)
        hand_in(course, SampleSubmission(f"odd_{number}", file=json.dumps(content)))
    hand_in(course, SampleSubmission("conflict", file=text.replace("{", "{\n" + CONFLICT, 1)))
    hand_in(course, SampleSubmission("cut", file=text[: len(text) // 2]))
    hand_in(course, SampleSubmission("utf_16")).write_text(text, encoding="utf-16")
    autograder("grade", course, cwd=course)
    nbgrader(course, "generate_feedback", FIRST)
    points = points_of(course)
    for name in ("bom", *(f"odd_{number}" for number in range(5))):
        assert sum(value or 0 for value in points[name].values()) == CHECKS, name
    for name, words in WORDS.items():
        assert words in page_of(course, name)
