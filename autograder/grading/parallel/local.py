"""Runs units (submissions as plain data, see submission/unit.py) on this machine, with one fork server for
all processes of the grader.
"""

import os
from pathlib import Path

from autograder.grading.judging.results import Result
from autograder.grading.judging.run import HowToRun, run_unit
from autograder.grading.sandbox.cgroups import parent_of_groups
from autograder.grading.submission.unit import Unit
from autograder.grading.worker.fork_server import ForkServer, ForkServerDied


class LocalRunner:
    """The Runner (pool.py) for this machine. `folder` is the course's folder, which must stay hidden from
    every unit. `server` is a fork server that is already warming up; it is used the first time that the
    runner is entered.
    """

    def __init__(self, how: HowToRun, folder: Path, server: ForkServer | None = None):
        self.how, self._folder, self._server = how, folder, server
        self.at_once = os.cpu_count() or 1

    def __enter__(self) -> None:
        parent_of_groups()  # found once, for all processes
        self._server = self._server or ForkServer()
        try:
            self._server.wait_until_warm()
        except ForkServerDied:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        assert self._server is not None, "it was entered"
        self._server.close()
        self._server = None

    def run(self, unit: Unit) -> Result:
        """Run one unit. Raises ForkServerDied or OSError."""
        assert self._server is not None, "it was entered"
        return run_unit(unit, self.how, self._server, (self._folder,))
