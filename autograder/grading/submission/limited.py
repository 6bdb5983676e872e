"""Calls functions in a separate process with limits on time and memory. These functions read or draw parts of
a submission.

Parsers are quick with text that people write, but some take hours or gigabytes for a text made to exhaust
them. Therefore each submission is read, and each of its pictures is drawn, in a fork that is killed if it
reaches a limit. Other submissions are not affected.
"""

import json
import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import psutil

from autograder.errors import place_of
from autograder.grading.sandbox.inside import system
from autograder.grading.sandbox.inside.privileges import lower_limit
from autograder.grading.submission.files import Refused
from autograder.untrusted import checked

WALL_PER_CPU_SECOND = 30  # the work never waits, so only a machine that is stuck exceeds this
LARGEST_RESULT = 64 * 1024**2
FILES = 64  # how many files the work may open
NO_MEMORY, TOO_DEEP = 97, 98  # exit statuses
ENDS = {
    NO_MEMORY: "needed too much memory",
    TOO_DEEP: "met something nested too deeply",
    -signal.SIGXCPU: "took too long",
}
READING_SECONDS, READING_MEMORY = 10, 1024**3  # a lesson takes a tenth of a second and a few megabytes


class OverLimit(Exception):
    """Raised if the function called by `limited` reached a limit. The message says which, for instance "took
    too long".
    """


class Broke(Exception):
    """Raised if the function called by `limited` raised an exception that is neither Refused nor the effect
    of a limit. The message says which one and where; `trace` is its traceback.
    """

    def __init__(self, place: str, trace: str):
        super().__init__(place)
        self.trace = trace


@dataclass(frozen=True)
class _Reply:
    """The reply of the fork: a result, the reason given if the function raised Refused, or the place and
    traceback of any other exception.
    """

    result: Any = None
    refused: str | None = None
    place: str | None = None
    trace: str = ""


def read_limited(function: Callable, *args: Any) -> Any:
    """Call `function(*args)`, which reads a submission, with the usual limits for reading. Raises the errors
    of `limited`, but with Refused in place of OverLimit.
    """
    try:
        return limited(function, *args, seconds=READING_SECONDS, memory=READING_MEMORY)
    except OverLimit as over:
        raise Refused(f"the notebook cannot be read: its reader {over}") from None


def limited(function: Callable, *args: Any, seconds: int, memory: int) -> Any:
    """Call `function(*args)` in a fork that may use `seconds` of CPU time, and `memory` bytes more than this
    process. Return the result as plain data, because it is sent as JSON.

    Raises OverLimit if the fork reaches a limit or ends without a reply, Refused if the function raises it,
    Broke if the function raises any other error, and TimeoutError if the machine is too busy to run it.

    subtle: call this in a process with only one thread. A lock that another thread holds would stay locked in
    the fork.
    """
    result, write_end = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        os.close(result)
        _work(write_end, parent, seconds, memory, function, args)
    os.close(write_end)
    try:
        data = _all_of(result, time.monotonic() + WALL_PER_CPU_SECOND * seconds)
    finally:
        os.close(result)
        system.kill_with_group(pid)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not data:
        raise OverLimit(ENDS.get(status, "ended the process"))
    reply = checked(_Reply, json.loads(data))
    if reply.refused is not None:
        raise Refused(reply.refused)
    if reply.place is not None:
        raise Broke(reply.place, reply.trace)
    return reply.result


def _all_of(pipe: int, deadline: float) -> bytes:
    """Return everything that is written to the pipe until it is closed. Raises OverLimit if there is too much
    data, and TimeoutError after the deadline.
    """
    data = bytearray()
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if not (part := os.read(pipe, 1 << 20)):
            return bytes(data)
        data += part
        if len(data) > LARGEST_RESULT:
            raise OverLimit("produced too much data")
    raise TimeoutError("this machine is too busy to read it")


def _work(pipe: int, parent: int, seconds: int, memory: int, function: Callable, args: tuple) -> NoReturn:
    """Call the function in the fork, send its reply through the pipe, and exit."""
    status = 1
    try:
        os.setpgid(0, 0)
        system.end_with_parent(parent)
        _limit(seconds, memory)
        system.detach_standard_streams()  # so that nothing that libraries print reaches the terminal
        try:
            reply = _Reply(function(*args))
        except (MemoryError, RecursionError):
            raise
        except Refused as refused:
            reply = _Reply(refused=str(refused))
        except BaseException as error:  # the fork must reply after any error
            reply = _Reply(place=place_of(error), trace=traceback.format_exc())
        system.write_all(pipe, json.dumps(vars(reply)).encode())
    except MemoryError:
        status = NO_MEMORY
    except RecursionError:
        status = TOO_DEEP
    finally:
        os._exit(status)


def _limit(seconds: int, memory: int) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    files = max(map(int, os.listdir("/dev/fd"))) + FILES
    lower_limit(resource.RLIMIT_CORE, 0, 0)
    lower_limit(resource.RLIMIT_NOFILE, files, files)
    lower_limit(resource.RLIMIT_CPU, seconds, seconds + 1)
    if psutil.LINUX:
        most = psutil.Process().memory_info().data + memory
        lower_limit(resource.RLIMIT_DATA, most, most)
