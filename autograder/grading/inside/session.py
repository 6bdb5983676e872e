"""One submission's process: it answers requests from outside until nobody asks any more.

    {"do": "cell", "source", "seconds"}               -> {"outputs": [...]}
    {"do": "module", "source", "name", "seconds"}     -> {"error": None or a described error}
    {"do": "probe", "name", "procedure", "cases", "alone", "seconds"}
                                                      -> {"found", "callable", "kind", "records"}
    {"do": "graph", "name", "procedure", "case", "seconds"}     -> {"graph": plain data or None}

A probe that is to be `alone` runs in a fork, so that an answer that never ends, or ends the process, costs only
itself. So does every graph.
"""

import linecache
import os
import signal
import struct
import sys
import types

from autograder.grading.drawn import drawn_on
from autograder.graph import as_data
from autograder.probe import probe
from autograder.probe.guard import guarded
from autograder.probe.wire import pack, unpack, unpack_cases

READY = b"ready"  # said before any code of a student runs


def serve(channel: int, shell) -> None:
    """Answers requests until the other end of the channel is closed."""
    session = _Session(shell)
    while (request := _receive(channel)) is not None:
        reply = session.answer(unpack(request))
        _send(channel, reply)


class _Session:
    """The state of one submission: the names that its code has defined."""

    def __init__(self, shell):
        self.shell = shell
        self.names = shell.user_ns

    def answer(self, request: dict) -> bytes:
        """The packed reply to one request."""
        return getattr(self, "_" + request.pop("do"))(**request)

    def _cell(self, source, seconds):
        return pack({"outputs": self.shell.run(source, seconds)})

    def _module(self, source, name, seconds):
        # subtle: with the text in linecache an error can show the student's own line, and inspect works.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        module = types.ModuleType("answer")
        module.__file__ = name
        sys.modules["answer"] = module
        self.names = module.__dict__
        _, error = guarded(lambda: exec(compile(source, name, "exec"), module.__dict__), seconds)
        return pack({"error": error})

    def _probe(self, name, procedure, cases, alone, seconds):
        if not alone:
            return self._records(name, procedure, cases)
        return _in_a_fork(lambda: self._records(name, procedure, cases), seconds)

    def _records(self, name, procedure, cases):
        answer = self.names.get(name)
        reply = {"found": name in self.names, "callable": callable(answer), "kind": type(answer).__name__}
        records = probe(answer, unpack_cases(_bytes(cases)), procedure) if reply["callable"] else []
        return pack(reply | {"records": records})

    def _graph(self, name, procedure, case, seconds):
        return _in_a_fork(lambda: pack({"graph": self._drawn(name, procedure, case)}), seconds)

    def _drawn(self, name, procedure, case):
        return as_data(drawn_on(self.names.get(name), procedure, unpack_cases(_bytes(case))[0]))


def _in_a_fork(work, seconds: float) -> bytes:
    """What `work()` returns in a child; a reply that says how the child ended where it returned nothing."""
    result, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(result)
            _write_all(write_end, work())
        finally:
            os._exit(0)
    os.close(write_end)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        parts = []
        while part := os.read(result, 1 << 20):
            parts.append(part)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.close(result)
    _, status = os.waitpid(pid, 0)
    return b"".join(parts) or pack({"ended": os.waitstatus_to_exitcode(status)})


def _bytes(numbers) -> bytes:
    """Bytes travel as a tensor of bytes."""
    return numbers.numpy().tobytes()


def _receive(channel: int) -> bytes | None:
    head = _exactly(channel, 8)
    return None if head is None else _exactly(channel, struct.unpack("<Q", head)[0])


def _exactly(channel: int, count: int) -> bytes | None:
    parts = []
    while count:
        part = os.read(channel, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _send(channel: int, data: bytes) -> None:
    _write_all(channel, struct.pack("<Q", len(data)) + data)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


