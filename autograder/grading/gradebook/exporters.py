"""Exporters for nbgrader that write the grades as CSV files.

    nbgrader export
    nbgrader export --exporter=autograder.grading.gradebook.exporters.CanvasExporter --to canvas.csv
    nbgrader export --exporter=autograder.grading.gradebook.exporters.MoodleExporter --to moodle.csv

The first command writes nbgrader's own table; the others write files for learning-management systems. Select
students and lessons with nbgrader's --student and --assignment. A grade is the score less the late penalty;
for Canvas and Moodle, a student who handed in nothing has an empty cell.

Text that a spreadsheet would take for a formula gets an apostrophe in front. A spreadsheet may also split a
text at semicolons, tabs or bars; a part that it would then take for a formula gets an apostrophe, too.
"""

import csv
import io
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from autograder.files import write_whole
from autograder.grading.gradebook.late import LatePenalties
from autograder.grading.gradebook.outcomes import is_done
from autograder.grading.gradebook.table import as_number, points_of
from autograder.grading.submission.find import find_submissions
from autograder.printable import printable

# BEGINS: where a cell may begin, whatever separates cells and rows. SKIPPED: what may come before a formula (spaces,
# control characters, and quotes). FORMULA: how a formula begins, including full-width and small forms and the minus
# sign.
BEGINS = r"(?:^|[;|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029])"
SKIPPED = r"[\x00-\x08\x0e-\x1b\x1f \"\x7f-\x84\x86-\xa0\xad\u1680\u2000-\u200f\u202a-\u202f\u205f-\u2069\u3000\ufeff]*"
FORMULA = re.compile(rf"({BEGINS})(?={SKIPPED}[=+@\-＝＋＠－﹦﹢﹫﹣−])")
WHITE = ("\t", "\r", "\n")
TABLE_HEAD = (
    "assignment duedate timestamp student_id last_name first_name email "
    "raw_score late_submission_penalty score max_score"
)


class TableExporter(ExportPlugin):
    """Writes nbgrader's own table, with one row for each lesson and student. No cell in it can be taken for a
    formula. This exporter is the default of `nbgrader export`.
    """

    default_name = "grades.csv"
    only_handed_in = False  # leave out lessons that nobody handed in, unless --assignment names one

    def export(self, gradebook: Gradebook) -> None:
        """Write the file that --to names (by default, `default_name`). An existing file is replaced only when
        the new one is complete.
        """
        path = Path(self.to or self.default_name)
        chosen, wanted = set(map(str, self.assignment)), set(map(str, self.student))
        lessons = [
            lesson
            for lesson in gradebook.assignments
            if (lesson.name in chosen if chosen else lesson.submissions or not self.only_handed_in)
        ]
        LatePenalties(self).set_all(gradebook, [lesson.name for lesson in lessons])
        students = [student for student in gradebook.students if not wanted or student.id in wanted]
        students.sort(key=lambda student: (student.last_name or "", student.first_name or "", student.id))
        for lesson in lessons:
            self._warn_of_what_waits(lesson)
        self._warn_of_what_is_newer([lesson.name for lesson in lessons], {student.id for student in students})
        self._warn_of_strangers(students)
        text = io.StringIO()
        csv.writer(text).writerows(
            [quoted(cell) for cell in row] for row in self.rows(gradebook, lessons, students)
        )
        write_whole(path, text.getvalue())
        self.log.info("%d students and %d lessons are in %s", len(students), len(lessons), path)

    def _warn_of_what_waits(self, lesson: Assignment) -> None:
        """Warn if submissions of a lesson have answers that still lack points, and say how many such
        submissions there are, counted as in the table that `grade` prints. Also warn if nbgrader marks other
        submissions for manual grading because they were graded again after points had been given by hand.
        """
        marked = [work for work in lesson.submissions if work.needs_manual_grade]
        waiting = [work for work in marked if _lacks_points(work)]
        if waiting:
            self.log.warning("%s: %d still to be graded by hand", lesson.name, len(waiting))
        if again := len(marked) - len(waiting):
            note = (
                "%s: %d graded again since you gave points by hand; those points stay, "
                "and formgrader marks the submissions"
            )
            self.log.warning(note, lesson.name, again)

    def _warn_of_what_is_newer(self, lessons: list[str], students: set[str]) -> None:
        """Warn if the latest version of any submission is ungraded, and say how many such submissions each
        lesson has.
        """
        course = Path(self.parent.coursedir.root) if self.parent else Path.cwd()
        handed_in = find_submissions(course, None, lessons)
        ungraded = Counter(one.lesson for one in handed_in if one.student in students and not is_done(one))
        for lesson, count in ungraded.items():
            self.log.warning(
                "%s: submissions not graded in their latest version: %d; run `grade` first", lesson, count
            )

    def _warn_of_strangers(self, students: list) -> None:
        """Warn about students who have neither a name nor an email address in the gradebook. Do not warn if
        this is true of all students, because then no class list was imported.
        """
        strangers = [one.id for one in students if not (one.first_name or one.last_name or one.email)]
        if strangers and len(strangers) < len(students):
            self.log.warning("not in the class list that was imported: %s", printable(", ".join(strangers)))

    def rows(self, gradebook: Gradebook, lessons: list, students: list) -> list[list]:
        """Return the header and the rows below it."""
        rows: list[list] = [TABLE_HEAD.split()]
        for lesson in lessons:
            for student in students:
                work = _work(gradebook, lesson, student)
                time, raw, late = (
                    (work.timestamp, work.score, work.late_submission_penalty) if work else (None, 0.0, 0)
                )
                who = [student.id, student.last_name, student.first_name, student.email]
                points = [raw, late or 0.0, max(0.0, raw - (late or 0.0)), lesson.max_score]
                rows.append([lesson.name, lesson.duedate, time, *who, *points])
        return rows


