"""Reads the data of a report: the submissions of each lesson, and the names of the class."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.apps.api import NbGraderAPI

from autograder.errors import UserError
from autograder.grading.collect.aside import kept_aside
from autograder.grading.gradebook.open_course import lessons_of
from autograder.grading.gradebook.outcomes import Outcome, last_outcome
from autograder.grading.gradebook.table import Row, read_rows
from autograder.grading.judging import results
from autograder.grading.judging.results import Result
from autograder.grading.submission.files import NOTEBOOKS
from autograder.grading.submission.find import Submission, find_submissions
from autograder.verdict import NOT_STARTED


@dataclass(frozen=True)
class Work:
    """One student's work in one lesson: grades, the outcome of grading, and the result of the run."""

    row: Row
    outcome: Outcome
    result: Result = field(default_factory=Result)
    page: str = ""  # the feedback page, as a path from the course's folder
    called: str = ""  # the student's name, if the gradebook has one

    @property
    def name(self) -> str:
        return self.called or self.student

    @property
    def student(self) -> str:
        return self.row.student

    @property
    def lost(self) -> bool:
        """True if the submission was run, but its stored result no longer exists."""
        return bool(self.outcome.result) and self.result == Result()

    @property
    def errors(self) -> list[str]:
        """The errors that stopped cells of the notebook, except NotImplementedError, in the order of the
        cells.
        """
        found = (output for _, outputs in sorted(self.result.outputs.items()) for output in outputs)
        stopped = [output for output in found if output.get("output_type") == "error"]
        return [
            f"{o['ename']}: {o['evalue']}".split("\n")[0]
            for o in stopped
            if o["ename"] != "NotImplementedError"
        ]

    @property
    def started(self) -> bool:
        """True if anything was answered, written questions included, or if the work has an error or a
        problem.
        """
        verdicts, points = self.result.verdicts.values(), self.row.points.values()
        answered = None in points or any(points) or any(v.state != NOT_STARTED for v in verdicts)
        return bool(answered or self.errors or self.outcome.problem)


@dataclass(frozen=True)
class Lesson:
    """Everything that the report says about one lesson.

    works        the graded submissions
    waiting      students whose submission is not graded yet
    absent       students who handed in nothing
    no_notebook  students who handed in files but no notebook, with the names of the files
    unplaced     students with a notebook kept under unplaced/, with the names of their files there
    """

    name: str
    works: list[Work]
    waiting: list[str]
    absent: list[str]
    max_points: dict[str, float]
    no_notebook: list[str] = field(default_factory=list)
    unplaced: list[str] = field(default_factory=list)


def read_lessons(api: NbGraderAPI, folder: Path, lesson: str | None) -> list[Lesson]:
    """Return the lessons in which something was graded, or only `lesson` if it is not None. Raises UserError
    if nothing was graded, or if the gradebook lacks grades that were in it.
    """
    submissions = find_submissions(folder, lesson, lessons_of(api, lesson))
    found = {submission: last_outcome(submission) for submission in submissions}
    outcomes = {submission: outcome for submission, outcome in found.items() if outcome is not None}
    graded = list(outcomes)
    if not graded:
        what = "in this lesson " if lesson else ""
        raise UserError(
            f"nothing {what}has been graded yet; `python -m autograder grade {folder}` grades what has been handed "
            "in."
        )
    try:
        rows = read_rows(api, graded)
    except MissingEntry:
        raise UserError(
            f"the gradebook lacks grades that were in it; remove {folder / '.grading'} and grade again."
        ) from None
    with api.gradebook as gradebook:
        students = {student.id: _format_name(student) for student in gradebook.students}
    works = [_work(row, outcomes[s], folder, students) for row, s in zip(rows, graded, strict=True)]
    students = {submission.student: submission.student for submission in submissions} | students
    return [
        _lesson(name, [work for work in works if work.row.lesson == name], submissions, students, folder)
        for name in dict.fromkeys(work.row.lesson for work in works)
    ]


def _format_name(student: Any) -> str:
    """Return a student's name and id, or only the id if the gradebook has no name."""
    name = " ".join(filter(None, [student.first_name, student.last_name]))
    return f"{name} ({student.id})" if name else student.id


def _work(row: Row, outcome: Outcome, folder: Path, students: dict[str, str]) -> Work:
    page = Path("feedback", row.student, row.lesson, f"{row.lesson}.html")
    shown = page.as_posix() if (folder / page).is_file() else ""
    result = results.load(folder, outcome.result) if outcome.result else None
    return Work(row, outcome, result or Result(), shown, students.get(row.student, ""))


def _lesson(
    name: str, works: list[Work], submissions: list[Submission], students: dict[str, str], folder: Path
) -> Lesson:
    handed_in = {submission.student for submission in submissions if submission.lesson == name}
    aside = {one: files for one, files in kept_aside(folder, name).items() if one not in handed_in}
    told = {one: f"{students.get(one, one)}: {', '.join(files)}" for one, files in aside.items()}
    unplaced = {
        one for one, files in aside.items() if any(name.lower().endswith(NOTEBOOKS) for name in files)
    }
    no_notebook, unplaced_texts = (
        sorted(told[one] for one in group) for group in (told.keys() - unplaced, unplaced)
    )
    groups = handed_in - {work.student for work in works}, students.keys() - handed_in - aside.keys()
    waiting, absent = (sorted(students[student] for student in group) for group in groups)
    best = works[0].row.max_points
    return Lesson(name, works, waiting, absent, best, no_notebook, unplaced_texts)
