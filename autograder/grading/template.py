"""The warm process, from outside: `Template` starts it, and asks it for one process a submission."""

import contextlib
import functools
import json
import os
import select
import socket
import struct
import subprocess
import sys
from pathlib import Path

from autograder.grading.inside.enter import REQUEST, Limits

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_WARM = 300.0
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from runpy import run_module; "
START += "run_module('autograder.grading.inside.template', run_name='__main__')"
KEPT = ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")


class TemplateDied(Exception):
    """The warm process has ended, which is never a student's fault."""


class Template:
    """A warm process of this Python. Several threads and processes may ask it at the same time.

    It begins to warm up when it is made, which takes little: so make it before you import what takes long.
    """

    def __init__(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # subtle: a new program, not a fork. What this process knows (secrets, answers, the gradebook) is not
        # in its memory, and the environment says nothing.
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
        environment["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"  # large pages, see inside/memory.py
        number = str(theirs.fileno())
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", START, str(ROOT), number],
            pass_fds=(theirs.fileno(),),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd="/",
        )
        theirs.close()
        self._requests = ours

    def _tell_shapes(self) -> None:
        """The letters of the exercises' shapes: all that the warm process may know of the exercises."""
        from autograder.exercises import all_exercises

        shapes = {exercise.name: dict(exercise.shapes) for exercise in all_exercises()}
        with contextlib.suppress(OSError):  # where it has ended already, `wait_until_warm` says so
            self._requests.send(json.dumps(shapes).encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def wait_until_warm(self) -> None:
        """Waits for the imports. Raises TemplateDied."""
        self._tell_shapes()
        # subtle: not a time limit of the socket, which the processes that were forked meanwhile share.
        said_in_time = select.select([self._requests], [], [], SECONDS_TO_WARM)[0]
        if not said_in_time:
            raise TemplateDied("the warm process did not start")
        if self._requests.recv(16) != b"warm":
            said = self._process.stderr.read().decode(errors="replace").strip()
            raise TemplateDied(said.splitlines()[-1] if said else "the warm process ended")

    def fork(
        self, limits: Limits, namespaces: int | None = None, group: int | None = None
    ) -> tuple[socket.socket, int]:
        """A fresh process: its channel, and a pipe end that ends it when it is closed. It enters the sandbox of the
        process behind `namespaces`, and the control group whose `cgroup.procs` is open as `group`."""
        ours, theirs = socket.socketpair()
        watched, life = os.pipe()
        entered = [place is not None for place in (namespaces, group)]
        message = struct.pack(REQUEST, limits.memory, limits.file, limits.files, *entered)
        files = [theirs.fileno(), watched, *(place for place in (namespaces, group) if place is not None)]
        try:
            socket.send_fds(self._requests, [message], files)
        except OSError:
            ours.close()
            os.close(life)
            raise TemplateDied("the warm process ended") from None
        finally:
            theirs.close()
            os.close(watched)
        return ours, life

    def close(self) -> None:
        """Ends the warm process; more than once does no harm."""
        self._requests.close()
        self._process.kill()
        self._process.wait()
        self._process.stderr.close()


@functools.cache
def shared_template() -> Template:
    """The one template of this process, started when first asked for."""
    template = Template()
    template.wait_until_warm()
    return template
