"""Records submissions in nbgrader's gradebook and under autograded/, as nbgrader's autograde would. One
process does this, with one connection that stays open, whereas autograde opens the gradebook a dozen times
for each notebook.
"""

import os
import shutil
from contextlib import suppress
from datetime import datetime
from html import escape

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Gradebook, SubmittedNotebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.preprocessors import LimitOutput
from sqlalchemy.exc import DatabaseError

from autograder.files import write_whole
from autograder.grading.gradebook.graded_notebook import fill_in, show_mark_schemes, write_scores
from autograder.grading.gradebook.late import LatePenalties
from autograder.grading.gradebook.outcomes import Outcome, last_outcome, remember
from autograder.grading.judging.results import Failed, Result
from autograder.grading.submission.files import (
    LONGEST_NOTE,
    SUBMISSION_SECRET,
    TIMESTAMP,
    Refused,
    read_file,
    read_time,
)
from autograder.grading.submission.find import Submission
from autograder.grading.submission.reading import Read
from autograder.printable import printable

NOT_READ = (
    "**Your notebook could not be graded: {why}.** So it has 0 points.\n\n"
    "Open the file that you handed in: does it hold your work? If it does, ask your teacher; if not, hand it in again."
)


def cause_of(error: BaseException) -> BaseException:
    """Return the OSError or DatabaseError that led to an error, or otherwise the first error in its chain.
    subtle: if a gradebook cannot be written, for instance on a full disk, nbgrader raises InvalidEntry, and
    the original error is its context.
    """
    while not isinstance(error, (OSError, DatabaseError)) and error.__context__ is not None:
        error = error.__context__
    return error


def cannot_write(error: BaseException) -> bool:
    """Return whether the error means that the disk or the gradebook failed. Such an error stops grading,
    because no submission caused it.
    """
    return isinstance(cause_of(error), (OSError, DatabaseError))


class Recorder:
    """The only writer of a course's gradebook. Use as a context manager."""

    def __init__(self, api: NbGraderAPI):
        self._gradebook = Gradebook(api.coursedir.db_url, api.coursedir.course_id)
        self._limit = LimitOutput(parent=api)
        self._penalties = LatePenalties(api)
        self._log = api.log

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self._gradebook.close()

    def record(self, submission: Submission, read: Read, lesson: NotebookNode, result: Result) -> None:
        """Write a result to the gradebook and to autograded/, and then store the outcome."""
        notebook = read.notebook
        notebook.metadata["kernelspec"] = lesson.metadata.get("kernelspec", {})
        points = fill_in(notebook, result, read.key)
        self._begin(submission)
        row = self._row(submission)
        write_scores(row, notebook, points, self._log)
        self._gradebook.db.flush()
        self._gradebook.db.refresh(row)
        self._penalties.set(row)
        self._gradebook.db.commit()
        self._limit.preprocess(notebook, {})
        show_mark_schemes(notebook, lesson)
        self._write(submission, notebook)
        self._end(
            submission,
            Outcome(
                read.digest,
                result.problem or result.review_note,
                result=read.key,
                time_note=_time_of(submission)[1],
            ),
        )

    def _write(self, submission: Submission, notebook: NotebookNode) -> None:
        """Write the graded notebook, and the other files that nbgrader's commands expect."""
        path = submission.autograded / f"{submission.lesson}.ipynb"
        write_whole(path, nbformat.writes(notebook))
        os.chmod(path, 0o444)  # as nbgrader does
        if stamp := _time_of(submission)[0]:
            write_whole(submission.autograded / TIMESTAMP, stamp[0])
        with suppress(Refused):
            secret = read_file(submission.submitted / SUBMISSION_SECRET, LONGEST_NOTE)
            write_whole(submission.autograded / SUBMISSION_SECRET, secret.decode(errors="replace"))

    def record_refused(self, submission: Submission, digest: str, refused: Refused) -> None:
        """Give 0 points to a submission that was refused, and store the reason, which its feedback page also
        shows.
        """
        self._begin(submission)
        for grade in self._row(submission).grades:
            grade.auto_score, grade.needs_manual_grade = 0.0, grade.manual_score is not None
        self._gradebook.db.commit()
        text = new_markdown_cell(NOT_READ.format(why=escape(printable(str(refused)))))
        self._write(submission, new_notebook(cells=[text]))
        self._end(submission, Outcome(digest, str(refused), time_note=_time_of(submission)[1]))

    def record_failed(self, submission: Submission, digest: str, failed: Failed) -> None:
        """Store the reason why a submission could not be graded, through no fault of the student. No score is
        written or removed.
        """
        self._gradebook.db.rollback()
        last = last_outcome(submission)
        kept = last.result if last else ""
        self._end(submission, Outcome(digest, str(failed), again=True, result=kept, ours=failed.ours))

    def _begin(self, submission: Submission) -> None:
        submission.record.unlink(missing_ok=True)
        folder = submission.autograded
        if folder.exists():
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o755)  # nbgrader leaves it read-only
            shutil.rmtree(folder)

    def _end(self, submission: Submission, outcome: Outcome) -> None:
        self._gradebook.db.remove()  # keeps the rows of a large class out of memory
        remember(submission, outcome)

    def _row(self, submission: Submission) -> SubmittedNotebook:
        """Return the notebook's row in the gradebook, creating it if necessary."""
        self._gradebook.update_or_create_student(submission.student)
        stamp = _time_of(submission)[0]
        time = stamp[1].replace(tzinfo=None) if stamp else None
        self._gradebook.update_or_create_submission(submission.lesson, submission.student, timestamp=time)
        return self._gradebook.find_submission_notebook(
            submission.lesson, submission.lesson, submission.student
        )


def _time_of(submission: Submission) -> tuple[tuple[str, datetime] | None, str]:
    """Return the time stamp of a submission, as text and as a time (None if there is none), and a note that
    is empty unless the time stamp cannot be read.
    """
    try:
        return read_time(submission.submitted), ""
    except Refused as refused:
        return None, f"{refused}, so it does not count as late"
