"""Tests the CSV files that the real `nbgrader export` writes: grades for Canvas and for Moodle, and
nbgrader's own table.
"""

import csv
import io
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from autograder.grading.course.make import CONFIG
from autograder.grading.gradebook.exporters import CanvasExporter, quoted
from autograder.grading.gradebook.open_course import open_course

WORKS = (("ada", "one", 7.25, 0), ("ada", "two", 9, 1), ("@eve", "one", 1, 2))  # points, and days late
RULE = """
from nbgrader.plugins import LateSubmissionPlugin
class PerDay(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 2.5 * total_seconds_late / 86400
c.AssignLatePenalties.plugin_class = PerDay
"""
DUE = datetime(2026, 1, 1)
HOSTILE = '=HYPERLINK("http://example.org","x")'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a gradebook with three lessons, hostile names, late submissions, and a submission that
    waits for a grader. Nobody has handed in the third lesson.
    """
    folder = tmp_path_factory.mktemp("grades")
    (folder / "nbgrader_config.py").write_text(CONFIG + RULE)
    with open_course(folder).gradebook as book:
        for lesson in ("one", "two", "nobody_did"):
            book.add_assignment(lesson, duedate=DUE)
            book.add_notebook(lesson, lesson)
            book.add_grade_cell("g", lesson, lesson, max_score=10, cell_type="code")
        book.add_student(
            "ada", first_name="Ada, the first", last_name='"Love"\nlace', email="ada@example.org"
        )
        book.add_student("@eve", first_name=HOSTILE, last_name="\tTab", email="-1")
        book.add_student("nothing")
        for student, lesson, points, days_late in WORKS:
            work = book.add_submission(lesson, student, timestamp=DUE + timedelta(days_late))
            grade = work.notebooks[0].grades[0]
            grade.auto_score, grade.needs_manual_grade = points, False
        grade.auto_score, grade.needs_manual_grade = None, True
        again = book.find_grade("g", "one", "one", "ada")
        again.auto_score, again.manual_score, again.needs_manual_grade = None, 7.25, True
        book.db.commit()
    return folder


@pytest.fixture(scope="module")
def exported(folder):
    """The files that the real commands write: {exporter: (rows, what was printed)}."""
    return {name: by_command(folder, name) for name in ("CanvasExporter", "MoodleExporter", "")}


def by_command(folder: Path, exporter: str) -> tuple[list[list[str]], str]:
    program = str(Path(sys.executable).with_name("nbgrader"))
    call = [program, "export", "--to", f"{exporter}.csv"]
    if exporter:
        call.append(f"--exporter=autograder.grading.gradebook.exporters.{exporter}")
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return rows_of(folder / f"{exporter}.csv"), done.stdout + done.stderr


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_canvas_gets_its_columns_and_the_points_possible(exported):
    rows, _ = exported["CanvasExporter"]
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "one", "two"]
    assert rows[1] == ["    Points Possible", "", "", "", "", "10", "10"]
    by_login = {row[3]: row for row in rows[2:]}
    assert by_login["ada"] == ['"Love"\nlace, Ada, the first', "", "", "ada", "", "7.25", "6.5"]
    assert by_login["nothing"] == ["nothing", "", "", "nothing", "", "", ""]


def test_moodle_gets_its_columns(exported):
    rows, _ = exported["MoodleExporter"]
    assert rows[0] == ["First name", "Last name", "Username", "ID number", "Email address", "one", "two"]
    ada = next(row for row in rows if row[2] == "ada")
    assert ada == ["Ada, the first", '"Love"\nlace', "ada", "ada", "ada@example.org", "7.25", "6.5"]


def test_a_grade_does_not_fall_below_zero_by_being_late(exported):
    rows, _ = exported["MoodleExporter"]
    assert [row[5:] for row in rows if row[2] == "'@eve"] == [["0", ""]]


def test_nbgraders_own_table_has_nbgraders_columns(exported):
    rows, _ = exported[""]
    assert len(rows) == 1 + 3 * 3
    ada = next(dict(zip(rows[0], row)) for row in rows if row[0] == "two" and row[3] == "ada")
    assert (ada["student_id"], ada["raw_score"], ada["late_submission_penalty"]) == ("ada", "9", "2.5")
    assert (ada["score"], ada["max_score"], ada["duedate"]) == ("6.5", "10", "2026-01-01 00:00:00")


@pytest.mark.parametrize("exporter", ["CanvasExporter", "MoodleExporter", ""])
def test_no_cell_is_a_formula(exported, exporter):
    rows, _ = exported[exporter]
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert any(cell.endswith(HOSTILE) or cell == f"'{HOSTILE}" for cell in cells)
    assert "'@eve" in cells


def test_what_waits_for_a_grader_is_said(exported):
    _, said = exported["CanvasExporter"]
    assert "one: 1 still to be graded by hand" in said
    assert "one: 1 graded again since you gave points by hand; those points stay" in said
    assert "two: " not in said


def test_lessons_and_students_can_be_chosen_also_where_nobody_handed_in(folder):
    path = folder / "chosen.csv"
    exporter = CanvasExporter(to=str(path), assignment=["nobody_did"], student=["ada"])
    with open_course(folder).gradebook as book:
        exporter.export(book)
    assert [row[3:4] + row[5:] for row in rows_of(path)[::2]] == [["SIS Login ID", "nobody_did"], ["ada", ""]]


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    " =1",
    "\x00=1",
    "\u00a0\ufeff=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠A1",
    "−1",
]


@pytest.mark.parametrize("text", [*FORMULAS, "\tTab", "\r", "\n1"], ids=ascii)
def test_a_text_that_a_spreadsheet_would_compute_or_drop_isquoted(text):
    assert quoted(text) == f"'{text}"


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
@pytest.mark.parametrize("separator", [";", "\t", "\n", "\r\n", "|", "\u2028"], ids=ascii)
def test_no_part_of_a_text_is_a_formula_whatever_separates_cells(text, separator):
    cell = quoted(f"a{separator}{text}{separator}{text}")
    assert re.split(r"[;\t\n\r|\u2028]+", cell) == ["a", f"'{text}", f"'{text}"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"], ids=ascii)
@pytest.mark.parametrize("name", ["a{}=1+1", '"a{}"=1+1"', "{}=1+1", "a{} \u200b＝1", 'a{}"" =1', "=1{}=1"])
def test_no_cell_of_the_file_is_a_formula_whatever_a_spreadsheet_splits_at(separator, name):
    text = quoted(name.format(separator if separator != "," else ";"))
    file = io.StringIO()
    csv.writer(file).writerow(["ada", text, "7"])
    for row in csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=separator):
        cells = [cell.strip('"\u200b \r\n') for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "＝"))]


@pytest.mark.parametrize("text", ["Ada", "Lovelace-King", "a;b", "a = b", "O'Neill", "x-1; y", "山田　太郎"])
def test_other_texts_stay_as_they_are(text):
    assert quoted(text) == text


@pytest.mark.parametrize(("number", "text"), [(-1.5, "-1.5"), (7.0, "7"), (1 / 3, "0.33"), (None, "")])
def test_numbers_stay_numbers(number, text):
    assert quoted(number) == text


def test_what_is_newer_than_its_grade_and_who_is_a_stranger_is_said(folder):
    """Keep this test last in the file: what it puts into the course stays there."""
    for student, lesson in (("ada", "two"), ("@eve", "one")):
        place = folder / "submitted" / student / lesson
        place.mkdir(parents=True)
        (place / f"{lesson}.ipynb").write_text("{}")
    _, said = by_command(folder, "CanvasExporter")
    assert "two: submissions not graded in their latest version: 1; run `grade` first" in said
    assert (
        "one: submissions not graded in their latest version: 1" in said
        and "nobody_did: submissions" not in said
    )
    assert "not in the class list that was imported: nothing" in said
