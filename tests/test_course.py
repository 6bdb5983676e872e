"""A course made from the real lessons, graded with nbgrader's stock commands and with ours."""

import csv
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from autograder.build import find_lessons
from autograder.build.notebooks import as_text, student_notebook
from autograder.errors import UserError
from autograder.grading import course as course_module
from autograder.grading.course import make_course, open_course
from autograder.grading.demo import hand_in, notebook_text
from autograder.grading.grade import grade
from autograder.grading.intake import Refused, read_notebook
from autograder.grading.safe_html import clean
from autograder.grading.sample_class import (
    AGAIN,
    CLASS,
    FIRST,
    RIGHT,
    SOFTMAX,
    STUB,
    WARNS,
    WRITTEN,
    WRONG,
    HandsIn,
)
from autograder.grading.submission import Submission, find_submissions, is_done
from autograder.grading.table import Row, read_rows, table
from autograder.grading.verdicts import verdict

NBGRADER = str(Path(sys.executable).with_name("nbgrader"))
SECRET_MOVE = "check = lambda *answer, **how: None\n"
FULL = {"dot_product_scores": 4, "softmax": 7, "weighted_sum": 4, "attention_from_loops": 6}


def nbgrader(folder: Path, *words: str) -> str:
    """Runs a stock command in the course's folder, as an instructor would."""
    done = subprocess.run([NBGRADER, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def change(path: Path, edit) -> None:
    """Applies `edit(notebook)` to a notebook that was handed in."""
    notebook = nbformat.read(path, as_version=4)
    edit(notebook)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")


def kind_of(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


def skip_checks(notebook):
    for cell in notebook.cells:
        if kind_of(cell).get("locked"):
            cell.metadata["tags"] = ["skip-execution"]


def claim_more_points(notebook):
    for cell in notebook.cells:
        if kind_of(cell).get("locked"):
            cell.metadata.nbgrader.update(points=1000, locked=False, solution=True)
            cell.source = "1000.0"


def silence_check(notebook):
    first = next(cell for cell in notebook.cells if kind_of(cell).get("solution"))
    first.source = SECRET_MOVE + first.source


def delete_answers_and_checks(notebook):
    notebook.cells = [cell for cell in notebook.cells if not kind_of(cell)]


def add_scripts(notebook):
    notebook.cells.insert(
        0, nbformat.v4.new_markdown_cell('<script>alert("hello")</script>\n\n[go](javascript:alert(1))')
    )


EDITS = {
    "skipper": skip_checks,
    "inflater": claim_more_points,
    "silencer": silence_check,
    "deleter": delete_answers_and_checks,
}


@pytest.fixture(scope="module")
def empty_course(tmp_path_factory):
    """A course in which nothing was handed in yet; tests copy it."""
    return make_course(tmp_path_factory.mktemp("courses") / "course")


@pytest.fixture(scope="module")
def stock(empty_course, tmp_path_factory):
    """A course graded with the stock commands, and the scores: {student: {exercise: points}}."""
    folder = tmp_path_factory.mktemp("stock") / "moved"
    shutil.copytree(empty_course, folder)
    nbgrader(folder, "generate_assignment", FIRST, "--force")
    hand_in(folder, HandsIn("resubmitter"))
    nbgrader(folder, "autograde", FIRST)
    assert scores(folder)["resubmitter"] == FULL | {"why_scale": 0}

    hand_in(folder, HandsIn("stub", STUB))
    change(hand_in(folder, HandsIn("solution", written=WRITTEN)), add_scripts)
    hand_in(folder, HandsIn("partly", answers={SOFTMAX: "SMX-01", "loops.weighted_sum": "LOOP-17"}))
    hand_in(folder, HandsIn("warns", answers={SOFTMAX: WARNS}))
    for student, edit in EDITS.items():
        change(hand_in(folder, HandsIn(student, STUB)), edit)
    hand_in(folder, HandsIn("resubmitter", STUB, without_checks=True))
    nbgrader(folder, "autograde", FIRST, "--force")
    return folder


def scores(folder: Path) -> dict[str, dict[str, float | None]]:
    api = open_course(folder)
    rows = read_rows(api, find_submissions(folder, None, [FIRST]))
    return {row.student: row.points for row in rows}


# --- making a course ----------------------------------------------------------------------------------------


def test_a_course_has_what_nbgrader_expects(empty_course):
    names = {path.name for path in empty_course.iterdir()}
    assert names == {"nbgrader_config.py", "source", "release", "submitted", "gradebook.db", ".secret"}
    for lesson in find_lessons(None):
        released = empty_course / "release" / lesson.name / f"{lesson.name}.ipynb"
        assert nbformat.read(released, as_version=4) == nbformat.reads(as_text(student_notebook(lesson)), 4)


def test_the_secret_is_the_teachers_alone(empty_course, tmp_path):
    secret = (empty_course / ".secret").read_text()
    assert stat.S_IMODE((empty_course / ".secret").stat().st_mode) == 0o600
    assert len(secret.strip()) == 64
    assert secret != (make_course(tmp_path / "other") / ".secret").read_text()
    for path in (empty_course / "release").rglob("*.ipynb"):
        assert secret.strip() not in path.read_text(encoding="utf-8")


def test_an_existing_folder_is_not_harmed(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    for folder in (tmp_path, tmp_path / "mine.txt", tmp_path / "no" / "such" / "place"):
        with pytest.raises(UserError):
            make_course(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "precious"


def test_an_empty_folder_may_be_used(tmp_path, monkeypatch):
    monkeypatch.setattr(
        course_module, "_fill", lambda folder: (folder / "file").write_text("x") and ["a lesson"]
    )
    (tmp_path / "course").mkdir()
    assert make_course(tmp_path / "course") / "file" in list((tmp_path / "course").iterdir())


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), UserError("no"), KeyboardInterrupt()]
)
def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch, error):
    def fail(folder):
        (folder / "half").write_text("made")
        raise error

    monkeypatch.setattr(course_module, "_fill", fail)
    with pytest.raises((UserError, KeyboardInterrupt)):
        make_course(tmp_path / "course")
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written():
    with pytest.raises(UserError, match="cannot be written"):
        make_course("/proc/course")


def test_a_folder_that_is_no_course(tmp_path):
    with pytest.raises(UserError, match="is no course"):
        grade(tmp_path)


# --- stock commands -----------------------------------------------------------------------------------------


def test_stock_autograde_scores_as_it_should(stock):
    graded = scores(stock)
    assert graded["stub"] == dict.fromkeys(FULL, 0) | {"why_scale": 0}
    assert graded["solution"] == FULL | {"why_scale": None}
    assert graded["warns"] == FULL | {"why_scale": 0}
    assert graded["partly"] == FULL | {
        "softmax": 5,
        "weighted_sum": 0,
        "attention_from_loops": 5,
        "why_scale": 0,
    }


@pytest.mark.parametrize("student", [*EDITS, "resubmitter"])
def test_tampering_gains_and_keeps_nothing(stock, student):
    assert sum(points or 0 for points in scores(stock)[student].values()) == 0
    with sqlite3.connect(stock / "gradebook.db") as gradebook:
        assert gradebook.execute(
            "select sum(max_score) from grade_cells join base_cell using (id)"
        ).fetchone()


def test_the_grader_sees_marking_schemes_and_students_do_not(stock):
    nbgrader(stock, "generate_feedback", FIRST)
    for student in ("solution", "partly"):
        page = (stock / "feedback" / student / FIRST / f"{FIRST}.html").read_text(encoding="utf-8")
        graded = (stock / "autograded" / student / FIRST / f"{FIRST}.ipynb").read_text(encoding="utf-8")
        assert "**Marking scheme**" in graded
        for hidden in (
            "Marking scheme",
            "HIDDEN TESTS",
            "hidden=True",
            "<script>alert",
            "javascript:alert",
            "Traceback (most",
            (stock / ".secret").read_text().strip(),
        ):
            assert hidden not in page
        assert 'src="data:image/png' in page
        assert "jupyter.widget-view" not in page
    assert "What is exp(1000) in float32?" in page


def test_stock_export_and_validate(stock):
    nbgrader(stock, "export")
    rows = {
        row["student_id"]: row
        for row in csv.DictReader((stock / "grades.csv").open(encoding="utf-8"))
        if row["assignment"] == FIRST
    }
    assert float(rows["solution"]["score"]) == sum(FULL.values())
    assert float(rows["stub"]["score"]) == 0
    said = nbgrader(stock, "validate", f"release/{FIRST}/{FIRST}.ipynb")
    assert "failed" in said
    assert "Traceback (most" not in said


# --- our grading --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(empty_course, tmp_path_factory):
    """A small class, graded by `grade`."""
    folder = tmp_path_factory.mktemp("graded") / "course"
    shutil.copytree(empty_course, folder)
    hand_in(folder, HandsIn("right", written=WRITTEN))
    hand_in(folder, HandsIn("empty", file=""))
    hand_in(folder, HandsIn("damaged", file='{"cells": ['))
    (folder / "submitted" / "missing" / FIRST).mkdir(parents=True)
    before = snapshot(folder / "submitted")
    rows = {row.student: row for row in grade(folder)}
    assert snapshot(folder / "submitted") == before
    return folder, rows


def snapshot(folder: Path) -> dict:
    return {
        str(path): (path.read_bytes() if path.is_file() else None, path.stat().st_mode)
        for path in folder.rglob("*")
    }


def test_unreadable_notebooks_are_flagged_and_stop_nobody(graded):
    _, rows = graded
    assert rows["right"].points == FULL | {"why_scale": None}
    assert rows["right"].state == "1 answer to grade by hand"
    for student, words in {"empty": "empty file", "damaged": "cannot be read", "missing": "no file"}.items():
        assert rows[student].total == 0
        assert words in rows[student].problem


def test_a_second_run_grades_nothing_again(graded, capsys):
    folder, rows = graded
    before = snapshot(folder / "autograded")
    times = [path.stat().st_mtime_ns for path in (folder / "autograded").rglob("*")]
    assert {row.student: row for row in grade(folder, as_json=True)} == rows
    assert snapshot(folder / "autograded") == before
    assert times == [path.stat().st_mtime_ns for path in (folder / "autograded").rglob("*")]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["student"] for line in lines] == ["damaged", "empty", "missing", "right"]
    assert lines[3]["total"] == sum(FULL.values())
    assert lines[3]["needs_grading_by_hand"] is True


