"""Grades everything under DIR/submitted, and prints the grades.

Several submissions at a time are read, run in sandboxes and judged; only this process writes to the
gradebook. A submission that fails does not stop the others, and no submission is ever changed.
"""

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from nbgrader.api import InvalidEntry
from nbgrader.apps.api import NbGraderAPI
from sqlalchemy.exc import SQLAlchemyError

from autograder.errors import UserError
from autograder.grading.gradebook.late import LatePenalties
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course, quiet
from autograder.grading.gradebook.outcomes import is_done
from autograder.grading.gradebook.recorder import cause_of
from autograder.grading.gradebook.table import Row, read_rows, table
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.submission.find import Submission, find_submissions
from autograder.grading.worker.allowance import USUAL, Allowance
from autograder.grading.worker.fork_server import ForkServer
from autograder.imports import quick_imports

GO_ON = "Grade again to go on from here."


def grade(
    folder: Path | str,
    lesson: str | None = None,
    workers: int | None = None,
    as_json: bool = False,
    sandboxed: bool = True,
    allowance: Allowance = USUAL,
    cluster: str | None = None,
    server: ForkServer | None = None,
) -> list[Row]:
    """Grade the new and changed submissions, print all grades (if `as_json`, as one JSON object per line),
    and return them. `allowance` limits each submission; `cluster` is the address of a Dask scheduler whose
    workers run the submissions; `server` is a fork server that is already warming up.

    Raises UserError if `folder` is not a course, if it has no such `lesson`, if nothing has been handed in,
    if `workers` is less than 1, if there is no such cluster, or if grading is stopped (see
    `_one_clear_line`). With `sandboxed` and without `cluster`, also raises UserError if this machine cannot
    make a sandbox.
    """
    folder = Path(folder).absolute()
    if workers is not None and workers < 1:
        raise UserError("the number of workers must be at least 1.")
    if sandboxed and cluster is None and (why := why_no_sandbox()):
        raise UserError(
            f"students' code runs only in a sandbox, and {why} "
            "On a machine with nothing to lose, add --unsafe-no-sandbox."
        )
    api = open_course(folder)
    with _one_clear_line(folder):
        submissions = find_submissions(folder, lesson, lessons_of(api, lesson))
        if not submissions:
            place = folder / "submitted" / "STUDENT" / (lesson or "LESSON")
            raise UserError(f"nothing has been handed in yet; notebooks belong in {place}.")
        with locked(folder), quiet(folder / "grading.log"):
            if todo := _not_done(api, submissions):
                # Imported here because it loads PyTorch, which is not needed if nothing has changed.
                with quick_imports():
                    from autograder.grading.grade_new import grade_new

                grade_new(api, folder, todo, workers, sandboxed, allowance, cluster, server)
            with api.gradebook as gradebook:
                LatePenalties(api).set_all(gradebook, {one.lesson for one in submissions})
            rows = read_rows(api, submissions)
    _print(rows, folder, as_json)
    return rows


@contextmanager
def _one_clear_line(folder: Path) -> Iterator[None]:
    """Raise UserError in place of an error that stops grading for the whole class, such as a full disk or a
    locked gradebook. On Ctrl-C, print at once that grading is stopping, and then raise UserError as well.
    """
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, _say_and_stop) if in_main else None
    try:
        yield
    except KeyboardInterrupt:
        raise UserError(f"grading was stopped. {GO_ON}") from None
    except (OSError, SQLAlchemyError, InvalidEntry) as error:
        cause = cause_of(error)
        if isinstance(cause, OSError):
            raise UserError(
                f"grading stopped: {cause.filename or folder}: {cause.strerror}. {GO_ON}"
            ) from None
        why = str(getattr(cause, "orig", None) or cause).splitlines()[0]
        raise UserError(f"grading stopped: the gradebook cannot be written ({why}). {GO_ON}") from None
    finally:
        if in_main:
            signal.signal(signal.SIGINT, before)


def _say_and_stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ignore further Ctrl-C: stopping is quick
    print("\nautograder: stopping; what is graded is kept ...", file=sys.stderr, flush=True)
    raise KeyboardInterrupt


def _print(rows: list[Row], folder: Path, as_json: bool) -> None:
    """Print the grades. On standard error, name each submission that could not be graded, through no fault of
    the student, and give the reason.
    """
    print("\n".join(json.dumps(row.as_json()) for row in rows) if as_json else table(rows))
    ungraded = [row for row in rows if row.ungraded]
    for row in ungraded:
        print(f"autograder: {row.student!a}, {row.lesson}: {row.problem}", file=sys.stderr)
    if ungraded:
        print(f"autograder: {folder / 'grading.log'} says more. {GO_ON}", file=sys.stderr)


def _not_done(api: NbGraderAPI, submissions: list[Submission]) -> list[Submission]:
    """Return the submissions that are new or changed, that an earlier run could not grade, or whose results
    are missing.
    """
    with api.gradebook as gradebook:
        recorded = {
            (row.student.id, lesson)
            for lesson in {submission.lesson for submission in submissions}
            for row in gradebook.assignment_submissions(lesson)
        }
    return [one for one in submissions if (one.student, one.lesson) not in recorded or not is_done(one)]
