"""Runs units in parallel on this machine: a few processes that judge, and one fork server that all of them ask for
submissions' processes."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import HowToRun, run_unit
from autograder.grading.parallel.pool import in_processes, result_or_failed, retried
from autograder.grading.sandbox.cgroups import parent_of_groups
from autograder.grading.submission.unit import Unit
from autograder.grading.worker.fork_server import ForkServer, ForkServerDied


def run_locally(
    units: Iterable[tuple], how: HowToRun, folder: Path, workers: int, server: ForkServer | None = None
) -> Iterator[tuple]:
    """(name, Result or Failed) for each (name, unit), as they are done. Units are taken as they are needed.

    `folder` is that of the course, which no unit may see. `server` may be warming up already; it is closed at the end.
    """
    parent_of_groups()  # found once, for all workers
    ready = [server] if server else []

    def attempt(units, isolated):
        with ready.pop() if ready else ForkServer() as server:
            try:
                server.wait_until_warm()
                run = partial(_run, how=how, folder=folder, server=server)
                yield from in_processes(units, run, 1 if isolated else workers)
            except ForkServerDied as error:
                yield from ((name, unit, Failed(str(error))) for name, unit in units)

    return retried(units, attempt)


def _run(unit: Unit, how: HowToRun, folder: Path, server: ForkServer) -> Result | Failed:
    return result_or_failed(run_unit, unit, how, server, (folder,))
