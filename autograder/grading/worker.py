"""Answers are run in children of a warm process.

A `Template` is a process forked after torch and the probe were imported, and nothing else: no exercise, no
reference, no mistake, so nothing of them is in the memory that its children inherit. For every answer it forks
a child, which loads the file, probes the object on the cases it was sent, writes the records back and ends. What
comes back is read as plain data (autograder.probe.wire).
"""

import os
import resource
import select
import signal
import struct
import sys
import time

SECONDS_PER_ANSWER = 60.0
LARGEST_ANSWER = 256 * 1024 * 1024
MEMORY = 6 * 1024**3
LARGEST_FILE = 64 * 1024 * 1024


class Template:
    """A warm process that runs answers one after the other. Use as a context manager."""

    def __init__(self):
        ours, theirs = _pair(), _pair()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ours[1])
            os.close(theirs[0])
            _serve(ours[0], theirs[1])
            os._exit(0)
        os.close(ours[0])
        os.close(theirs[1])
        self._to, self._from = ours[1], theirs[0]

    def run(self, path: str, name: str, procedure: str, cases: bytes) -> tuple[str, bytes]:
        """How the child ended ("done", "died 11", "out of time") and the bytes it wrote."""
        for part in (path.encode(), name.encode(), procedure.encode(), cases):
            _send(self._to, part)
        return _receive(self._from).decode(), _receive(self._from)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._to)
        os.close(self._from)
        os.waitpid(self.pid, 0)


def _pair():
    return os.pipe()


def _send(descriptor: int, data: bytes) -> None:
    data = struct.pack("<Q", len(data)) + data
    while data:
        data = data[os.write(descriptor, data) :]


def _receive(descriptor: int) -> bytes:
    return _exactly(descriptor, struct.unpack("<Q", _exactly(descriptor, 8))[0])


def _exactly(descriptor: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            raise EOFError("the other process has ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _serve(requests: int, replies: int) -> None:
    """The template's life: wait for a request, fork, report; until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the driver, which closes the pipe
    while True:
        try:
            path, name, procedure, cases = (_receive(requests) for _ in range(4))
        except EOFError:
            return
        ending, data = _run_child(path.decode(), name.decode(), procedure.decode(), cases)
        try:
            _send(replies, ending.encode())
            _send(replies, data)
        except BrokenPipeError:
            return


def warm_up(notebooks: bool = False) -> None:
    """Imports and calls once what every child needs, before the templates are forked: nobody pays twice."""
    import torch

    import autograder.grading.answer
    import autograder.probe.wire  # noqa: F401

    torch.set_num_threads(1)
    torch.softmax(torch.ones(2, 2) @ torch.ones(2, 2), dim=-1).sum()
    if notebooks:
        from IPython.core.interactiveshell import InteractiveShell  # noqa: F401


def _run_child(path, name, procedure, cases) -> tuple[str, bytes]:
    result, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(result)
        try:
            _child(write_end, path, name, procedure, cases)
        finally:
            os._exit(1)
    os.close(write_end)
    data, in_time = _read_until(result, time.monotonic() + SECONDS_PER_ANSWER)
    os.close(result)
    _kill_group(pid)
    _, status = os.waitpid(pid, 0)
    if data:
        return "done", data
    if not in_time:
        return "out of time", b""
    return f"died {os.waitstatus_to_exitcode(status)}", b""


def _read_until(descriptor: int, deadline: float) -> tuple[bytes, bool]:
    """What the child wrote, and whether it ended its message in time."""
    parts, size = [], 0
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            break
        part = os.read(descriptor, 1 << 20)
        if not part:
            return b"".join(parts), True
        parts.append(part)
        size += len(part)
        if size > LARGEST_ANSWER:
            return b"", True
    return b"", False


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _child(write_end, path, name, procedure, cases) -> None:
    """Runs one answer and writes what was recorded. Never returns to the template."""
    os.setsid()
    _close_all_but(write_end)
    _limit()
    _no_output()
    from autograder.grading.answer import run_file
    from autograder.probe import probe
    from autograder.probe.guard import guarded
    from autograder.probe.wire import pack, unpack_cases

    loaded, stopped = guarded(lambda: run_file(path), SECONDS_PER_ANSWER)
    names, error = loaded or ({}, stopped)
    answer = names.get(name)
    records = []
    if callable(answer):
        records = probe(answer, unpack_cases(cases), procedure)
    message = pack(
        {
            "found": name in names,
            "callable": callable(answer),
            "error": error,
            "records": records,
            "kind": type(answer).__name__,
        }
    )
    with os.fdopen(write_end, "wb") as file:
        file.write(message)
    os._exit(0)


def _close_all_but(write_end: int) -> None:
    """An answer may not write into the pipes by which other answers are judged."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(3, write_end)
    os.closerange(write_end + 1, min(most, 1 << 16))


def _limit() -> None:
    """An answer may not fill the machine's memory or disk."""
    for kind, most in (
        (resource.RLIMIT_DATA, MEMORY),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _no_output() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