class CanvasExporter(TableExporter):
    """Writes the CSV file for Canvas's Gradebook > Import. nbgrader's student id is used as the SIS Login ID.

    Canvas finds a student by ID, SIS User ID or SIS Login ID. It creates a new assignment for each column
    whose header is not that of an existing assignment. To import into an existing assignment, change the
    header to "Name (number)", as in Canvas's own export.

    Sources: "How do I import grades in the Gradebook?" (community.canvaslms.com, Instructor Guide), "Import a
    CSV File into Carmen Grades" by Ohio State University (teaching.resources.osu.edu), and "Detailed Canvas
    Export Info" by nemogb.
    """

    default_name = "canvas.csv"
    only_handed_in = True

    def rows(self, gradebook: Gradebook, lessons: list, students: list) -> list[list]:
        head = [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            *(lesson.name for lesson in lessons),
        ]
        rows = [head, ["    Points Possible", "", "", "", "", *(lesson.max_score for lesson in lessons)]]
        for student in students:
            name = ", ".join(filter(None, [student.last_name, student.first_name]))
            rows.append([name or student.id, "", "", student.id, "", *_grades(gradebook, lessons, student)])
        return rows


class MoodleExporter(TableExporter):
    """Writes the CSV file for Moodle's Grades > Import > CSV file. nbgrader's student id is written to two
    columns, Username and ID number.

    The column names are those of Moodle's own export; on import, the teacher maps them by hand. Source:
    "Grade import" (docs.moodle.org/405/en/Grade_import).
    """

    default_name = "moodle.csv"
    only_handed_in = True

    def rows(self, gradebook: Gradebook, lessons: list, students: list) -> list[list]:
        head = [
            "First name",
            "Last name",
            "Username",
            "ID number",
            "Email address",
            *(a.name for a in lessons),
        ]
        return [head] + [
            [s.first_name, s.last_name, s.id, s.id, s.email, *_grades(gradebook, lessons, s)]
            for s in students
        ]


def _lacks_points(work: Any) -> bool:
    """Return whether any answer in a submission still lacks points."""
    grades = chain.from_iterable(notebook.grades for notebook in work.notebooks)
    return any(points_of(grade) is None for grade in grades)


def _work(gradebook: Gradebook, lesson: Any, student: Any) -> Any:
    """Return the student's submission for the lesson, or None."""
    try:
        return gradebook.find_submission(lesson.name, student.id)
    except MissingEntry:
        return None


def _grades(gradebook: Gradebook, lessons: list, student: Any) -> list[float | None]:
    """Return, for each lesson, the student's score less the late penalty, but at least 0, or None if nothing
    was handed in.
    """
    works = [_work(gradebook, lesson, student) for lesson in lessons]
    return [
        None if work is None else max(0.0, work.score - (work.late_submission_penalty or 0.0))
        for work in works
    ]


def quoted(cell: object) -> str:
    """Return a cell as text. Put an apostrophe before each part of it that a spreadsheet could take for a
    formula.
    """
    if isinstance(cell, float):
        return as_number(cell)
    text = "" if cell is None else str(cell)
    if text.startswith(WHITE) and not FORMULA.match(text):
        text = f"'{text}"
    return FORMULA.sub(r"\1'", text)
