"""The grader's side of the fork server: `ForkServer` starts it, and asks it for a process for each
submission.
"""

import contextlib
import functools
import json
import os
import select
import socket
import subprocess
import sys
import threading

from autograder.errors import PACKAGE
from autograder.grading.worker.protocol import FORK_REQUEST, WARM

SECONDS_TO_WARM = 300.0
# subtle: the process that starts this one may be killed at any moment. The first lines ask the kernel to end this
# process when that happens, and the next ones check whether it has happened already.
START = """\
import sys
if sys.platform == "linux":
    import ctypes; ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
import json, os
told = os.read(0, 65536)
if not told or os.getppid() != (told := json.loads(told))["parent"]:
    sys.exit()
sys.path.insert(0, told["root"])
from autograder.imports import quick_imports
with quick_imports():
    from autograder.grading.worker.inside.server import main
main(told)
"""
KEPT = ("HOME", "PATH", "LANG", "VIRTUAL_ENV", "CONDA_PREFIX")
# Variables that matter only when a program starts: they say where its libraries are.
NEEDED_TO_START = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
FROM_THE_START = {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"}
SOCKET_KIND = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM


class ForkServerDied(Exception):
    """Raised if the fork server has ended or did not start in time, which is never a student's fault."""


class ForkServer:
    """A separate Python process that has imported everything that a submission may need, and that forks a
    process for each submission. Several threads and processes may use it at the same time.

    The constructor returns quickly, and the imports go on in the background, so construct the fork server
    before you import anything slow. Preparing it for many forks takes half a second of CPU time more, and
    makes each fork cheaper.
    """

    def __init__(self, many: bool = True) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
        # subtle: this starts a new program, not a fork. Secrets, answers and the gradebook are therefore not in
        # its memory, and its command line and environment, which students' code can read, reveal nothing.
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-W", "ignore", "-c", START],
            env={name: os.environ[name] for name in NEEDED_TO_START if name in os.environ} | FROM_THE_START,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )
        theirs.close()
        assert self._process.stderr, "it is a pipe"
        self._requests, self._errors = ours, self._process.stderr
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        told = {
            "root": str(PACKAGE.parent),
            "parent": os.getpid(),
            "many": many,
            "in_main_thread": threading.current_thread() is threading.main_thread(),
            "environment": environment | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
        }
        with contextlib.suppress(OSError):  # if the server has already ended, `wait_until_warm` says so
            self._requests.sendall(json.dumps(told).encode() + b"\n")

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_until_warm(self) -> None:
        """Wait until the fork server has finished its imports. Raises ForkServerDied if they fail, or take
        too long.
        """
        # subtle: no timeout is set on the socket, because processes that are forked meanwhile share it.
        if not select.select([self._requests], [], [], SECONDS_TO_WARM)[0]:
            raise ForkServerDied("the fork server did not start")
        said = b""
        with contextlib.suppress(ConnectionError):  # it ended before it had read the first message
            said = self._requests.recv(16)
        if said != WARM:
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            raise ForkServerDied(lines[-1] if lines else "the fork server ended")

    def fork(self, memory: int, namespaces: int | None, group: int | None) -> tuple[socket.socket, int]:
        """Fork a process that may use `memory` bytes. Return its channel, and one end of a pipe; closing that
        end ends the process.

        `namespaces` is a pidfd; the new process enters the namespaces of the process to which this pidfd
        refers. `group` is a file descriptor of `cgroup.procs` in the control group that the new process
        joins. Either may be None. Raises ForkServerDied if the fork server has ended.
        """
        ours, theirs = socket.socketpair()
        watched, life = os.pipe()
        message = FORK_REQUEST.pack(memory, namespaces is not None, group is not None)
        files = [theirs.fileno(), watched, *(place for place in (namespaces, group) if place is not None)]
        try:
            socket.send_fds(self._requests, [message], files)
        except OSError:
            ours.close()
            os.close(life)
            raise ForkServerDied("the fork server ended") from None
        finally:
            theirs.close()
            os.close(watched)
        return ours, life

    def close(self) -> None:
        """End the fork server. Calling this twice does no harm."""
        self._requests.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()


@functools.cache
def shared_fork_server() -> ForkServer:
    """Return this process's own fork server. The first call starts it and waits until it is warm."""
    server = ForkServer()
    server.wait_until_warm()
    return server
