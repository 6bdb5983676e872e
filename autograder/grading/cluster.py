"""Runs units on a Dask cluster (dask.distributed), for `grade DIR --cluster ADDRESS`.

Each worker needs this package and bubblewrap, and nothing of the course: a unit holds all that is run, and results
come back to the one process that writes the gradebook. A worker judges one submission at a time, each in a
sandbox of its own; where a worker is lost, Dask gives its submissions to another.
"""

import asyncio
import threading
from collections.abc import Iterable, Iterator

from autograder.errors import UserError
from autograder.grading.pool import WAITING, a_few_at_a_time, tried_again
from autograder.grading.results import Result
from autograder.grading.unit import Unit

SECONDS_TO_CONNECT = 20
_one_at_a_time = threading.Lock()


class ClusterPool:
    """The cluster whose scheduler has this address, as in "tcp://127.0.0.1:8786"."""

    def __init__(self, address: str, secret: str, sandboxed: bool, allowance):
        self._address, self._how = address, (secret, sandboxed, allowance)

    def run(self, units: Iterable[tuple]) -> Iterator[tuple]:
        """(name, Result or Failed) for each (name, unit), as they are done.

        Raises UserError where there is no such cluster, or it has no worker.
        """
        return tried_again(units, self._attempt)

    def _attempt(self, units: Iterator[tuple], alone: bool) -> Iterator[tuple]:
        with self._client() as client, client.as_current():
            from distributed import wait

            most = WAITING * len(client.scheduler_info()["workers"])

            def submit(unit):
                return client.submit(run_on_worker, unit, *self._how, pure=False)

            yield from a_few_at_a_time(units, submit, wait, most)

    def _client(self):
        try:
            from distributed import Client
        except ImportError:
            raise UserError(
                "--cluster needs Dask; `pip install 'attention-by-hand[cluster]'` installs it."
            ) from None
        try:
            asyncio.run(_call(self._address))
            client = Client(self._address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError):
            raise UserError(
                f"there is no Dask scheduler at {self._address}; `dask scheduler` starts one and prints its address."
            ) from None
        if not client.scheduler_info()["workers"]:
            client.close()
            raise UserError(
                f"the scheduler at {self._address} has no workers; `dask worker {self._address}` starts one."
            )
        return client


async def _call(address: str) -> None:
    """Raises OSError where nobody listens. A Client that cannot connect would print a traceback at its end."""
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=SECONDS_TO_CONNECT, **Security().get_connection_args("client"))
    await comm.close()


def run_on_worker(unit: Unit, secret: str, sandboxed: bool, allowance) -> Result:
    """One unit, on a worker. Raises OSError where it can have no sandbox."""
    from autograder.grading.run import run_unit
    from autograder.grading.sandbox import why_no_sandbox
    from autograder.grading.template import TemplateDied, shared_template

    if sandboxed and (why := why_no_sandbox()):
        raise OSError(f"a worker of the cluster has no sandbox: {why}")
    with _one_at_a_time:
        try:
            return run_unit(unit, secret, shared_template(), sandboxed, allowance)
        except TemplateDied:
            shared_template.cache_clear()
            raise
