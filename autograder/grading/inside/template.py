"""The warm process. Started as `python -c ... autograder.grading.inside.template`, with an empty environment.

It imports what a submission may need, once, and then waits on a socket. Each message carries the files of one
submission: its channel, a pipe that closes when nobody outside is interested any more, and, for a sandbox, a
handle of the process that holds its namespaces.
"""

import json
import os
import random
import select
import signal
import socket
import struct
import sys

from autograder.grading.inside.enter import REQUEST, Limits, close_all_but, give_up, join
from autograder.grading.inside.memory import settle
from autograder.grading.inside.session import READY, serve
from autograder.grading.inside.shell import make_shell
from autograder.grading.inside.stubs import silence_the_course

HOME = "/tmp"


def main(control: int) -> None:
    """Serves until the other end of the control socket is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that started this one
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    with socket.socket(fileno=control) as requests:
        shell = _warm_up(requests)
        requests.send(b"warm")
        while True:
            request, files, _, _ = socket.recv_fds(requests, 64, 4)
            if not request:
                return
            if os.fork() == 0:
                *limits, sandboxed, grouped = struct.unpack(REQUEST, request)
                channel, life, *places = files
                namespaces = places.pop(0) if sandboxed else None
                _keep(shell, Limits(*limits), channel, life, namespaces, places.pop() if grouped else None)
            for file in files:
                os.close(file)


def _warm_up(requests):
    import numpy as np
    import torch

    from autograder.graph import draw
    from autograder.graph.axes import tell_shapes

    # subtle: the exercises hold the course's answers, and must never be in this memory. Graphs need their letters.
    tell_shapes(json.loads(requests.recv(1 << 20)))
    torch.set_num_threads(1)
    weights = torch.ones(2, 2, requires_grad=True)
    torch.softmax(weights @ weights, dim=-1).sum().backward()
    # What is imported at the first drawing, and at the first padding (sympy: half a second), is there from now on.
    draw(lambda x: x + torch.nn.functional.linear(x, x), weights)
    layer, nothing = torch.nn.MultiheadAttention(2, 1, batch_first=True), torch.zeros(1, 2, dtype=torch.bool)
    layer(*[weights[None]] * 3, key_padding_mask=nothing)
    # Every submission draws the same numbers, so that a second run gives the same grade.
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    silence_the_course()
    shell = make_shell()
    settle()
    return shell


def _keep(
    shell, limits: Limits, channel: int, life: int, namespaces: int | None, group: int | None
) -> None:
    """The keeper: starts the submission's process and ends it when nobody is interested any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if group is not None:
            os.write(group, b"0")
        close_all_but(channel, life, *([] if namespaces is None else [namespaces]))
        if namespaces is not None:
            join(namespaces)
            os.close(namespaces)
        pid = os.fork()
        if pid == 0:
            os.close(life)
            _run(shell, limits, channel, sandboxed=namespaces is not None)
        os.close(channel)
        _wait(pid, life)
    finally:
        os._exit(0)


def _run(shell, limits: Limits, channel: int, sandboxed: bool) -> None:
    """The submission's process. Never returns."""
    try:
        os.setsid()
        give_up(limits)
        os.environ.clear()
        os.environ.update(HOME=HOME, LANG="C.UTF-8", PATH="/usr/bin:/bin", OMP_NUM_THREADS="1")
        if sandboxed:
            os.chdir(HOME)
        sys.path[:] = [path for path in sys.path if path.endswith("-packages") or "python3" in path]
        os.write(channel, READY)
        serve(channel, shell)
    finally:
        os._exit(0)


def _wait(pid: int, life: int) -> None:
    """Until the process ends or `life` is closed outside; then its whole group is killed."""
    ended = os.pidfd_open(pid)
    select.select([ended, life], [], [])
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
