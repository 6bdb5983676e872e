"""Runs units in parallel on this machine: a few processes that judge, and one fork server that all of them ask for
submissions' processes."""

from collections.abc import Iterable, Iterator
from concurrent.futures import wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import run_unit
from autograder.grading.parallel.processes import forked_processes
from autograder.grading.parallel.retries import a_few_at_a_time, result_or_failed, retried
from autograder.grading.sandbox.cgroups import parent_of_groups
from autograder.grading.submission.unit import Unit
from autograder.grading.worker.fork_server import ForkServer, ForkServerDied
from autograder.grading.worker.session import USUAL, Allowance

WAITING = 4  # units at hand for each worker


@dataclass(frozen=True)
class HowToRun:
    """The same for all units of a class: the course's secret, sandboxes or none, and the limits of each."""

    secret: str
    sandboxed: bool = True
    allowance: Allowance = USUAL


def run_locally(
    units: Iterable[tuple], how: HowToRun, folder: Path, workers: int, server: ForkServer | None = None
) -> Iterator[tuple]:
    """(name, Result or Failed) for each (name, unit), as they are done. Units are taken as they are needed.

    `folder` is that of the course, which no unit may see. `server` may be warming up already; it is closed at the end.
    """
    parent_of_groups()  # found once, for all workers
    ready = [server] if server else []

    def attempt(units, alone):
        server = ready.pop() if ready else ForkServer()
        count = 1 if alone else workers
        try:
            with forked_processes(count, partial(_run, how=how, folder=folder, server=server)) as submit:
                server.wait_until_warm()
                yield from a_few_at_a_time(units, submit, wait, WAITING * count)
        except ForkServerDied as error:
            yield from ((name, unit, Failed(str(error))) for name, unit in units)
        finally:
            server.close()

    return retried(units, attempt)


def _run(unit: Unit, how: HowToRun, folder: Path, server: ForkServer) -> Result | Failed:
    return result_or_failed(run_unit, unit, how.secret, server, how.sandboxed, how.allowance, hidden=(folder,))
