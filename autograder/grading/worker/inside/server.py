"""The fork server. It is started with an almost empty environment, and receives what it needs to know through
a socket.

It imports, once, everything that a submission may need, and then waits for messages on that socket. Each
message carries file descriptors for one submission: its channel, a pipe that is closed when the submission's
process is no longer needed, a pidfd of a process in the sandbox, if there is one, and `cgroup.procs` of the
control group, if there is one.
"""

import contextlib
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from autograder.grading.sandbox.inside import system
from autograder.grading.sandbox.inside.namespaces import enter_namespaces
from autograder.grading.sandbox.inside.privileges import drop_privileges
from autograder.grading.worker.inside.nobody import become_nobody
from autograder.grading.worker.inside.requests import serve
from autograder.grading.worker.inside.shell import Shell
from autograder.grading.worker.inside.warm_up import erase_start, warm_up
from autograder.grading.worker.protocol import FORK_REQUEST, READY, WARM

HOME = "/tmp"
TICK = 0.05
NICE = 5  # students' code has a lower priority than the grader


def main(told: dict) -> None:
    """Serve requests from the control socket, which is standard input, until its other end is closed.

    `told` is the first message that ForkServer sends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that started this one
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for the keepers (see `_keep`) to end
    erase_start()
    os.environ.update(told["environment"])
    with socket.socket(fileno=os.dup(0)) as requests:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        shell = warm_up(told["many"])
        os.environ.clear()
        requests.send(WARM)
        if not told["in_main_thread"]:
            system.signal_at_parents_end(0)  # the thread that started this may end before its process does
        _serve(requests, shell)


def _serve(requests: socket.socket, shell: Shell) -> None:
    while True:
        request, files, _, _ = socket.recv_fds(requests, FORK_REQUEST.size, 4)
        if not request:
            return
        if os.fork() == 0:
            memory, sandboxed, grouped = FORK_REQUEST.unpack(request)
            channel, life, *places = files
            namespaces = places.pop(0) if sandboxed else None
            group = places.pop() if grouped else None
            _keep(shell, memory, channel, life, namespaces, group)
        for file in files:
            os.close(file)


def _keep(
    shell: Shell, memory: int, channel: int, life: int, namespaces: int | None, group: int | None
) -> NoReturn:
    """Act as the keeper of a submission's process: start it, and kill it when it is no longer needed.
    `namespaces` is None if there is no sandbox; `group` is None if there is no control group.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if group is not None:
            os.write(group, b"0")
        _close_all_but(channel, life, *([] if namespaces is None else [namespaces]))
        if namespaces is not None:
            enter_namespaces(namespaces)
            os.close(namespaces)
            system.detach_standard_streams()  # again, so that they are the sandbox's own /dev/null
        pid = os.fork()
        if pid == 0:
            os.close(life)
            _run(shell, memory, channel, sandboxed=namespaces is not None)
        os.close(channel)
        _wait(pid, life)
    finally:
        os._exit(0)


def _run(shell: Shell, memory: int, channel: int, sandboxed: bool) -> NoReturn:
    """Confine this process, and then serve requests as the submission's process."""
    try:
        os.setsid()
        os.nice(NICE)
        if not sandboxed:
            become_nobody()
        drop_privileges(memory, sandboxed)
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
    """Wait until the process ends or the grader closes its end of `life`; then kill the process's whole
    group.
    """
    if hasattr(os, "pidfd_open"):
        select.select([os.pidfd_open(pid), life], [], [])
    else:
        while not select.select([life], [], [], TICK)[0] and os.waitpid(pid, os.WNOHANG) == (0, 0):
            pass
    system.kill_with_group(pid)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _close_all_but(*kept: int) -> None:
    """Close all file descriptors except `kept`, and redirect the standard streams to /dev/null."""
    system.detach_standard_streams()
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 4096)
