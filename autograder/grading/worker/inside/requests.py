"""One submission's process: it answers requests from outside until the channel is closed.

    {"do": "cell", "source", "seconds"}               -> {"outputs": [...]}
    {"do": "module", "source", "name", "seconds"}     -> {"error": None or a dict that describes the error}
    {"do": "probe", "name", "procedure", "cases", "isolated", "call", "seconds"}
                                                      -> {"found", "callable", "kind", "records"}
    {"do": "graph", "name", "procedure", "case", "seconds"}
                                                      -> {"graph": plain data}, or {"raised": where}, which
                                                         is "" if the answer's own code raised the error
    {"do": "apart"}                                   -> no reply; a fork reads and answers the next request
    {"do": "rerun", "asked": [{"cases", "programs"}, ...], "seconds"}   -> {"records": [[...], ...]}

Each isolated probe and each graph runs in a fork, so that an answer that never returns, or that ends the
process, affects nothing else.
"""

import linecache
import math
import os
import resource
import signal
import sys
import types
from collections.abc import Callable

from torch import Tensor

from autograder.errors import place_of
from autograder.faults import is_own_fault, trust_boundary
from autograder.grading.sandbox.inside.privileges import lower_limit
from autograder.grading.sandbox.inside.system import write_all
from autograder.grading.worker.answer_graph import answer_graph
from autograder.grading.worker.inside.shell import Shell
from autograder.grading.worker.protocol import SIZE
from autograder.graph import as_data
from autograder.probe import probe
from autograder.probe.guard import guarded
from autograder.probe.limit import PATIENCE
from autograder.probe.rerun import rerun
from autograder.probe.run import SECONDS_PER_CALL
from autograder.schema.packed import unpack_cases
from autograder.values.pack import pack, unpack


def serve(channel: int, shell: Shell) -> None:
    """Answer requests until the other end of the channel is closed."""
    submission = _Submission(shell)
    while (request := _request(channel)) is not None:
        if request["do"] == "apart":
            _answer_apart(channel)
        else:
            _send(channel, submission.answer(request))


def _request(channel: int) -> dict | None:
    head = _exactly(channel, SIZE.size)
    request = _exactly(channel, SIZE.unpack(head)[0]) if head else None
    return None if request is None else unpack(request)


def _send(channel: int, reply: bytes) -> None:
    write_all(channel, SIZE.pack(len(reply)) + reply)


def _answer_apart(channel: int) -> None:
    """Answer the next request, a rerun of programs, in a fork. The rerun then leaves no trace in the memory
    of this process, in which the submission's code will run.
    """
    pid = os.fork()
    if pid == 0:
        try:
            if (request := _request(channel)) is not None:
                signal.alarm(int(PATIENCE * request["seconds"]) + 1)
                records = [
                    rerun(one["programs"], unpack_cases(_bytes(one["cases"]))) for one in request["asked"]
                ]
                _send(channel, pack({"records": records}))
                os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if status:
        _send(channel, pack({"ended": os.waitstatus_to_exitcode(status)}))


class _Submission:
    """The state of one submission: its shell, and the names that its code has defined."""

    def __init__(self, shell: Shell):
        self.shell = shell
        self.names = shell.user_ns

    def answer(self, request: dict) -> bytes:
        """Return the packed reply to one request."""
        return getattr(self, "_" + request.pop("do"))(**request)

    def _cell(self, source: str, seconds: float) -> bytes:
        return pack({"outputs": self.shell.run(source, seconds)})

    def _module(self, source: str, name: str, seconds: float) -> bytes:
        # subtle: with the text in linecache, an error can show the student's own line, and inspect works.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        module = types.ModuleType("answer")
        module.__file__ = name
        sys.modules["answer"] = module
        self.names = module.__dict__
        _, error = guarded(lambda: _run(source, name, module.__dict__), seconds)
        return pack({"error": error})

    def _probe(
        self, name: str, procedure: str, cases: Tensor, isolated: bool, call: float | None, seconds: float
    ) -> bytes:
        def records() -> bytes:
            answer = self.names.get(name)
            reply = {"found": name in self.names, "callable": callable(answer), "kind": type(answer).__name__}
            done = []
            if reply["callable"]:
                asked = unpack_cases(_bytes(cases))
                done = probe(answer, asked, procedure, seconds=call, told=SECONDS_PER_CALL)
            return pack(reply | {"records": done})

        return _in_a_fork(records, seconds) if isolated else records()

    def _graph(self, name: str, procedure: str, case: Tensor, seconds: float) -> bytes:
        def graph() -> bytes:
            try:
                drawing = answer_graph(self.names.get(name), procedure, unpack_cases(_bytes(case))[0])
                return pack({"graph": as_data(drawing)})
            except Exception as error:  # the answer's code runs here
                return pack({"raised": place_of(error.__cause__ or error) if is_own_fault(error) else ""})

        return _in_a_fork(graph, seconds)


@trust_boundary
def _run(source: str, name: str, names: dict) -> None:
    exec(compile(source, name, "exec"), names)


def _in_a_fork(work: Callable[[], bytes], seconds: float) -> bytes:
    """Run `work()` in a child process, and return its reply, or a reply that says how the child ended. The
    child is killed after `seconds` of CPU time, or after PATIENCE times as many wall-clock seconds.
    """
    result, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(result)
            most = math.ceil(seconds)
            lower_limit(resource.RLIMIT_CPU, most, most)
            write_all(write_end, work())
        finally:
            os._exit(0)
    os.close(write_end)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
    try:
        with open(result, "rb") as file:
            data = file.read()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    _, status = os.waitpid(pid, 0)
    return data or pack({"ended": os.waitstatus_to_exitcode(status)})


def _bytes(numbers: Tensor) -> bytes:
    """Convert a tensor in a message back to the bytes that it carries."""
    return numbers.numpy().tobytes()


def _exactly(channel: int, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        part = os.read(channel, min(count - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)
