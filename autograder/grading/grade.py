"""Grades all that is under DIR/submitted, and prints the grades.

Every submission is read, run in a sandbox and judged, several at a time; this process alone writes the gradebook.
What a student hands in never stops the others and is never changed.
"""

import json
import os
import sys
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from autograder.errors import UserError
from autograder.grading import results
from autograder.grading.cluster import ClusterPool
from autograder.grading.course import open_course
from autograder.grading.intake import Refused, cells_of_course, look_at, trusted
from autograder.grading.pool import Failed, LocalPool
from autograder.grading.quiet import quiet
from autograder.grading.record import Recorder
from autograder.grading.sandbox import why_no_sandbox
from autograder.grading.session import USUAL, Allowance
from autograder.grading.submission import Submission, digest, find_submissions, is_done
from autograder.grading.table import Row, read_rows, table
from autograder.grading.template import Template
from autograder.grading.unit import Unit, unit_of
from autograder.grading.verdicts import read_secret

GO_ON = "Grade again and it goes on from here."


def grade(
    folder: Path | str,
    lesson: str | None = None,
    workers: int | None = None,
    as_json: bool = False,
    sandboxed: bool = True,
    allowance: Allowance = USUAL,
    cluster: str | None = None,
    template: Template | None = None,
) -> list[Row]:
    """Grades what is new or changed and prints all grades, one JSON object a line with `as_json`. `allowance` is
    what each submission may use. With `cluster`, the address of a Dask scheduler, its workers run them. `template` is
    one that is warming up already.

    Raises UserError where `folder` is no course or `lesson` is none of it, where nothing was handed in, where
    there is no such cluster, and where students' code would have to run without a sandbox, unless `sandboxed` is
    False.
    """
    folder = Path(folder).absolute()
    if workers is not None and workers < 1:
        raise UserError("the number of workers must be at least 1.")
    if sandboxed and cluster is None and (why := why_no_sandbox()):
        raise UserError(
            f"students' code is not run without a sandbox, and {why} "
            "On a machine with nothing to lose: --unsafe-no-sandbox."
        )
    api = open_course(folder)
    submissions = _submissions(api, folder, lesson)
    todo = _not_done(api, submissions)
    secret = read_secret(folder)
    if cluster is None:
        workers = min(workers or os.cpu_count() or 1, max(1, len(todo)))
        pool = LocalPool(workers, secret, folder, sandboxed, allowance, template)
    else:
        pool = ClusterPool(cluster, secret, sandboxed, allowance)
    try:
        with quiet(folder / "grading.log"):
            _grade_all(api, todo, pool)
    except KeyboardInterrupt:
        raise UserError(f"grading was stopped. {GO_ON}") from None
    except OSError as error:
        raise UserError(f"grading stopped: {error.filename or folder}: {error.strerror}. {GO_ON}") from None
    except OperationalError as error:
        raise UserError(f"grading stopped: the gradebook cannot be written ({error.orig}). {GO_ON}") from None
    rows = read_rows(api, submissions)
    print("\n".join(json.dumps(row.as_json()) for row in rows) if as_json else table(rows))
    return rows


def _submissions(api, folder: Path, lesson: str | None) -> list[Submission]:
    with api.gradebook as gradebook:
        known = sorted(assignment.name for assignment in gradebook.assignments if assignment.notebooks)
    if lesson is not None and lesson not in known:
        raise UserError(f"{lesson!r} is no lesson of this course; its lessons are {', '.join(known)}.")
    submissions = find_submissions(folder, lesson, known)
    if not submissions:
        place = folder / "submitted" / "STUDENT" / (lesson or "LESSON")
        raise UserError(f"nothing was handed in yet; notebooks belong in {place}.")
    return submissions


def _not_done(api, submissions: list[Submission]) -> list[Submission]:
    """Those that are new or changed, or that the gradebook does not know (any more)."""
    with api.gradebook as gradebook:
        recorded = {
            (row.student.id, lesson)
            for lesson in {submission.lesson for submission in submissions}
            for row in gradebook.assignment_submissions(lesson)
        }
    return [one for one in submissions if (one.student, one.lesson) not in recorded or not is_done(one)]


