"""Grades all that is under DIR/submitted, and prints the grades.

Every submission is read, run in a sandbox and judged, several at a time; this process alone writes the gradebook.
What a student hands in never stops the others and is never changed.
"""

import json
import os
import sys
from pathlib import Path

import nbformat

from autograder.errors import UserError
from autograder.grading import results
from autograder.grading.course import open_course
from autograder.grading.intake import Refused, cells_of_course, look_at, read_notebook, trusted
from autograder.grading.pool import Failed, LocalPool
from autograder.grading.quiet import quiet
from autograder.grading.record import record, record_problem
from autograder.grading.sandbox import why_no_sandbox
from autograder.grading.submission import Submission, find_submissions, is_done
from autograder.grading.table import Row, read_rows, table
from autograder.grading.unit import Unit, unit_of
from autograder.grading.verdicts import read_secret


def grade(
    folder: Path | str,
    lesson: str | None = None,
    workers: int | None = None,
    as_json: bool = False,
    sandboxed: bool = True,
) -> list[Row]:
    """Grades what is new or changed and prints all grades, one JSON object a line with `as_json`.

    Raises UserError where `folder` is no course or `lesson` is none of it, where nothing was handed in, and where
    students' code would have to run without a sandbox, unless `sandboxed` is False.
    """
    folder = Path(folder).absolute()
    if workers is not None and workers < 1:
        raise UserError("the number of workers must be at least 1.")
    if sandboxed and (why := why_no_sandbox()):
        raise UserError(
            f"students' code is not run without a sandbox, and {why} "
            "On a machine with nothing to lose: --unsafe-no-sandbox."
        )
    api = open_course(folder)
    submissions = _submissions(api, folder, lesson)
    todo = [submission for submission in submissions if not is_done(submission)]
    pool = LocalPool(workers or os.cpu_count() or 1, read_secret(folder), folder, sandboxed)
    try:
        with quiet(folder / "grading.log"):
            _grade_all(api, todo, pool)
    except KeyboardInterrupt:
        raise UserError("grading was stopped; grade again and it goes on from here.") from None
    except OSError as error:
        raise UserError(f"grading stopped: {error.filename or folder}: {error.strerror}.") from None
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


def _grade_all(api, todo: list[Submission], pool) -> None:
    """Reads, runs and records. A submission is recorded as soon as its result is there."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # a thread of tqdm's own, which forked processes would miss
    units, keys = {}, {}
    with tqdm(total=len(todo), desc="grading", unit="notebook", disable=not todo, file=sys.stderr) as bar:
        for submission in todo:
            try:
                units[submission] = _read(api, submission)
            except Refused as refused:
                record_problem(api, submission, str(refused))
                bar.update()
        for submission, unit in list(units.items()):
            keys[submission] = unit.key(read_secret(submission.folder))
            if (result := results.load(submission.folder, keys[submission])) is not None:
                del units[submission]
                record(api, submission, keys[submission], result.problem)
                bar.update()
        for submission, result in pool.run(units):
            if isinstance(result, Failed):
                record_problem(api, submission, f"this machine could not run it: {result.reason}", again=True)
            else:
                results.save(submission.folder, keys[submission], result)
                record(api, submission, keys[submission], result.problem)
            bar.update()


def _read(api, submission: Submission) -> Unit:
    """What is to be run of a submission. Raises Refused."""
    look_at(submission.submitted, submission.lesson)
    course_cells, lesson = _lesson(api, submission)
    return unit_of(trusted(read_notebook(submission.notebook), course_cells), lesson)


_lessons = {}


def _lesson(api, submission: Submission):
    """The course's cells of a lesson and its source notebook, read once."""
    if submission.source not in _lessons:
        with api.gradebook as gradebook:
            cells = cells_of_course(gradebook.find_notebook(submission.lesson, submission.lesson))
        _lessons[submission.source] = cells, nbformat.read(submission.source, as_version=4)
    return _lessons[submission.source]
