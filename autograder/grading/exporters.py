"""Grades as CSV files that learning-management systems import: exporters for nbgrader.

    nbgrader export --exporter=autograder.grading.exporters.CanvasExporter --to canvas.csv
    nbgrader export --exporter=autograder.grading.exporters.MoodleExporter --to moodle.csv

nbgrader's --student and --assignment choose whose and which grades; as it stands, all lessons in which anything was
handed in. A grade is the score less the late penalty; who handed in nothing has an empty cell. Where answers are
still to be graded by hand, a warning says so. A text that a spreadsheet would compute (it begins with =, +, -, @, a
tab or a return) gets an apostrophe in front.
"""

import csv
import os
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class LmsExporter(ExportPlugin):
    """Rows of one student each, with a column for each lesson. What differs is in the two exporters below."""

    default_name = ""

    def export(self, gradebook) -> None:
        """Writes the file that --to names."""
        path = Path(self.to or self.default_name)
        chosen = {str(name) for name in self.assignment}
        lessons = [a for a in gradebook.assignments if (a.name in chosen if chosen else a.submissions)]
        wanted = {str(name) for name in self.student}
        students = sorted((s for s in gradebook.students if not wanted or s.id in wanted), key=_in_order)
        self._warn(lessons)
        rows = [*self.head(lessons), *(self.row(s, self._grades(gradebook, s, lessons)) for s in students)]
        half = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with half.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([_quoted(cell) for cell in row] for row in rows)
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)
        self.log.info("%d students and %d lessons are in %s", len(students), len(lessons), path)

    def _warn(self, lessons) -> None:
        for lesson in lessons:
            if waiting := sum(work.needs_manual_grade for work in lesson.submissions):
                self.log.warning("%s: %d still to be graded by hand", lesson.name, waiting)

    def _grades(self, gradebook, student, lessons) -> list[float | None]:
        """The student's grade for each lesson, None where nothing was handed in."""
        grades = []
        for lesson in lessons:
            try:
                work = gradebook.find_submission(lesson.name, student.id)
            except MissingEntry:
                grades.append(None)
                continue
            grades.append(max(0.0, work.score - (work.late_submission_penalty or 0.0)))
        return grades

    def head(self, lessons) -> list[list]:
        """The rows above the students."""
        raise NotImplementedError

    def row(self, student, grades: list[float | None]) -> list:
        """One student's row."""
        raise NotImplementedError


class CanvasExporter(LmsExporter):
    """For Canvas, Gradebook > Import. nbgrader's student id is taken for the SIS Login ID.

    The columns are those of Canvas's own export: Student, ID, SIS User ID, SIS Login ID, Section, then one for
    each assignment; below the head stands a row "Points Possible". Canvas finds a student by ID, SIS User ID or
    SIS Login ID, and takes a column for a new assignment unless its head is that of one that exists, so that the
    head may be changed to "Name (number)" of Canvas's export. Described in "How do I import grades in the
    Gradebook?" (community.canvaslms.com, Instructor Guide), by Ohio State University ("Import a CSV File into
    Carmen Grades", teaching.resources.osu.edu) and by nemogb ("Detailed Canvas Export Info").
    """

    default_name = "canvas.csv"

    def head(self, lessons):
        possible = ["    Points Possible", "", "", "", "", *(lesson.max_score for lesson in lessons)]
        return [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(a.name for a in lessons)], possible]

    def row(self, student, grades):
        name = ", ".join(part for part in (student.last_name, student.first_name) if part)
        return [name or student.id, "", "", student.id, "", *grades]


class MoodleExporter(LmsExporter):
    """For Moodle, Grades > Import > CSV file. nbgrader's student id is in two columns: Username and ID number.

    Moodle's import maps columns by hand: one that tells who a student is (ID number, email address or username)
    and one for each grade item. The names are those of Moodle's own export. Described in "Grade import"
    (docs.moodle.org/405/en/Grade_import).
    """

    default_name = "moodle.csv"

    def head(self, lessons):
        return [["First name", "Last name", "Username", "ID number", "Email address", *(a.name for a in lessons)]]

    def row(self, student, grades):
        names = (student.first_name or "", student.last_name or "")
        return [*names, student.id, student.id, student.email or "", *grades]


def _in_order(student) -> tuple[str, str, str]:
    return student.last_name or "", student.first_name or "", student.id


def _quoted(cell) -> str:
    """A cell as text; what a spreadsheet would take for a formula begins with an apostrophe."""
    if isinstance(cell, float):
        return f"{cell:g}" if cell == round(cell, 4) else f"{cell:.4f}"
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(FORMULA) else text
