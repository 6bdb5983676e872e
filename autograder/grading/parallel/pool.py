"""A few units of work at a time, in processes forked from this one or elsewhere, and again if the machine failed."""

import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar
from itertools import chain, islice
from multiprocessing import get_context

from autograder.errors import place_of
from autograder.grading.judging.results import Failed
from autograder.grading.sandbox.inside.system import end_with_parent
from autograder.grading.worker.fork_server import ForkServerDied

TRIES = 3
WAITING = 4  # units at hand for each worker
BROKEN = Failed("a process of the grader ended")
# In a forked process: what it does. It holds open sockets, which cannot be sent with each unit.
_work: ContextVar[Callable] = ContextVar("work")


def retried(units: Iterable[tuple], attempt: Callable[[Iterator[tuple], bool], Iterator[tuple]]) -> Iterator[tuple]:
    """(name, result) for each (name, unit), from `attempt(units, isolated)`, which gives (name, unit, result).

    If a machine fails, a unit is tried again, isolated, a few times; what a student's code does is never tried again,
    nor is an error of ours.
    """
    left = iter(units)
    for number in range(TRIES):
        failed = []
        if (first := next(left, None)) is None:
            return
        for name, unit, result in attempt(chain([first], left), number > 0):
            if isinstance(result, Failed) and not result.ours:
                failed.append((name, unit, result))
            else:
                yield name, result
        left = ((name, unit) for name, unit, _ in failed)
    yield from ((name, result) for name, _, result in failed)


def in_processes(units: Iterator[tuple], work: Callable, count: int) -> Iterator[tuple]:
    """(name, unit, result of `work(unit)`) for each (name, unit), in `count` processes.

    subtle: forked, not spawned, so that PyTorch is imported once for all of them, and they share the fork server's
    socket. A fork of a process in which PyTorch has computed on several threads hangs if it does so, too: each of
    these computes on one.
    """
    pool = ProcessPoolExecutor(count, get_context("fork"), _start, (work, os.getpid()))
    try:
        yield from a_few_at_a_time(units, lambda unit: pool.submit(_run, unit), wait, count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(work: Callable, parent: int) -> None:
    """A process ends when its parent does, however that ended; Ctrl-C is for the parent."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    torch.set_num_threads(1)
    _work.set(work)


def _run(unit):
    return _work.get()(unit)


def a_few_at_a_time(units: Iterator[tuple], submit: Callable, wait: Callable, workers: int) -> Iterator[tuple]:
    """(name, unit, result) of units that are submitted, a few for each worker: a large class takes no more memory."""
    waiting: dict = {}
    while True:
        for name, unit in islice(units, WAITING * workers - len(waiting)):
            try:
                waiting[submit(unit)] = name, unit
            except BrokenProcessPool:
                yield name, unit, BROKEN
        if not waiting:
            return
        done, _ = wait(list(waiting), return_when="FIRST_COMPLETED")
        for future in done:
            yield *waiting.pop(future), _result_of(future)


def _result_of(future: Future):
    try:
        return future.result()
    except BrokenProcessPool:
        return BROKEN
    except Exception as error:  # of the pool or the cluster: errors of the work itself are returned, not raised
        return Failed(_text_of(error), traceback.format_exc())


def result_or_failed(work: Callable, *args):
    """The result of `work(*args)`; if it raises, Failed says whether the machine or an error of ours is the cause."""
    try:
        return work(*args)
    except (OSError, MemoryError, ForkServerDied) as error:
        return Failed(_text_of(error), traceback.format_exc())
    except Exception as error:
        return Failed(place_of(error), traceback.format_exc(), ours=True)


def _text_of(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