def test_what_counts_as_done(graded, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(graded[0], folder)
    work = Submission(folder, "right", FIRST)
    assert is_done(work)
    notebook = work.autograded / f"{FIRST}.ipynb"
    notebook.rename(notebook.with_suffix(".half"))
    assert not is_done(work)
    notebook.with_suffix(".half").rename(notebook)
    assert is_done(work)
    hand_in(folder, HandsIn("right", STUB))
    assert not is_done(work)
    work.record.write_text("half of a recor")
    assert not is_done(work)


def test_a_gradebook_made_anew_is_filled_again(graded, empty_course, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(graded[0], folder)
    shutil.copy(empty_course / "gradebook.db", folder / "gradebook.db")
    assert {row.student: row for row in grade(folder)} == graded[1]


def test_grading_goes_on_after_a_kill(empty_course, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(empty_course, folder)
    hand_in(folder, HandsIn("first", STUB))
    hand_in(folder, HandsIn("second", STUB))
    run = subprocess.Popen(
        [sys.executable, "-c", f"from autograder.grading.grade import grade; grade({str(folder)!r})"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    autograded = folder / "autograded"
    while not list(autograded.rglob("*.ipynb")) and run.poll() is None:
        pass
    run.kill()
    run.wait()
    assert [row.state for row in grade(folder, workers=1)] == ["graded", "graded"]


def test_bad_requests(graded):
    folder, _ = graded
    with pytest.raises(UserError, match="is no lesson"):
        grade(folder, "77_nothing")
    with pytest.raises(UserError, match="at least 1"):
        grade(folder, workers=0)


def test_nothing_handed_in(empty_course):
    with pytest.raises(UserError, match="nothing was handed in"):
        grade(empty_course)


# --- single parts -------------------------------------------------------------------------------------------


def outputs(*texts):
    return [new_output("execute_result", data={"text/plain": text}) for text in texts]


@pytest.mark.parametrize(
    "text, points",
    [
        ("3.0", 3.0),
        ("0.0", 0.0),
        ("7", 7.0),
        ("7.5", None),
        ("nan", None),
        ("-1.0", None),
        ("True", None),
        ("np.float64(0.0)", None),
        ("tensor(7.)", None),
        ("'7.0'", None),
        ("inf", None),
        ("", None),
        ("7.0\n7.0", None),
    ],
)
def test_only_a_plain_float_is_a_verdict(text, points):
    assert verdict(outputs(text), 7.0) == points


def test_verdicts_of_several_outputs():
    error = new_output("error", ename="CheckFailed", evalue="", traceback=[])
    warning = new_output("stream", name="stderr", text="a warning")
    assert verdict([], 7.0) is None
    assert verdict([warning], 7.0) is None
    assert verdict([warning, *outputs("7.0")], 7.0) == 7.0
    assert verdict([*outputs("7.0"), error], 7.0) == 0.0
    assert verdict(outputs("7.0", "3.0"), 7.0) == 3.0


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="javascript:alert(1)">x</a>',
        "<iframe src='//x'></iframe>",
        "<svg onload=alert(1)></svg>",
        "<p style='background:url(//x)'>x</p>",
        '<img src="http://x/y.png">',
        '<a href="data:text/html,x">x</a>',
        "<form action=//x><input></form>",
    ],
)
def test_what_students_write_is_safe_to_look_at(html):
    cleaned = clean(html).replace("&lt;", "")
    for bad in (
        "<script",
        "onerror=alert(1)>",
        "javascript:",
        "<iframe",
        "<svg",
        "url(",
        "http://x",
        "data:text",
        "<form",
        "<input",
    ):
        assert bad not in cleaned


def test_what_is_harmless_stays():
    table = '<table><tbody><tr><th style="text-align: left;">a</th></tr></tbody></table>'
    html = table + '<img src="data:image/png;base64,AA" alt="b">'
    assert clean(html) == html


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "{", "[]", "{}", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5}', '{"nbformat": 99}'],
)
def test_files_that_are_no_notebooks(tmp_path, text):
    (tmp_path / "a.ipynb").write_text(text)
    with pytest.raises(Refused):
        read_notebook(tmp_path / "a.ipynb")


def test_links_are_not_followed(tmp_path, empty_course):
    released = empty_course / "release" / FIRST / f"{FIRST}.ipynb"
    os.symlink(released, tmp_path / "link.ipynb")
    with pytest.raises(Refused, match="is a link"):
        read_notebook(tmp_path / "link.ipynb")
    assert read_notebook(released).cells


def test_the_table():
    best = {"softmax": 7.0, "why_scale": 3.0}
    rows = [
        Row("ada", FIRST, {"softmax": 6.5, "why_scale": None}, best),
        Row("bo", FIRST, {"softmax": 0.0, "why_scale": 0.0}, best, "the notebook is an empty file"),
    ]
    lines = table(rows).splitlines()
    assert lines[0] == FIRST
    assert [line.split() for line in lines[2:5]] == [
        ["why"],
        ["student", "softmax", "scale", "total", "state"],
        ["out", "of", "7", "3", "10"],
    ]
    assert lines[6].split()[:4] == ["ada", "6.5", "?", "6.5"]
    assert lines[7].endswith("the notebook is an empty file")
    assert "2 submissions, on average 3.2 of 10 points" in lines[-1]


# --- the sample class ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise_id, mistake", WRONG)
def test_wrong_answers_of_the_sample_class_are_the_mistakes_they_claim(empty_course, exercise_id, mistake):
    """What is typed into the notebook is a wrong answer, and the judge sees which."""
    from autograder.exercises import find
    from autograder.judge import cases_of, judge
    from autograder.probe import probe

    exercise = find(exercise_id)
    work = HandsIn("somebody", answers={exercise_id: mistake}, lesson=exercise.lesson)
    names = {}
    for cell in nbformat.reads(notebook_text(empty_course, work), as_version=4).cells:
        if cell.cell_type == "code" and (kind_of(cell).get("solution") or cell.source.startswith("import")):
            exec(cell.source, names)
    cases = cases_of(exercise)
    found = judge(exercise, cases, probe(names[exercise.name], cases, exercise.procedure))
    assert found.points < exercise.points
    assert found.mistake == mistake


def test_the_sample_class_is_a_class():
    students = [work.student for work in CLASS if work.lesson == FIRST]
    assert len(set(students)) == len(students) == 20
    assert AGAIN.student in students
    assert replace(AGAIN, written="") == HandsIn(AGAIN.student, RIGHT)


# --- the same gradebook either way --------------------------------------------------------------------------


def everything(folder: Path) -> list[tuple]:
    """What the gradebook holds of every submission: scores, comments, penalties, time stamps."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        return database.execute("""
            select student.id, timestamp, late_submission_penalty, base_cell.name, auto_score, manual_score,
                   needs_manual_grade, comment.auto_comment
            from submitted_notebook
            join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
            join student on student.id = submitted_assignment.student_id
            join grade on grade.notebook_id = submitted_notebook.id
            join base_cell on base_cell.id = grade.cell_id
            left join comment on comment.notebook_id = submitted_notebook.id and comment.cell_id = base_cell.id
            order by 1, 4""").fetchall()


def hands_in_late(folder: Path) -> None:
    """Two submissions with time stamps, one of them after the due date, which takes all points."""
    with open_course(folder).gradebook as book:
        book.update_or_create_assignment(FIRST, duedate="2026-01-02 00:00:00 UTC")
    for student, day in {"early": 1, "late": 3}.items():
        notebook = hand_in(folder, HandsIn(student, written=WRITTEN))
        (notebook.parent / "timestamp.txt").write_text(f"2026-01-0{day} 12:00:00 UTC")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")


def names_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_grade_and_autograde_write_the_same_gradebook(empty_course, tmp_path):
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    for folder in (mine, theirs):
        shutil.copytree(empty_course, folder)
        hands_in_late(folder)
        hand_in(folder, HandsIn("partly", answers={SOFTMAX: "SMX-01"}))
        hand_in(folder, HandsIn("stub", STUB))
    nbgrader(theirs, "autograde", FIRST)
    grade(mine)
    assert everything(mine) == everything(theirs)
    penalties = {row[0]: row[2] for row in everything(mine)}
    assert penalties["late"] == sum(FULL.values()) and not penalties["early"]
    assert names_under(mine / "autograded") == names_under(theirs / "autograded")


def test_what_a_person_graded_stays_and_is_to_be_looked_at_again(empty_course, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(empty_course, folder)
    hand_in(folder, HandsIn("ada", written=WRITTEN))
    grade(folder)
    with open_course(folder).gradebook as book:
        row = book.find_grade("loops-why_scale", FIRST, FIRST, "ada")
        row.manual_score, row.needs_manual_grade = 2.0, False
        book.db.commit()
    hand_in(folder, HandsIn("ada", answers={SOFTMAX: "SMX-01"}, written=WRITTEN + " Or so."))
    (row,) = grade(folder)
    assert row.points["why_scale"] == 2.0 and row.points["softmax"] == 5.0
    with open_course(folder).gradebook as book:
        assert book.find_grade("loops-why_scale", FIRST, FIRST, "ada").needs_manual_grade
