"""Stores the outcome of grading each submission, in DIR/.grading/LESSON/STUDENT.json.

An outcome is written only after the submission's grades are in the gradebook. A second run therefore
continues where the first run stopped, and grades again any submission that was in progress when the first run
was killed.
"""

import json
from dataclasses import asdict, dataclass

from autograder.files import write_whole
from autograder.grading.submission.find import Submission, digest
from autograder.untrusted import checked


@dataclass(frozen=True)
class Outcome:
    """The outcome of grading a submission.

    - `digest` covers everything that the grade depends on.
    - `problem` says why the notebook was not run to its end, or what a teacher should look at.
    - `again` is True if the submission could not be graded, through no fault of the student; the next run
      then tries again.
    - `result` is the key of the result, if there is one.
    - `ours` is True if the autograder is at fault.
    - `time_note` says why the time stamp cannot be read.
    """

    digest: str
    problem: str = ""
    again: bool = False
    result: str = ""
    ours: bool = False
    time_note: str = ""


def last_outcome(submission: Submission) -> Outcome | None:
    """Return the outcome of the last run, or None if there is none or it cannot be read."""
    try:
        return checked(Outcome, json.loads(submission.record.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None


def is_done(submission: Submission) -> bool:
    """Return whether an earlier run graded the submission in its present version, and the graded notebook, if
    there was a result, still exists.
    """
    outcome = last_outcome(submission)
    if outcome is None or outcome.again or outcome.digest != digest(submission):
        return False
    return not outcome.result or (submission.autograded / f"{submission.lesson}.ipynb").is_file()


def remember(submission: Submission, outcome: Outcome) -> None:
    """Write the outcome. Call this only after the submission's grades are in the gradebook."""
    write_whole(submission.record, json.dumps(asdict(outcome)))
