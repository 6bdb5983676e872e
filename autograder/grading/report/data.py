"""What is known of a class: for each lesson the works that were handed in, and who is in the class."""

from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import MissingEntry

from autograder.errors import UserError
from autograder.grading import results
from autograder.grading.results import Result
from autograder.grading.submission import Outcome, find_submissions, last_outcome
from autograder.grading.table import Row, read_rows
from autograder.judge.verdict import NOT_STARTED


@dataclass(frozen=True)
class Work:
    """What one student handed in for one lesson: grades, how grading went, and what came of the run."""

    row: Row
    outcome: Outcome
    result: Result = field(default_factory=Result)
    page: str = ""  # the feedback page, as a path from the course's folder
    called: str = ""  # the student's name, where the gradebook has one

    @property
    def name(self) -> str:
        return self.called or self.student

    @property
    def student(self) -> str:
        return self.row.student

    @property
    def lost(self) -> bool:
        """Whether it was run, but what came of it is not there any more."""
        return bool(self.outcome.result) and self.result == Result()

    @property
    def errors(self) -> list[str]:
        """What stopped cells of the notebook, in the order of the cells."""
        found = (output for _, outputs in sorted(self.result.outputs.items()) for output in outputs)
        stopped = [output for output in found if output.get("output_type") == "error"]
        return [f"{o['ename']}: {o['evalue']}".split("\n")[0] for o in stopped if o["ename"] != "NotImplementedError"]

    @property
    def started(self) -> bool:
        """Whether anything was answered, written questions included."""
        verdicts, points = self.result.verdicts.values(), self.row.points.values()
        answered = None in points or any(points) or any(v["state"] != NOT_STARTED for v in verdicts)
        return bool(answered or self.errors or self.outcome.problem)


@dataclass(frozen=True)
class Lesson:
    """The works of a lesson by student, and the names of those not graded yet and of those who handed in nothing."""

    name: str
    works: list[Work]
    waiting: list[str]
    absent: list[str]
    max_points: dict[str, float]


def read_lessons(api, folder: Path, lesson: str | None) -> list[Lesson]:
    """The lessons in which something was graded, or that one. Raises UserError where there is none."""
    known, students = _known(api)
    if lesson is not None and lesson not in known:
        raise UserError(f"{lesson!r} is no lesson of this course; its lessons are {', '.join(known)}.")
    submissions = find_submissions(folder, lesson, known)
    outcomes = {submission: last_outcome(submission) for submission in submissions}
    graded = [submission for submission in submissions if outcomes[submission] is not None]
    if not graded:
        what = "of this lesson " if lesson else ""
        raise UserError(f"nothing {what}is graded yet; `python -m autograder grade {folder}` does it.")
    try:
        rows = read_rows(api, graded)
    except MissingEntry:
        raise UserError(
            f"the gradebook lacks grades that were in it; remove {folder / '.grading'} and grade again."
        ) from None
    works = [_work(row, outcomes[s], folder, students) for row, s in zip(rows, graded, strict=True)]
    students = {submission.student: submission.student for submission in submissions} | students
    return [
        _lesson(name, [work for work in works if work.row.lesson == name], submissions, students)
        for name in dict.fromkeys(work.row.lesson for work in works)
    ]


def _known(api) -> tuple[list[str], dict[str, str]]:
    """The lessons of the course, and what the students are called whom the gradebook knows, by id."""
    with api.gradebook as gradebook:
        lessons = sorted(assignment.name for assignment in gradebook.assignments if assignment.notebooks)
        return lessons, {student.id: _called(student) for student in gradebook.students}


def _called(student) -> str:
    """Name and id; the id alone where the gradebook has no name."""
    name = " ".join(filter(None, [student.first_name, student.last_name]))
    return f"{name} ({student.id})" if name else student.id


def _work(row: Row, outcome: Outcome, folder: Path, students: dict[str, str]) -> Work:
    page = Path("feedback", row.student, row.lesson, f"{row.lesson}.html")
    shown = page.as_posix() if (folder / page).is_file() else ""
    return Work(row, outcome, _kept(folder, outcome.result), shown, students.get(row.student, ""))


def _kept(folder: Path, key: str) -> Result:
    """The result with this key; an empty one where there is none, or an earlier version kept it in another form."""
    result = results.load(folder, key) if key else None
    return result if result and isinstance(result.seconds, dict) else Result()


def _lesson(name: str, works: list[Work], submissions, students: dict[str, str]) -> Lesson:
    handed_in = {submission.student for submission in submissions if submission.lesson == name}
    waiting = handed_in - {work.student for work in works}
    names = [sorted(students[student] for student in group) for group in (waiting, students.keys() - handed_in)]
    return Lesson(name, works, *names, works[0].row.max_points)
