"""Runs units on this machine: one fork server, which all of the grader's processes ask for submissions' processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.grading.judging.run import HowToRun, run_unit
from autograder.grading.parallel.pool import Run
from autograder.grading.sandbox.cgroups import parent_of_groups
from autograder.grading.worker.fork_server import ForkServer


@contextmanager
def run_locally(how: HowToRun, folder: Path, ready: list[ForkServer]) -> Iterator[Run]:
    """Gives a function that runs a unit. `folder` is that of the course, which no unit may see; a fork server that is
    `ready` or warming up is taken first. Raises ForkServerDied."""
    parent_of_groups()  # found once, for all processes
    with ready.pop() if ready else ForkServer() as server:
        server.wait_until_warm()
        yield lambda unit: run_unit(unit, how, server, (folder,))
