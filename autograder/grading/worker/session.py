"""The client of one submission's process. Whatever the process sends is read as plain data."""

import os
import select
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from torch import Tensor

from autograder.grading.sandbox.cgroups import Group, limits_of, parent_of_groups
from autograder.grading.sandbox.sandbox import Sandbox
from autograder.grading.worker.allowance import USUAL, Allowance
from autograder.grading.worker.fork_server import ForkServer
from autograder.grading.worker.protocol import READY, SIZE
from autograder.probe.limit import PATIENCE
from autograder.values.pack import BadMessage, pack, unpack

GRACE = 5.0
TICK = 0.1
SECONDS_TO_START = 60.0
LARGEST_REPLY = 64 * 1024 * 1024
NOT_STOPPED = "its code did not stop"
UNREADABLE = "what came back from its code could not be read"
T = TypeVar("T")


class Ended(Exception):
    """Raised if the submission's process has ended or must be ended. The text is the reason, such as "its
    code did not stop".
    """

    in_probe = False  # whether the process ended while an answer was being called on cases

    def __init__(self, why: str, was_late: bool = False):
        super().__init__(why)
        self.was_late = was_late  # whether the process was ended because it did not reply in time


@dataclass(frozen=True)
class Limits:
    """The CPU seconds for a whole request, and for each call of an answer (None: the probe's default). Each
    may take PATIENCE times as many wall-clock seconds.
    """

    whole: float
    call: float | None = None


def retry_isolated(run: Callable[[bool], T], at_once: bool = False) -> T:
    """Call `run(False)` and return its result. If a probe ended the process, call `run(True)` instead, which
    must isolate its probes. With `at_once`, call only `run(True)`.

    An isolated probe runs in a separate process, which takes ten times as long as a probe in the process that
    runs the cells. Answers that end their process or do not stop must be isolated, so that each affects only
    itself.
    """
    try:
        return run(at_once)
    except Ended as ended:
        if at_once or not ended.in_probe:
            raise
    return run(True)


class Session:
    """One submission's process, in a separate sandbox if `sandboxed`. Use as a context manager.

    Raises OSError or ForkServerDied if this machine cannot start the process.
    """

    def __init__(
        self,
        server: ForkServer,
        sandboxed: bool = True,
        allowance: Allowance = USUAL,
        hidden: tuple[Path, ...] = (),
    ):
        self._allowance = allowance
        self._deadline = time.monotonic() + allowance.whole
        self._looked = time.monotonic()
        self._computed: float | None = None  # CPU seconds of the sandbox at the first look in this request
        self._may_compute = 0.0
        self._sandbox = group = None
        with ExitStack() as ends:  # ends what was started, in reverse order, even if a later step fails
            if parent := parent_of_groups():
                group = Group(parent, limits_of(allowance.memory, allowance.processes))
                ends.callback(group.end)
            if sandboxed:
                self._sandbox = Sandbox(hidden)
                ends.callback(self._sandbox.end)
            namespaces = self._sandbox.pidfd if self._sandbox else None
            self._channel, life = server.fork(allowance.memory, namespaces, group.procs if group else None)
            ends.callback(os.close, life)
            ends.callback(self._channel.close)
            # No student's code runs before the process reports that it is ready, so any failure before that is
            # the machine's fault.
            self._channel.settimeout(SECONDS_TO_START)
            if self._channel.recv(len(READY)) != READY:
                raise OSError("a process did not start in its sandbox")
            self._ends = ends.pop_all()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def cell(self, source: str, limits: Limits | None = None) -> list[dict]:
        """Run a cell, and return its outputs as the process sent them. Raises Ended."""
        seconds = limits.whole if limits else self._allowance.cell
        outputs = self._ask({"do": "cell", "source": source}, seconds).get("outputs")
        return outputs if isinstance(outputs, list) else []

    def module(self, source: str, name: str) -> dict | None:
        """Run a Python file, and return the dict that describes the error that stopped it, or None. Raises
        Ended.
        """
        error = self._ask({"do": "module", "source": source, "name": name}, self._allowance.cell).get("error")
        return error if isinstance(error, dict) else None

    def probe(
        self, name: str, procedure: str, cases: Tensor, isolated: bool, limits: Limits | None = None
    ) -> dict:
        """Call the object with this name on packed cases, in a separate process if `isolated`, and return the
        reply. Raises Ended.
        """
        request = {"do": "probe", "name": name, "procedure": procedure, "cases": cases, "isolated": isolated}
        limits = limits or Limits(self._allowance.probe)
        try:
            return self._ask(request | {"call": limits.call}, limits.whole)
        except Ended as ended:
            ended.in_probe = True
            raise

    def rerun(self, asked: list[dict]) -> list | None:
        """Rerun recorded programs on packed cases. `asked` has one dict {"programs", "cases"} for each
        exercise. Return one list of results for each exercise, or None if the programs could not be run.
        Raises Ended. Call this before the session runs any code of the submission.
        """
        request = {"do": "rerun", "asked": asked}
        records = self._ask(request, self._allowance.probe, before=_message({"do": "apart"})).get("records")
        return records if isinstance(records, list) and len(records) == len(asked) else None

    def graph(self, name: str, procedure: str, case: Tensor, limits: Limits | None = None) -> dict:
        """Trace the object with this name on one packed case. Return the reply, which contains the graph as
        plain data or the reason why there is none. Raises Ended.
        """
        request = {"do": "graph", "name": name, "procedure": procedure, "case": case}
        return self._ask(request, limits.whole if limits else self._allowance.probe)

    def _ask(self, request: dict, seconds: float, before: bytes = b"") -> dict:
        deadline = min(time.monotonic() + PATIENCE * seconds + GRACE, self._deadline)
        self._computed, self._may_compute = None, seconds + GRACE
        try:
            self._channel.settimeout(max(0.1, deadline - time.monotonic()))
            self._channel.sendall(before + _message(request | {"seconds": seconds}))
            (size,) = SIZE.unpack(self._exactly(SIZE.size, deadline))
            if size > LARGEST_REPLY:
                raise Ended("its code wrote too much output")
            reply = unpack(self._exactly(size, deadline))
        except OSError:
            raise Ended("its code ended the process") from None
        except BadMessage:
            raise Ended(UNREADABLE) from None
        if not isinstance(reply, dict):
            raise Ended(UNREADABLE)
        return reply

    def _exactly(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < count:
            self._wait(deadline)
            part = self._channel.recv(min(count - len(data), 1 << 20))
            if not part:
                raise Ended("its code ended the process")
            data += part
        return bytes(data)

    def _wait(self, deadline: float) -> None:
        """Wait until something can be read; meanwhile, check that the submission stays within its allowance.
        Raises Ended.
        """
        ready = False
        while not ready:
            ready = bool(select.select([self._channel], [], [], TICK)[0])
            now = time.monotonic()
            # subtle: also if something can be read; otherwise a reply sent byte by byte would never be late.
            if now > deadline:
                raise Ended(NOT_STOPPED, was_late=True)
            if self._sandbox is None or now <= self._looked + TICK:
                continue
            self._looked = now
            used = self._sandbox.usage()
            if used.processes > self._allowance.processes:
                raise Ended("its code started too many processes")
            if used.memory > self._allowance.memory:
                raise Ended("its code used too much memory")
            if self._computed is None:
                self._computed = used.computed
            if used.computed > self._computed + self._may_compute:
                raise Ended(NOT_STOPPED, was_late=True)


def _message(request: dict) -> bytes:
    data = pack(request)
    return SIZE.pack(len(data)) + data
