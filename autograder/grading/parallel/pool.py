"""Several submissions at a time, in processes forked from this one, and again if the machine failed."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from multiprocessing import get_context

from autograder.grading.judging import results
from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import failure
from autograder.grading.sandbox.inside.system import end_with_parent
from autograder.grading.submission.files import Refused
from autograder.grading.submission.find import Submission
from autograder.grading.submission.reading import Lesson, read
from autograder.grading.submission.unit import Unit
from autograder.grading.worker.fork_server import ForkServerDied

TRIES = 3
BROKEN = None, Failed("a process of the grader ended")
Run = Callable[[Unit], Result | Failed]
# In a forked process: what it does. It holds open sockets, which cannot be sent with each submission.
_work: ContextVar[Callable] = ContextVar("work")


def results_of(
    todo: list[Submission],
    lessons: dict[str, Lesson],
    secret: str,
    start: Callable[[], AbstractContextManager[Run]],
    count: int,
) -> Iterator[tuple]:
    """(submission, Read or None, a Result, Refused or Failed) for each submission, as they are done, `count` at a time.
    `start()` makes ready what runs units, and gives a function that runs one.

    If a machine fails, a submission is tried again, alone, a few times; what a student's code does is never tried
    again, nor is an error of ours.
    """
    for number in range(TRIES):
        failed = []
        try:
            with start() as run:
                work = partial(_result_of, lessons=lessons, secret=secret, run=run)
                for done in _in_processes(todo, work, 1 if number else count):
                    if isinstance(done[-1], Failed) and not done[-1].ours:
                        failed.append(done)
                    else:
                        yield done
        except ForkServerDied as error:
            failed = [(one, None, Failed(str(error))) for one in todo]
        todo = [submission for submission, _, _ in failed]
        if not todo:
            return
    yield from failed


def _result_of(submission: Submission, lessons: dict[str, Lesson], secret: str, run: Run) -> tuple:
    """(Read or None, a Result, Refused or Failed). What was run before is not run again."""
    done = None
    try:
        done = read(submission, lessons[submission.lesson], secret)
        return done, results.load(submission.folder, done.key) or run(done.unit)
    except Refused as refused:
        return None, refused
    except Exception as error:
        return done, failure(error)


def _in_processes(todo: list[Submission], work: Callable, count: int) -> Iterator[tuple]:
    """(submission, *`work(submission)`), in `count` processes.

    subtle: forked, not spawned, so that PyTorch is imported once for all of them, and they share the fork server's
    socket. A fork of a process in which PyTorch has computed on several threads hangs if it does so, too: each of
    these computes on one.
    """
    pool = ProcessPoolExecutor(count, get_context("fork"), _start, (work, os.getpid()))
    waiting = {}
    try:
        for one in todo:
            try:
                waiting[pool.submit(_run, one)] = one
            except BrokenProcessPool:
                yield one, *BROKEN
        for future in as_completed(waiting):
            try:
                done = future.result()
            except BrokenProcessPool:
                done = BROKEN
            except Exception as error:  # it cannot be sent back
                done = None, failure(error)
            yield waiting.pop(future), *done  # and it is kept no longer
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(work: Callable, parent: int) -> None:
    """A process ends when its parent does, however that ended; Ctrl-C is for the parent."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    torch.set_num_threads(1)
    _work.set(work)


def _run(submission: Submission) -> tuple:
    return _work.get()(submission)
