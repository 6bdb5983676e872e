"""Runs units on a Dask cluster (dask.distributed), for `grade DIR --cluster ADDRESS`.

Each worker needs this package and bubblewrap, and nothing of the course: a unit holds all that is run, and results
come back to the one process that writes the gradebook. A worker judges one submission at a time, each in a sandbox of
its own; if a worker is lost, Dask gives its submissions to another.
"""

import asyncio
import threading
from collections.abc import Iterable, Iterator

from autograder.errors import UserError
from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import HowToRun, run_here
from autograder.grading.parallel.pool import a_few_at_a_time, result_or_failed, retried
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.submission.unit import Unit

SECONDS_TO_CONNECT = 20
_one_at_a_time = threading.Lock()


def run_on_cluster(units: Iterable[tuple], how: HowToRun, address: str) -> Iterator[tuple]:
    """(name, Result or Failed) for each (name, unit), as they are done, from the cluster whose scheduler has this
    address, as in "tcp://127.0.0.1:8786".

    Raises UserError if there is no such cluster, or it has no worker.
    """

    def attempt(units, isolated):
        with _client(address) as client, client.as_current():
            from distributed import wait

            workers = len(client.scheduler_info()["workers"])
            yield from a_few_at_a_time(
                units, lambda unit: client.submit(run_on_worker, unit, how, pure=False), wait, workers
            )

    return retried(units, attempt)


def _client(address: str):
    try:
        from distributed import Client
    except ImportError:
        raise UserError("--cluster needs Dask; `pip install 'attention-by-hand[cluster]'` installs it.") from None
    try:
        asyncio.run(_call(address))
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError):
        raise UserError(
            f"there is no Dask scheduler at {address}; `dask scheduler` starts one and prints its address."
        ) from None
    if not client.scheduler_info()["workers"]:
        client.close()
        raise UserError(f"the scheduler at {address} has no workers; `dask worker {address}` starts one.")
    return client


async def _call(address: str) -> None:
    """Raises OSError if nobody listens. A Client that cannot connect would print a traceback at its end."""
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=SECONDS_TO_CONNECT, **Security().get_connection_args("client"))
    await comm.close()


def run_on_worker(unit: Unit, how: HowToRun) -> Result | Failed:
    """One unit, on a worker."""
    with _one_at_a_time:
        if how.sandboxed and (why := why_no_sandbox()):
            return Failed(f"a worker of the cluster has no sandbox: {why}")
        return result_or_failed(run_here, unit, how)
