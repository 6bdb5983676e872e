"""Grades several submissions at a time, in forks of this process, and retries them if the machine failed."""

import os
import signal
import zlib
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar
from dataclasses import dataclass, field
from multiprocessing import active_children, get_context
from multiprocessing.synchronize import Lock
from typing import Protocol

from autograder.grading.judging import results
from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import HowToRun, failure
from autograder.grading.sandbox.inside.system import end_with_parent
from autograder.grading.submission.files import Refused
from autograder.grading.submission.find import Submission
from autograder.grading.submission.reading import Lesson, Read, read
from autograder.grading.submission.unit import Unit
from autograder.grading.worker.fork_server import ForkServerDied

TRIES = 3
PROCESS_ENDED = Failed("a process of the grader ended")
FORK = get_context("fork")
LOCKS = 256


class Runner(Protocol):
    """Runs and judges units (submissions as plain data, see submission/unit.py) with the settings in `how`. A
    runner is a context manager that may be entered more than once; units can run only while it is entered.
    """

    how: HowToRun
    at_once: int  # how many units run at the same time

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...

    def run(self, unit: Unit) -> Result | Failed: ...


@dataclass(frozen=True)
class Done:
    """A submission and its result. `read` is the submission as it was read, or None if reading failed or the
    process ended.
    """

    submission: Submission
    result: Result | Refused | Failed
    read: Read | None = None


@dataclass(frozen=True)
class _Work:
    """The work of a process in the pool: read a submission, and run it unless its result is already stored. A
    new result is stored at once, so that grading can continue from there if it is interrupted. Raises OSError
    if the disk is full.

    Two submissions of one student never run at the same time, so the output of one cannot reveal hidden cases
    of the other.
    """

    lessons: dict[str, Lesson]
    runner: Runner
    locks: tuple[Lock, ...] = field(default_factory=lambda: tuple(FORK.Lock() for _ in range(LOCKS)))

    def done(self, submission: Submission) -> Done:
        with self.locks[zlib.crc32(submission.student.encode()) % LOCKS]:
            return self._done(submission)

    def _done(self, submission: Submission) -> Done:
        was_read = None
        try:
            was_read = read(submission, self.lessons[submission.lesson], self.runner.how.secret)
            known = results.load(submission.folder, was_read.key)
            if known is not None:
                return Done(submission, known, was_read)
            result = self.runner.run(was_read.unit)
        except Refused as refused:
            return Done(submission, refused)
        except Exception as error:  # one submission's failure must not stop the others
            return Done(submission, failure(error), was_read)
        if isinstance(result, Result):
            results.save(submission.folder, was_read.key, result)
        return Done(submission, result, was_read)


class _Stopped(BaseException):
    """Raised in a process of the pool if the caller of `_in_processes` stops early. It is not an Exception,
    so it is not taken for the failure of a submission.
    """


class _Process:
    """A process of the pool. SIGTERM stops it: it abandons its work and accepts no more.

    subtle: a process killed while it sends a result would leave half of the result in the pipe, and the pool
    would wait for ever for the other half. Therefore a process that is sending a result finishes sending it.
    """

    def __init__(self, work: _Work):
        self._work = work
        self._is_busy = self._is_stopped = False
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, *_: object) -> None:
        self._is_stopped = True
        if self._is_busy:
            raise _Stopped()

    def done(self, submission: Submission) -> Done:
        try:
            self._is_busy = True
            if self._is_stopped:
                raise _Stopped()
            return self._work.done(submission)
        finally:
            self._is_busy = False


# Set in each forked process: the work holds open sockets, which cannot be sent with each submission.
_process: ContextVar[_Process] = ContextVar("process")


def grade_in_parallel(
    todo: list[Submission], lessons: dict[str, Lesson], runner: Runner, at_once: int
) -> Generator[Done, None, None]:
    """Yield each submission as soon as it is done. At most `at_once` submissions are in progress at a time.

    If the machine fails, the affected submissions are retried one at a time; each is tried at most TRIES
    times. Failures of a student's code and errors of the autograder are never retried.
    """
    failed: list[Done] = []
    for number in range(TRIES):
        failed = []
        try:
            with runner:
                for done in _in_processes(
                    todo, _Work(lessons, runner), 1 if number else min(at_once, len(todo))
                ):
                    if isinstance(done.result, Failed) and not done.result.ours:
                        failed.append(done)
                    else:
                        yield done
        except ForkServerDied as error:
            failed = [Done(submission, Failed(str(error))) for submission in todo]
        todo = [done.submission for done in failed]
        if not todo:
            return
    yield from failed


def _in_processes(todo: list[Submission], work: _Work, count: int) -> Iterator[Done]:
    """Yield the result of `work` on each submission, computed in `count` processes. The processes stop if the
    caller stops early.

    subtle: the processes are forked, not spawned, so that PyTorch is imported once for all of them and they
    share the fork server's socket. If PyTorch has computed on several threads before a fork, a forked process
    that computes on several threads hangs; so every process of the pool computes on one thread.
    """
    pool = ProcessPoolExecutor(count, FORK, _start, (work, os.getpid()))
    waiting: dict[Future[Done], Submission] = {}
    others = set(active_children())
    is_broken = False
    try:
        for submission in todo:
            try:
                waiting[pool.submit(_run, submission)] = submission
            except BrokenProcessPool:
                is_broken = True
                yield Done(submission, PROCESS_ENDED)
        for future in as_completed(waiting):
            submission = waiting.pop(future)  # so that its result is not kept in memory
            try:
                done = future.result()
            except BrokenProcessPool:
                is_broken = True
                done = Done(submission, PROCESS_ENDED)
            except OSError:
                raise
            except Exception as error:  # any error that keeps a result from being pickled
                done = Done(submission, failure(error))
            yield done
    finally:
        for process in set(active_children()) - others:
            if is_broken:
                process.kill()  # nobody reads results any more, so a process that is sending one never ends
            elif waiting:
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


def _start(work: _Work, parent: int) -> None:
    """Set up a process of the pool. It ends when its parent ends, for whatever reason, and ignores Ctrl-C,
    which the parent handles.
    """
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    torch.set_num_threads(1)
    _process.set(_Process(work))


def _run(submission: Submission) -> Done:
    return _process.get().done(submission)
