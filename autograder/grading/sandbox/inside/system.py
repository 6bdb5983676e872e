"""System calls for the grader's own processes."""

import contextlib
import ctypes
import os
import signal
import sys
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library. Raises OSError if it returns -1."""
    result = getattr(LIBC, name)(*arguments)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def signal_at_parents_end(number: int) -> None:
    """Ask the kernel to send this process the signal `number` when the thread that started it ends. The
    number 0 cancels an earlier request.
    """
    if sys.platform == "linux":
        call("prctl", PR_SET_PDEATHSIG, number, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the thread that started it ends, for whatever reason (on Linux).
    `parent` is the id of that thread's process; if that process has already ended, exit now.
    """
    signal_at_parents_end(signal.SIGKILL)
    if os.getppid() != parent:  # the parent has already ended
        os._exit(1)


def kill_with_group(pid: int) -> None:
    """Kill a child and its process group. subtle: a child that is not yet in a group of its own has not
    started any processes, so killing the child is enough.
    """
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def detach_standard_streams() -> None:
    """Redirect standard input, output and error to /dev/null."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    if nothing > 2:
        os.close(nothing)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the data, even if one call accepts only a part."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
