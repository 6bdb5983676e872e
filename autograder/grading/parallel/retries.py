"""A few units of work at a time, and again if the machine failed."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice

from autograder.errors import place_of
from autograder.grading.judging.results import Failed
from autograder.grading.worker.fork_server import ForkServerDied

TRIES = 3
BROKEN = Failed("a process of the grader ended")


def retried(units: Iterable[tuple], attempt: Callable[[Iterator[tuple], bool], Iterator[tuple]]) -> Iterator[tuple]:
    """(name, result) for each (name, unit), from `attempt(units, alone)`, which gives (name, unit, result).

    If a machine fails, a unit is tried again, alone, a few times; what a student's code does is never tried again, nor
    is an error of ours.
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


def a_few_at_a_time(units: Iterator[tuple], submit: Callable, wait: Callable, most: int) -> Iterator[tuple]:
    """(name, unit, result) of units that are submitted, never more than `most` at once: so a large class takes no more
    memory than a small one."""
    waiting: dict = {}
    while True:
        for name, unit in islice(units, most - len(waiting)):
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


def result_or_failed(work: Callable, *args, **kwargs):
    """Returns the result of `work(...)`; if it raises, Failed says whether the machine or an error of ours is the
    cause."""
    try:
        return work(*args, **kwargs)
    except (OSError, MemoryError, ForkServerDied) as error:
        return Failed(_text_of(error), traceback.format_exc())
    except Exception as error:
        return Failed(place_of(error), traceback.format_exc(), ours=True)


def _text_of(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
