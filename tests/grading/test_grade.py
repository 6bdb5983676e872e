"""Tests that a course has the same gradebook whether it is graded with nbgrader's stock commands or with our
`grade`, and that both grade as they should.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from gradebooks import scores_in

from autograder.errors import UserError
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, STUB, WARNS, WRITTEN, SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.gradebook.table import read_rows
from autograder.grading.parallel import local
from autograder.grading.submission.find import find_submissions

NBGRADER = str(Path(sys.executable).with_name("nbgrader"))
FULL = {"dot_product_scores": 4, "softmax": 7, "weighted_sum": 4, "attention_from_loops": 6}


def nbgrader(folder: Path, *words: str) -> str:
    """Run a stock command of nbgrader in the course's folder, as an instructor would; return its output."""
    done = subprocess.run([NBGRADER, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def change(path: Path, edit) -> None:
    """Apply `edit(notebook)` to a notebook that was handed in."""
    notebook = nbformat.read(path, as_version=4)
    edit(notebook)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")


def claim_more_points(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("locked"):
            cell.metadata.nbgrader.update(points=1000, locked=False, solution=True)
            cell.source = "1000.0"


def add_scripts(notebook):
    notebook.cells.insert(
        0, nbformat.v4.new_markdown_cell('<script>alert("hello")</script>\n\n[go](javascript:alert(1))')
    )


@pytest.fixture(scope="module")
def stock(empty_course, tmp_path_factory):
    """The folder of a course that was graded with nbgrader's stock commands."""
    folder = shutil.copytree(empty_course, tmp_path_factory.mktemp("stock") / "moved")
    nbgrader(folder, "generate_assignment", FIRST, "--force")
    hand_in(folder, SampleSubmission("resubmitter"))
    nbgrader(folder, "autograde", FIRST)
    assert scores(folder)["resubmitter"] == FULL | {"why_scale": 0}

    hand_in(folder, SampleSubmission("stub", STUB))
    change(hand_in(folder, SampleSubmission("solution", written=WRITTEN)), add_scripts)
    hand_in(folder, SampleSubmission("partly", answers={SOFTMAX: "SMX-01", "loops.weighted_sum": "LOOP-17"}))
    hand_in(folder, SampleSubmission("warns", answers={SOFTMAX: WARNS}))
    change(hand_in(folder, SampleSubmission("inflater", STUB)), claim_more_points)
    hand_in(folder, SampleSubmission("resubmitter", STUB, without_checks=True))
    nbgrader(folder, "autograde", FIRST, "--force")
    return folder


def scores(folder: Path) -> dict[str, dict[str, float | None]]:
    api = open_course(folder)
    rows = read_rows(api, find_submissions(folder, None, [FIRST]))
    return {row.student: row.points for row in rows}


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


@pytest.mark.parametrize("student", ["inflater", "resubmitter"])
def test_tampering_gains_and_keeps_nothing(stock, student):
    assert sum(points or 0 for points in scores(stock)[student].values()) == 0


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


def test_stock_validate(stock):
    said = nbgrader(stock, "validate", f"release/{FIRST}/{FIRST}.ipynb")
    assert "failed" in said and "loops.softmax: not started" in said
    assert "Traceback (most" not in said


# --- our grading --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(empty_course, tmp_path_factory):
    """A small class, graded by `grade`: (folder, rows by student)."""
    folder = shutil.copytree(empty_course, tmp_path_factory.mktemp("graded") / "course")
    hand_in(folder, SampleSubmission("right", written=WRITTEN))
    hand_in(folder, SampleSubmission("empty", file=""))
    hand_in(folder, SampleSubmission("damaged", file='{"cells": ['))
    (folder / "submitted" / "missing" / FIRST).mkdir(parents=True)
    before = snapshot(folder / "submitted")
    rows = {row.student: row for row in grade(folder)}
    assert snapshot(folder / "submitted") == before
    return folder, rows


def snapshot(folder: Path) -> dict:
    files = {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
    return {str(path): (held, path.stat().st_mode, path.stat().st_mtime_ns) for path, held in files.items()}


def test_unreadable_notebooks_are_flagged_and_stop_nobody(graded):
    _, rows = graded
    assert rows["right"].points == FULL | {"why_scale": None}
    assert rows["right"].state == "1 answer to grade by hand"
    for student, words in {"empty": "empty file", "damaged": "cannot be read", "missing": "no file"}.items():
        assert rows[student].total == 0
        assert words in rows[student].problem


def test_a_second_run_grades_nothing_again(graded, capsys, monkeypatch):
    folder, rows = graded
    monkeypatch.setattr(local, "ForkServer", None)  # so nothing can be run
    before = [snapshot(folder / name) for name in ("autograded", f".grading/{FIRST}")]
    assert {row.student: row for row in grade(folder, as_json=True)} == rows
    assert [snapshot(folder / name) for name in ("autograded", f".grading/{FIRST}")] == before
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["student"] for line in lines] == ["damaged", "empty", "missing", "right"]
    assert lines[3]["total"] == sum(FULL.values())
    assert lines[3]["needs_grading_by_hand"] is True


def test_a_gradebook_made_anew_is_filled_again(graded, empty_course, tmp_path):
    folder = shutil.copytree(graded[0], tmp_path / "course")
    shutil.copy(empty_course / "gradebook.db", folder / "gradebook.db")
    assert {row.student: row for row in grade(folder)} == graded[1]


def test_bad_requests(graded):
    folder, _ = graded
    with pytest.raises(UserError, match="is not a lesson"):
        grade(folder, "77_nothing")
    with pytest.raises(UserError, match="at least 1"):
        grade(folder, workers=0)


def test_nothing_handed_in(empty_course):
    with pytest.raises(UserError, match="nothing has been handed in"):
        grade(empty_course)


# --- the same gradebook either way --------------------------------------------------------------------------


def hands_in_late(folder: Path) -> None:
    """Hand in one submission before the due date and one after it; set the penalty so that the late one loses
    all its points.
    """
    with open_course(folder).gradebook as book:
        book.update_or_create_assignment(FIRST, duedate="2026-01-02 00:00:00 UTC")
    for student, day in {"early": 1, "late": 3}.items():
        notebook = hand_in(folder, SampleSubmission(student, written=WRITTEN))
        (notebook.parent / "timestamp.txt").write_text(f"2026-01-0{day} 12:00:00 UTC")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")


def names_under(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_grade_and_autograde_write_the_same_gradebook(empty_course, tmp_path):
    mine, theirs = (shutil.copytree(empty_course, tmp_path / name) for name in ("mine", "theirs"))
    for folder in (mine, theirs):
        hands_in_late(folder)
        hand_in(folder, SampleSubmission("partly", answers={SOFTMAX: "SMX-01"}))
        hand_in(folder, SampleSubmission("stub", STUB))
    nbgrader(theirs, "autograde", FIRST)
    grade(mine)
    assert scores_in(mine) == scores_in(theirs)
    penalties = {row.student: row.penalty for row in scores_in(mine)}
    assert penalties["late"] == sum(FULL.values()) and not penalties["early"]
    assert names_under(mine / "autograded") == names_under(theirs / "autograded")


def test_what_a_person_graded_stays_and_is_to_be_looked_at_again(course):
    hand_in(course, SampleSubmission("ada", written=WRITTEN))
    grade(course)
    with open_course(course).gradebook as book:
        row = book.find_grade("loops-why_scale", FIRST, FIRST, "ada")
        row.manual_score, row.needs_manual_grade = 2.0, False
        book.db.commit()
    hand_in(course, SampleSubmission("ada", answers={SOFTMAX: "SMX-01"}, written=WRITTEN + " Or so."))
    (row,) = grade(course)
    assert row.points["why_scale"] == 2.0 and row.points["softmax"] == 5.0
    with open_course(course).gradebook as book:
        assert book.find_grade("loops-why_scale", FIRST, FIRST, "ada").needs_manual_grade
