"""Records submissions in nbgrader's gradebook and under autograded/, as nbgrader's autograde would. One process does
this, with one connection that stays open: autograde itself opens the gradebook a dozen times a notebook.
"""

import os
import shutil
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties, LimitOutput
from nbgrader.utils import parse_utc

from autograder.grading.intake import TIMESTAMP, read_file
from autograder.grading.results import Result, write_whole
from autograder.grading.submission import Outcome, Submission, remember
from autograder.grading.verdicts import fill_in, show_mark_schemes, write_scores


class Recorder:
    """The one writer of a course's gradebook. Use as a context manager."""

    def __init__(self, api):
        self._gradebook = Gradebook(api.coursedir.db_url, api.coursedir.course_id)
        self._limit = LimitOutput(parent=api)
        self._penalties = AssignLatePenalties(parent=api)
        self._penalties.init_plugin()
        self._log = api.log

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._gradebook.close()

    def record(self, submission: Submission, digest: str, notebook, lesson, key: str, result: Result) -> None:
        """Takes a result into gradebook and autograded/, and remembers how it went, in this order."""
        self._begin(submission)
        notebook.metadata["kernelspec"] = lesson.metadata.get("kernelspec", {})
        points = fill_in(notebook, result, key)
        row = self._row(submission)
        write_scores(row, notebook, points, self._log)
        self._gradebook.db.flush()
        self._late_penalty(submission, row)
        self._gradebook.db.commit()
        self._limit.preprocess(notebook, {})
        show_mark_schemes(notebook, lesson)
        _write(submission, notebook)
        self._end(submission, Outcome(digest, result.problem or result.look, result=key))

    def record_problem(self, submission: Submission, digest: str, problem: str, again: bool = False) -> None:
        """A submission that was not run has 0 points and says why. With `again` the machine is the cause."""
        self._begin(submission)
        for grade in self._row(submission).grades:
            grade.auto_score, grade.needs_manual_grade = 0.0, grade.manual_score is not None
        self._gradebook.db.commit()
        self._end(submission, Outcome(digest, problem, again))

    def _begin(self, submission: Submission) -> None:
        submission.record.unlink(missing_ok=True)
        _remove(submission.autograded)

    def _end(self, submission: Submission, outcome: Outcome) -> None:
        self._gradebook.db.remove()  # nothing of a class stays in memory
        remember(submission, outcome)

    def _row(self, submission: Submission):
        """nbgrader's row of the notebook, made where there is none."""
        self._gradebook.update_or_create_student(submission.student)
        stamp = _timestamp(submission.submitted)
        more = {} if stamp is None else {"timestamp": stamp}
        self._gradebook.update_or_create_submission(submission.lesson, submission.student, **more)
        return self._gradebook.find_submission_notebook(
            submission.lesson, submission.lesson, submission.student
        )

    def _late_penalty(self, submission: Submission, row) -> None:
        self._gradebook.db.refresh(row)
        late = row.assignment.total_seconds_late
        row.late_submission_penalty = None
        if late > 0:
            plugin = self._penalties.plugin_inst
            penalty = plugin.late_submission_penalty(submission.student, row.score, late)
            if penalty is not None:
                row.late_submission_penalty = max(0, min(penalty, row.score))


def _timestamp(folder: Path):
    """When it was handed in, where a file says so that can be read."""
    try:
        return parse_utc(read_file(folder / TIMESTAMP, 1000).decode().strip())
    except Exception:  # dateutil raises errors of many kinds
        return None


def _write(submission: Submission, notebook) -> None:
    """The graded notebook, read-only as nbgrader makes it, with the time stamp beside it."""
    path = submission.autograded / f"{submission.lesson}.ipynb"
    write_whole(path, nbformat.writes(notebook))
    os.chmod(path, 0o444)
    if _timestamp(submission.submitted) is not None:
        stamp = read_file(submission.submitted / TIMESTAMP, 1000).decode()
        write_whole(submission.autograded / TIMESTAMP, stamp)


def _remove(folder: Path) -> None:
    """Removes what an earlier run made; nbgrader leaves it read-only."""
    if folder.exists():
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755)
        shutil.rmtree(folder)
