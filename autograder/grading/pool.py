"""Runs units in parallel on this machine: a few processes that judge, and one warm process that all of them ask
for sandboxes."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from autograder.grading.results import Result
from autograder.grading.run import run_unit
from autograder.grading.session import USUAL, Allowance
from autograder.grading.template import Template, TemplateDied
from autograder.grading.unit import Unit

TRIES = 3

_task = None  # what a worker process does, set when it starts


@dataclass(frozen=True)
class Failed:
    """A unit that this machine could not run. `reason` in one sentence; the student is not the cause."""

    reason: str


class LocalPool:
    """`workers` processes. Units of the course in `folder` are run in sandboxes, unless told otherwise."""

    def __init__(
        self,
        workers: int,
        secret: str,
        folder: Path,
        sandboxed: bool = True,
        allowance: Allowance = USUAL,
    ):
        self._workers, self._how = workers, (secret, folder, sandboxed, allowance)

    def run(self, units: dict) -> Iterator[tuple]:
        """(name, Result or Failed) for each of the named units, as they are done.

        Where the machine fails, a unit is tried again, alone, a few times; what a student's code does is never
        tried again.
        """
        left = dict(units)
        reason = ""
        for attempt in range(TRIES):
            if not left:
                return
            for name, result in self._attempt(left, 1 if attempt else min(self._workers, len(left))):
                if isinstance(result, Result):
                    del left[name]
                    yield name, result
                else:
                    reason = result.reason
        yield from ((name, Failed(reason)) for name in left)

    def _attempt(self, units: dict, workers: int) -> Iterator[tuple]:
        template = Template()
        # subtle: forked, so that PyTorch is imported once for all of them, while the template warms up.
        context = get_context("fork")
        start = (template, self._how, os.getpid())
        pool = ProcessPoolExecutor(workers, context, _start, start)
        try:
            template.wait_until_warm()
            waiting = {pool.submit(_run, unit): name for name, unit in list(units.items())}
            for future in as_completed(waiting):
                yield waiting[future], _outcome(future)
        except (TemplateDied, BrokenProcessPool) as error:
            yield from ((name, Failed(str(error))) for name in list(units))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            template.close()


def _outcome(future) -> Result | Failed:
    try:
        return future.result()
    except BrokenProcessPool:
        return Failed("a process that judges ended")
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
