"""Grades as CSV files: exporters for nbgrader.

    nbgrader export
    nbgrader export --exporter=autograder.grading.exporters.CanvasExporter --to canvas.csv
    nbgrader export --exporter=autograder.grading.exporters.MoodleExporter --to moodle.csv

The first is nbgrader's own table; the others are for learning-management systems. nbgrader's --student and
--assignment choose whose and which grades. A grade is the score less the late penalty; for Canvas and Moodle, who
handed in nothing has an empty cell. Where answers are still to be graded by hand, a warning says so. A text that a
spreadsheet would compute (it begins with =, +, -, @, a tab or a return) gets an apostrophe in front.
"""

import csv
import os
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvExporter(ExportPlugin):
    """Writes rows, each cell quoted, to the file that --to names. What the rows are is in those below."""

    default_name = "grades.csv"

    def export(self, gradebook) -> None:
        """Writes the file, which is never seen half written."""
        path = Path(self.to or self.default_name)
        chosen, wanted = set(map(str, self.assignment)), set(map(str, self.student))
        lessons = [a for a in gradebook.assignments if (a.name in chosen if chosen else self.wants(a))]
        students = sorted((s for s in gradebook.students if not wanted or s.id in wanted), key=_in_order)
        self._warn(lessons)
        rows = self.rows(gradebook, lessons, students)
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

    def wants(self, lesson) -> bool:
        """Whether a lesson that was not named is exported."""
        return True

    def rows(self, gradebook, lessons, students) -> list[list]:
        """The rows, the head among them."""
        raise NotImplementedError


class TableExporter(CsvExporter):
    """nbgrader's own table, one row for each lesson and student, quoted; `nbgrader export` as it stands."""

    def rows(self, gradebook, lessons, students):
        head = "assignment duedate timestamp student_id last_name first_name email raw_score late_submission_penalty"
        rows = [[*head.split(), "score", "max_score"]]
        for lesson in lessons:
            for student in students:
                work = _work(gradebook, lesson, student)
                raw, late = (work.score, work.late_submission_penalty or 0.0) if work else (0.0, 0.0)
                who = [student.id, student.last_name, student.first_name, student.email]
                times = [lesson.duedate, work.timestamp if work else None]
                rows.append([lesson.name, *times, *who, raw, late, max(0.0, raw - late), lesson.max_score])
        return rows


class LmsExporter(CsvExporter):
    """Rows of one student each, with a column for each lesson in which anything was handed in."""

    def wants(self, lesson):
        return bool(lesson.submissions)

    def rows(self, gradebook, lessons, students):
        return [*self.head(lessons), *(self.row(s, [_grade(gradebook, a, s) for a in lessons]) for s in students)]

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


def _work(gradebook, lesson, student):
    """What the student handed in for the lesson, or None."""
    try:
        return gradebook.find_submission(lesson.name, student.id)
    except MissingEntry:
        return None


def _grade(gradebook, lesson, student) -> float | None:
    """The score less the late penalty, None where nothing was handed in."""
    work = _work(gradebook, lesson, student)
    return None if work is None else max(0.0, work.score - (work.late_submission_penalty or 0.0))


def _in_order(student) -> tuple[str, str, str]:
    return student.last_name or "", student.first_name or "", student.id


def _quoted(cell) -> str:
    """A cell as text; what a spreadsheet would take for a formula begins with an apostrophe."""
    if isinstance(cell, float):
        return f"{cell:g}" if cell == round(cell, 4) else f"{cell:.4f}"
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(FORMULA) else text
