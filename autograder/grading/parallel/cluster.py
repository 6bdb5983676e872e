"""Runs units (submissions as plain data, see submission/unit.py) on a Dask cluster (dask.distributed), for
`grade DIR --cluster ADDRESS`.

Each worker needs this package and bubblewrap, but no file of the course: a unit contains everything that is
run, and its result is returned to the process that read the submission. A worker judges one submission at a
time, each in a separate sandbox. If a worker is lost, Dask passes its submissions to another worker.
"""

import asyncio
import threading

from autograder.errors import UserError
from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.run import HowToRun, failure, run_there
from autograder.grading.submission.unit import Unit

SECONDS_TO_CONNECT = 20
_one_at_a_time = threading.Lock()


class ClusterRunner:
    """The Runner (pool.py) for the cluster whose scheduler is at `address`, such as "tcp://127.0.0.1:8786".

    Raises UserError if there is no such cluster, or if it has no worker.
    """

    def __init__(self, how: HowToRun, address: str):
        self.how, self._address = how, address
        self.at_once = 2 * _count_workers(address)  # one running and one queued per worker

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, unit: Unit) -> Result | Failed:
        """Run one unit on the cluster. Raises OSError if the cluster fails."""
        try:
            return asyncio.run(_run(unit, self.how, self._address))
        except Exception as error:  # any error of Dask; those of the work itself are returned, not raised
            raise OSError(f"{type(error).__name__}: {error}") from error


def _count_workers(address: str) -> int:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise UserError(
            "--cluster needs Dask; `pip install 'attention-by-hand[cluster]'` installs it."
        ) from None
    try:
        workers = asyncio.run(_workers(address))
    except (OSError, ValueError):
        raise UserError(
            f"there is no Dask scheduler at {address}; `dask scheduler` starts one and prints its address."
        ) from None
    if not workers:
        raise UserError(f"the scheduler at {address} has no workers; `dask worker {address}` starts one.")
    return workers


async def _workers(address: str) -> int:
    from distributed.core import rpc
    from distributed.security import Security

    more = Security().get_connection_args("client")
    async with rpc(address, timeout=SECONDS_TO_CONNECT, connection_args=more) as scheduler:
        return len((await scheduler.identity())["workers"])


async def _run(unit: Unit, how: HowToRun, address: str) -> Result | Failed:
    """Run one unit on the cluster. subtle: the client is asynchronous because any other client starts
    threads, and this process must have only one thread, because it forks to read the next submission.
    """
    from distributed import Client

    async with Client(address, asynchronous=True, timeout=SECONDS_TO_CONNECT, set_as_default=False) as client:
        return await client.submit(run_on_worker, unit, how, pure=False)


def run_on_worker(unit: Unit, how: HowToRun) -> Result | Failed:
    """Run one unit in this worker process, and return its result, or Failed if anything goes wrong."""
    with _one_at_a_time:
        try:
            return run_there(unit, how)
        except Exception as error:  # returned, so that Dask does not take it for an error of the cluster
            return failure(error)
