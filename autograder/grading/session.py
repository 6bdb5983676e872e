"""The talk with the process of one submission. Whatever comes from there is read as plain data, or not at all."""

import os
import select
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.grading.cgroups import Group, limits_of, where_groups_can_be
from autograder.grading.inside.enter import Limits
from autograder.grading.inside.session import READY
from autograder.grading.sandbox import Sandbox
from autograder.grading.template import Template
from autograder.probe.wire import BadMessage, pack, unpack

GRACE = 5.0
TICK = 0.1
SECONDS_TO_START = 60.0
LARGEST_REPLY = 64 * 1024 * 1024


@dataclass(frozen=True)
class Allowance:
    """What one submission may use, in seconds, bytes and processes."""

    cell: float = 60.0
    probe: float = 60.0
    whole: float = 600.0
    memory: int = 6 * 1024**3
    processes: int = 128


USUAL = Allowance()


class Ended(Exception):
    """The submission's process is gone. The text says why, as in "its code did not stop"."""

    in_probe = False  # whether it ended while an answer was put to cases


def again_with_care(run):
    """What `run(alone)` returns: with False first, and where a probe ended the process, with True.

    A probe in the process of the cells costs a tenth of one in a process of its own (`alone`), which answers that
    end the process or do not stop need, so that each costs only itself.
    """
    try:
        return run(False)
    except Ended as ended:
        if not ended.in_probe:
            raise
    return run(True)


class Session:
    """One submission's process, in a sandbox of its own where `sandboxed`. Use as a context manager.

    Raises OSError or TemplateDied where this machine cannot start it.
    """

    def __init__(
        self,
        template: Template,
        sandboxed: bool = True,
        allowance: Allowance = USUAL,
        hidden: tuple[Path, ...] = (),
    ):
        self._allowance = allowance
        self._group = self._sandbox = None
        self._deadline = time.monotonic() + allowance.whole
        limits = Limits(memory=allowance.memory)
        self._life = self._channel = None
        self._looked = time.monotonic()
        try:
            if sandboxed:
                self._sandbox = Sandbox(hidden)
            if parent := where_groups_can_be():
                self._group = Group(parent, limits_of(allowance.memory, allowance.processes))
            namespaces, group = self._sandbox and self._sandbox.pidfd, self._group and self._group.procs
            self._channel, self._life = template.fork(limits, namespaces, group)
            self._wait_until_ready()
        except BaseException:
            self.__exit__()
            raise

    def _wait_until_ready(self) -> None:
        """No student's code has run before the process says that it is there, so that what fails until then is
        the machine's fault. Raises OSError."""
        self._channel.settimeout(SECONDS_TO_START)
        if self._channel.recv(len(READY)) != READY:
            raise OSError("a process did not start in its sandbox")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._channel:
            self._channel.close()
            os.close(self._life)
        if self._sandbox:
            self._sandbox.end()
        if self._group:
            self._group.end()

    def cell(self, source: str) -> list[dict]:
        """The outputs of a cell, as sent. Raises Ended."""
        reply = self._ask({"do": "cell", "source": source}, self._allowance.cell)
        outputs = reply.get("outputs")
        return outputs if isinstance(outputs, list) else []

    def module(self, source: str, name: str) -> dict | None:
        """Runs a Python file; the described error that stopped it, or None. Raises Ended."""
        error = self._ask({"do": "module", "source": source, "name": name}, self._allowance.cell).get("error")
        return error if isinstance(error, dict) else None

    def probe(self, name: str, procedure: str, cases, alone: bool) -> dict:
        """What the object of that name does on packed cases (as bytes in a tensor), `alone` in a process of its
        own. Raises Ended."""
        request = {"do": "probe", "name": name, "procedure": procedure, "cases": cases, "alone": alone}
        try:
            return self._ask(request, self._allowance.probe)
        except Ended as ended:
            ended.in_probe = True
            raise

    def graph(self, name: str, procedure: str, case) -> dict | None:
        """The traced graph of the object on one packed case, as plain data. Raises Ended."""
        request = {"do": "graph", "name": name, "procedure": procedure, "case": case}
        return self._ask(request, self._allowance.probe).get("graph")

    def _ask(self, request: dict, seconds: float) -> dict:
        deadline = min(time.monotonic() + seconds + GRACE, self._deadline)
        data = pack(request | {"seconds": seconds})
        try:
            self._channel.settimeout(max(0.1, deadline - time.monotonic()))
            self._channel.sendall(struct.pack("<Q", len(data)) + data)
            (size,) = struct.unpack("<Q", self._exactly(8, deadline))
            if size > LARGEST_REPLY:
                raise Ended("its code wrote too much output")
            reply = unpack(self._exactly(size, deadline))
        except (TimeoutError, OSError):
            raise Ended("its code ended the process") from None
        except BadMessage:
            raise Ended("what came back from its code could not be read") from None
        if not isinstance(reply, dict):
            raise Ended("what came back from its code could not be read")
        return reply

    def _exactly(self, count: int, deadline: float) -> bytes:
        parts = []
        while count:
            self._wait(deadline)
            part = self._channel.recv(min(count, 1 << 20))
            if not part:
                raise Ended("its code ended the process")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, deadline: float) -> None:
        """Until something can be read; meanwhile nobody starts too many processes or takes all memory."""
        ready = False
        while not ready:
            ready = bool(select.select([self._channel], [], [], TICK)[0])
            now = time.monotonic()
            # subtle: also where something can be read, else a reply that comes byte by byte would never be late.
            if now > deadline:
                raise Ended("its code did not stop")
            if self._sandbox is not None and now > self._looked + TICK:
                self._looked = now
                self._look()

    def _look(self) -> None:
        processes, memory = self._sandbox.usage()
        if processes > self._allowance.processes:
            raise Ended("its code started too many processes")
        if memory > self._allowance.memory:
            raise Ended("its code used too much memory")
