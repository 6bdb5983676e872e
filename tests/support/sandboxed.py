"""Helpers for tests of sandboxes and processes. Tests that need a sandbox are skipped if none can be made."""

import os
import time

import psutil
import pytest

from autograder.grading.sandbox.sandbox import why_no_sandbox

needs_sandbox = pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")


def shown(outputs: list[dict]) -> str:
    """Return the text that a cell printed, and the errors that stopped it."""
    return "".join(output.get("text", "") or "\n".join(output.get("traceback", [])) for output in outputs)


def in_a_fork(work) -> str:
    """Run `work()` in a forked child; return the text that it returns, or the repr of the error that it
    raises.
    """
    read, write = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            os.write(write, (work() or "").encode())
        except BaseException as error:
            os.write(write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with open(read) as said:
        return said.read()


def has_ended(pid: int) -> bool:
    """Return whether a process has ended; a zombie counts as ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def waited(holds, seconds: float = 300.0) -> bool:
    """Wait until `holds()` is true; return False if it is not true in time."""
    until = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.02)
    return held
