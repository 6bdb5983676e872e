"""Computes penalties for late work.

nbgrader computes a penalty when it grades a submission, and never again. But a due date may move, a student
may get an extension, and a written answer gets its points later. Penalties are therefore recomputed before
scores are read.
"""

from collections.abc import Iterable
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Configurable

from autograder.errors import UserError
from autograder.grading.gradebook.open_course import lessons_of, open_course
from autograder.grading.gradebook.zone import zone_of


class LatePenalties:
    """Applies the late penalties of the course whose settings are in `parent`."""

    def __init__(self, parent: Configurable):
        settings = AssignLatePenalties(parent=parent)
        settings.init_plugin()
        self._rule = settings.plugin_inst

    def set(self, row: SubmittedNotebook) -> None:
        """Set the penalty of a submission whose scores are in the database."""
        late = row.assignment.total_seconds_late
        penalty = self._rule.late_submission_penalty(row.student.id, row.score, late) if late > 0 else None
        row.late_submission_penalty = None if penalty is None else max(0.0, min(penalty, row.score))

    def set_all(self, gradebook: Gradebook, lessons: Iterable[str]) -> None:
        """Set the penalties of all submissions of these lessons."""
        gradebook.db.expire_all()
        for lesson in lessons:
            for submission in gradebook.assignment_submissions(lesson):
                for row in submission.notebooks:
                    self.set(row)
        gradebook.db.commit()


def extend(folder: Path, lesson: str, student: str, days: int) -> None:
    """Extend a student's due date for a lesson by a number of days (0 removes the extension), and print the
    new date. Raises UserError if there is no such course or lesson, if the lesson has no due date, or if no
    submission of the student for this lesson has been graded.
    """
    api = open_course(folder)
    lessons_of(api, lesson)
    zone = zone_of(api.config)
    with api.gradebook as gradebook:
        if gradebook.find_assignment(lesson).duedate is None:
            raise UserError(
                f"{lesson} has no due date; `nbgrader db assignment add {lesson} --duedate=...` sets one."
            )
        try:
            gradebook.grant_extension(lesson, student, days=days)
        except MissingEntry:
            raise UserError(
                f"{student!r} has no graded submission for {lesson} yet; grade it first, then extend the due date."
            ) from None
        LatePenalties(api).set_all(gradebook, [lesson])
        due = gradebook.find_submission(lesson, student).duedate
        print(f"{student} has until {zone.show(due)}.")
