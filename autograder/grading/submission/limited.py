"""Work on a submission in a process of its own with limits of time and memory.

Parsers are quick with what people write, but some take hours or gigabytes with a text made to hurt them. So each
submission is read, and each of its pictures drawn, in a fork that is ended at its limits: reaching one concerns this
submission alone.
"""

import contextlib
import json
import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable

import psutil

from autograder.errors import place_of
from autograder.grading.sandbox.inside.privileges import end_with_parent
from autograder.grading.submission.files import Refused

WAITING = 6  # wall time over computing time: on a busy machine the work waits for its turn
LARGEST_RESULT = 64 * 1024**2
FILES = 64  # that the work may open
NO_MEMORY, TOO_DEEP = 97, 98  # exit statuses
READING_SECONDS, READING_MEMORY = 10, 1024**3  # a lesson takes a tenth of a second and a few megabytes


class OverLimit(Exception):
    """The work reached a limit. The text says which, as in "took too long"."""


class Broke(Exception):
    """The work raised an exception. The text says what and where, `trace` is its traceback."""

    def __init__(self, place: str, trace: str):
        super().__init__(place)
        self.trace = trace


def read_limited(function: Callable, *args):
    """Calls `function(*args)`, which reads a submission, in a process with limits; returns its result as plain data.
    Raises Refused if it does, or reached a limit; and Broke and TimeoutError as `limited` does."""
    try:
        done = limited(_or_refused, function, args, seconds=READING_SECONDS, memory=READING_MEMORY)
    except OverLimit as over:
        raise Refused(f"the notebook cannot be read: its reader {over}") from None
    if "refused" in done:
        raise Refused(done["refused"])
    return done["read"]


def _or_refused(function: Callable, args: tuple) -> dict:
    try:
        return {"read": function(*args)}
    except Refused as refused:
        return {"refused": str(refused)}


def limited(function: Callable, *args, seconds: int, memory: int):
    """Calls `function(*args)` in a fork that may compute for `seconds` and take `memory` bytes more than this process
    has; returns its result as plain data (it travels as JSON).

    Raises OverLimit if the fork reached a limit or ended otherwise, Broke if the function raised, and TimeoutError if
    it hardly got to compute at all, which is the machine's fault. subtle: call it in a process with one thread; what
    another thread has locked stays locked in the fork.
    """
    result, write_end = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        os.close(result)
        _work(write_end, parent, seconds, memory, function, args)
    os.close(write_end)
    try:
        data = _all_of(result, time.monotonic() + WAITING * seconds)
    finally:
        os.close(result)
        status = _end(pid)
    if data is None:
        raise OverLimit("made too much of it")
    if not data:
        raise OverLimit(_why(status))
    reply = json.loads(data)
    if "trace" in reply:
        raise Broke(reply["place"], reply["trace"])
    return reply["result"]


def _all_of(pipe: int, deadline: float) -> bytes | None:
    """All that is written until the pipe is closed; None if that is too much. Raises TimeoutError."""
    parts: list[bytes] = []
    size = 0
    while True:
        if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError("this machine is too busy to read it")
        part = os.read(pipe, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > LARGEST_RESULT:
            return None


def _end(pid: int) -> int:
    """Ends the fork with all that it started, and returns its exit status."""
    # subtle: if the fork has not made its group yet, it has started nothing either.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _why(status: int) -> str:
    if status == NO_MEMORY:
        return "needed too much memory"
    if status == TOO_DEEP:
        return "met something nested too deeply"
    return "took too long" if status == -signal.SIGXCPU else "ended the process"


def _work(pipe: int, parent: int, seconds: int, memory: int, function, args) -> None:
    """The fork. Never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        end_with_parent(parent)
        _limit(seconds, memory)
        _silence()
        try:
            reply = {"result": function(*args)}
        except (MemoryError, RecursionError):
            raise
        except BaseException as error:
            reply = {"place": place_of(error), "trace": traceback.format_exc()}
        data = memoryview(json.dumps(reply).encode())
        while data:
            data = data[os.write(pipe, data) :]
    except MemoryError:
        status = NO_MEMORY
    except RecursionError:
        status = TOO_DEEP
    finally:
        os._exit(status)


def _limit(seconds: int, memory: int) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    files = max(map(int, os.listdir("/dev/fd"))) + FILES
    limits = [(resource.RLIMIT_CORE, 0, 0), (resource.RLIMIT_NOFILE, files, files)]
    limits.append((resource.RLIMIT_CPU, seconds, seconds + 1))
    if psutil.LINUX:
        most = psutil.Process().memory_info().data + memory
        limits.append((resource.RLIMIT_DATA, most, most))
    for kind, soft, hard in limits:
        _, most = resource.getrlimit(kind)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))


def _silence() -> None:
    """Closes the terminal to what libraries print."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