def _grade_all(api, todo: list[Submission], pool) -> None:
    """Reads, runs and records. A submission is recorded as soon as its result is there."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # a thread of tqdm's own, which forked processes would miss
    class_work = _ClassWork(api)
    bar = tqdm(total=len(todo), desc="grading", unit="notebook", disable=not todo, file=sys.stderr)
    with bar, Recorder(api) as recorder:
        kinds = Counter()
        for submission, result in class_work.outcomes(todo, pool):
            class_work.record(recorder, submission, result)
            kinds[_kind(result)] += 1
            bar.set_postfix_str(", ".join(f"{count} {kind}" for kind, count in kinds.items() if kind))
            bar.update()


def _kind(result) -> str:
    """What went wrong, for the progress bar; empty where nothing did."""
    if isinstance(result, Refused):
        return "unreadable"
    if isinstance(result, Failed):
        return "failed on this machine"
    return "stopped early" if result.problem else ""


@dataclass(frozen=True)
class _Read:
    """A submission as it was read: once, so that nobody can change it meanwhile."""

    digest: str
    notebook: NotebookNode
    unit: Unit
    key: str


class _ClassWork:
    """The submissions of one run, from reading to recording."""

    def __init__(self, api):
        self._lessons = _Lessons(api)
        self._read: dict[Submission, _Read] = {}

    def outcomes(self, todo: list[Submission], pool):
        """(submission, what came of it: a Result, Refused or Failed). Submissions are read as they are needed."""
        known = deque()

        def to_run():
            for submission in todo:
                came = self._read_or_known(submission)
                if isinstance(came, Unit):
                    yield submission, came
                else:
                    known.append((submission, came))

        for submission, result in pool.run(to_run()):
            while known:
                yield known.popleft()
            if not isinstance(result, Failed):
                results.save(submission.folder, self._read[submission].key, result)
            yield submission, result
        yield from known

    def _read_or_known(self, submission: Submission) -> Unit | Refused | results.Result:
        """What is to be run of a submission, or where nothing is, what is known of it already."""
        try:
            read = self._read[submission] = self._lessons.read(submission)
        except Refused as refused:
            return refused
        return results.load(submission.folder, read.key) or read.unit

    def record(self, recorder: Recorder, submission: Submission, result) -> None:
        read = self._read.pop(submission, None)
        if read is None:
            recorder.record_problem(submission, digest(submission), str(result))
        elif isinstance(result, Failed):
            problem = f"this machine could not run it: {result.reason}"
            recorder.record_problem(submission, read.digest, problem, again=True)
        else:
            lesson = self._lessons.source(submission)
            try:
                recorder.record(submission, read.digest, read.notebook, lesson, read.key, result)
            except (OSError, SQLAlchemyError):
                raise
            except Exception as error:  # what nobody thought of must not stop the others
                problem = f"it could not be recorded ({type(error).__name__})"
                recorder.record_problem(submission, read.digest, problem, again=True)


class _Lessons:
    """The course's own cells and source notebooks, each read once."""

    def __init__(self, api):
        self._api, self._cells, self._sources = api, {}, {}

    def source(self, submission: Submission) -> NotebookNode:
        if submission.lesson not in self._sources:
            self._sources[submission.lesson] = nbformat.read(submission.source, as_version=4)
        return self._sources[submission.lesson]

    def cells(self, lesson: str) -> dict:
        if lesson not in self._cells:
            with self._api.gradebook as gradebook:
                self._cells[lesson] = cells_of_course(gradebook.find_notebook(lesson, lesson))
        return self._cells[lesson]

    def read(self, submission: Submission) -> _Read:
        """What is to be run of a submission. Raises Refused."""
        now, secret = digest(submission), read_secret(submission.folder)
        cells, lesson = self.cells(submission.lesson), self.source(submission)
        try:
            notebook = trusted(look_at(submission.submitted, submission.lesson), cells)
            unit = unit_of(notebook, lesson)
        except (Refused, OSError):
            raise
        except Exception as error:  # what nobody thought of must not stop the others
            raise Refused(f"the notebook cannot be read ({type(error).__name__})") from None
        return _Read(now, notebook, unit, unit.key(secret))
