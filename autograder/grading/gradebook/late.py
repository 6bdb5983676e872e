"""Penalties for late work.

nbgrader computes one when it grades a submission, and never again. But a due date may move, a student may be granted an
extension, and a written answer gets its points later: so they are computed anew before scores are read.
"""

from collections.abc import Iterable

from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Configurable


class LatePenalties:
    """The rule of the course whose settings `parent` has."""

    def __init__(self, parent: Configurable):
        settings = AssignLatePenalties(parent=parent)
        settings.init_plugin()
        self._rule = settings.plugin_inst

    def set(self, row: SubmittedNotebook) -> None:
        """Sets the penalty of a submission whose scores are in the database."""
        late = row.assignment.total_seconds_late
        penalty = self._rule.late_submission_penalty(row.student.id, row.score, late) if late > 0 else None
        row.late_submission_penalty = None if penalty is None else max(0.0, min(penalty, row.score))

    def set_all(self, gradebook: Gradebook, lessons: Iterable[str]) -> None:
        """Sets those of all submissions of these lessons."""
        gradebook.db.expire_all()
        for lesson in lessons:
            for submission in gradebook.assignment_submissions(lesson):
                for row in submission.notebooks:
                    self.set(row)
        gradebook.db.commit()
