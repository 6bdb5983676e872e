"""A pool of processes forked from this one."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from autograder.grading.sandbox.inside.privileges import end_with_parent

# The work of this process, set once when it is forked: it holds open sockets, which cannot be sent with each task.
_work: Callable | None = None


@contextmanager
def forked_processes(count: int, work: Callable) -> Iterator[Callable[[object], Future]]:
    """Gives `submit(item)`, which runs `work(item)` in one of `count` processes.

    subtle: forked, not spawned, so that PyTorch is imported once for all of them, and they share the fork server's
    socket. A fork of a process in which PyTorch has computed on several threads hangs if it does so, too: each of
    these computes on one.
    """
    pool = ProcessPoolExecutor(count, get_context("fork"), _start, (work, os.getpid()))
    try:
        yield lambda item: pool.submit(_run, item)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start(work: Callable, parent: int) -> None:
    """A process ends when its parent does, however that ended; Ctrl-C is for the parent."""
    global _work
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    torch.set_num_threads(1)
    _work = work


def _run(item: object):
    assert _work is not None, "set when the process began"
    return _work(item)
