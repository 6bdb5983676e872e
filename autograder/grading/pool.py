"""Runs units in parallel on this machine: a few processes that judge, and one warm process that all of them ask
for sandboxes."""

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

from autograder.grading.cgroups import where_groups_can_be
from autograder.grading.results import Result
from autograder.grading.run import run_unit
from autograder.grading.session import USUAL, Allowance
from autograder.grading.template import Template, TemplateDied
from autograder.grading.unit import Unit

TRIES = 3
WAITING = 4  # units at hand for each worker
BROKEN = "a process that judges ended"

_task = None  # what a worker process does, set when it starts


@dataclass(frozen=True)
class Failed:
    """A unit that this machine could not run. `reason` in one sentence; the student is not the cause."""

    reason: str


class LocalPool:
    """`workers` processes. Units of the course in `folder` are run in sandboxes, unless told otherwise. `template`
    is one that is warming up already; it is closed in the end."""

    def __init__(
        self,
        workers: int,
        secret: str,
        folder: Path,
        sandboxed: bool = True,
        allowance: Allowance = USUAL,
        template: Template | None = None,
    ):
        where_groups_can_be()  # found once, for all workers
        self._workers, self._how = workers, (secret, folder, sandboxed, allowance)
        self._template = template

    def run(self, units: Iterable[tuple]) -> Iterator[tuple]:
        """(name, Result or Failed) for each (name, unit), as they are done. Units are taken as they are needed."""
        return tried_again(units, self._attempt)

    def _attempt(self, units: Iterator[tuple], alone: bool) -> Iterator[tuple]:
        template, self._template = self._template or Template(), None
        workers = 1 if alone else self._workers
        # subtle: forked, so that PyTorch is imported once for all of them, while the template warms up.
        pool = ProcessPoolExecutor(workers, get_context("fork"), _start, (template, self._how, os.getpid()))
        try:
            template.wait_until_warm()
            yield from a_few_at_a_time(units, lambda unit: pool.submit(_run, unit), wait, WAITING * workers)
        except TemplateDied as error:
            yield from ((name, unit, Failed(str(error))) for name, unit in units)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            template.close()


def tried_again(units: Iterable[tuple], attempt) -> Iterator[tuple]:
    """(name, Result or Failed) for each (name, unit), from `attempt(units, alone)`, which gives (name, unit, what
    came of it).

    Where a machine fails, a unit is tried again, alone, a few times; what a student's code does is never tried
    again.
    """
    left = iter(units)
    for number in range(TRIES):
        failed = []
        if (first := next(left, None)) is None:
            return
        for name, unit, result in attempt(chain([first], left), number > 0):
            if isinstance(result, Failed):
                failed.append((name, unit, result))
            else:
                yield name, result
        left = ((name, unit) for name, unit, _ in failed)
    yield from ((name, result) for name, _, result in failed)


def a_few_at_a_time(units: Iterator[tuple], submit, wait, most: int) -> Iterator[tuple]:
    """(name, unit, what came of it) of units that are submitted, never more than `most` at once: so a large class
    takes no more memory than a small one."""
    waiting = {}
    while True:
        for name, unit in islice(units, most - len(waiting)):
            try:
                waiting[submit(unit)] = name, unit
            except BrokenProcessPool:
                yield name, unit, Failed(BROKEN)
        if not waiting:
            return
        done, _ = wait(list(waiting), return_when="FIRST_COMPLETED")
        for future in done:
            yield *waiting.pop(future), outcome(future)


def outcome(future) -> Result | Failed:
    """What came of a unit that ran elsewhere."""
    try:
        return future.result()
    except BrokenProcessPool:
        return Failed(BROKEN)
    except Exception as error:  # also one that nobody thought of: it must not stop the others
        return Failed(str(error) or type(error).__name__)


def _start(template, how, parent) -> None:
    """A worker ends when the process that started it does, however that ended; Ctrl-C is for that process."""
    global _task
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    _task = (template, *how)


def _run(unit: Unit) -> Result:
    template, secret, folder, sandboxed, allowance = _task
    return run_unit(unit, secret, template, sandboxed, allowance, hidden=(folder,))
