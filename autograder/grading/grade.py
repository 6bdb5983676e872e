"""Grades all that is under DIR/submitted, and prints the grades.

A first version: nbgrader's own autograde does the work, in a few processes. What a student hands in never
stops the others and is never changed.
"""

import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from autograder.errors import UserError
from autograder.grading.course import open_course
from autograder.grading.quiet import quiet
from autograder.grading.submission import (
    Outcome,
    Submission,
    digest,
    find_submissions,
    finish,
    grade_submission,
    is_done,
)
from autograder.grading.table import Row, read_rows, table


def grade(
    folder: Path | str, lesson: str | None = None, workers: int | None = None, as_json: bool = False
) -> list[Row]:
    """Grades what is new or changed and prints all grades, one JSON object a line with `as_json`.

    Raises UserError where `folder` is no course or `lesson` is none of it, and where nothing was handed in.
    """
    folder = Path(folder).absolute()
    if workers is not None and workers < 1:
        raise UserError("the number of workers must be at least 1.")
    api = open_course(folder)
    submissions = _submissions(api, folder, lesson)
    todo = [submission for submission in submissions if not is_done(submission)]
    try:
        with quiet(folder / "grading.log"):
            _enrol(api, todo)
            _grade_all(api, todo, min(workers or os.cpu_count() or 1, len(todo)))
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


def _enrol(api, submissions: list[Submission]) -> None:
    """Students are made here, in one process, so that two workers never make the same one."""
    with api.gradebook as gradebook:
        for student in sorted({submission.student for submission in submissions}):
            gradebook.update_or_create_student(student)


def _grade_all(api, todo: list[Submission], workers: int) -> None:
    """Grades in worker processes. Where one dies, what it left is tried again, one by one."""
    from tqdm import tqdm

    with tqdm(total=len(todo), desc="grading", unit="notebook", disable=not todo, file=sys.stderr) as bar:
        for submission in _run(todo, workers, bar):
            if _run([submission], 1, bar):
                finish(api, submission, Outcome(digest(submission), "its code ended the process that grades"))
                bar.update()


def _run(todo: list[Submission], workers: int, bar) -> list[Submission]:
    """Grades these submissions and gives those that were not finished because a worker died."""
    left = list(todo)
    if not left:
        return left
    # subtle: spawn, not fork. A fork would share this process's database connection and threads.
    pool = ProcessPoolExecutor(
        workers, get_context("spawn"), _start_worker, (os.getpid(), str(todo[0].folder / "grading.log"))
    )
    waiting = {pool.submit(_work, submission): submission for submission in todo}
    try:
        for future in as_completed(waiting):
            future.result()
            left.remove(waiting[future])
            bar.update()
    except BrokenProcessPool:
        pass
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return left


def _work(submission: Submission) -> None:
    with quiet(submission.folder / "grading.log"):
        grade_submission(open_course(submission.folder), submission)


def _start_worker(parent: int, logfile: str) -> None:
    """A worker ends when the process that started it does, however that ended; Ctrl-C is for that process.
    What its kernels print past the notebook goes into the log. Workers share the cores: one thread each."""
    log = os.open(logfile, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()
