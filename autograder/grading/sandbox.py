"""Sandboxes made with bubblewrap: namespaces of their own, in which a submission's process will run.

In one there is no network, no process of the host, and of its files only Python and the system's libraries, for
reading. What can be written is held in memory and small. bubblewrap starts a `cat` in it, which waits on a pipe:
when the program that holds the other end ends, however it ends, the sandbox ends with everything in it.
"""

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRATCH = 128 * 1024 * 1024
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/alternatives", "/etc/fonts")
PACKAGE = Path(__file__).resolve().parents[1]


class Sandbox:
    """The namespaces of one submission. `pidfd` is a handle of a process in them."""

    def __init__(self, hidden: tuple[Path, ...] = ()):
        told, tell = os.pipe()
        command = [*_command(hidden), "--info-fd", str(tell), "cat"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(tell,),
            env={},
            cwd="/",
        )
        os.close(tell)
        try:
            self.pid, self.pidfd = self._wait_until_ready(told)
        except BaseException:
            self._process.kill()
            self._close()
            raise
        finally:
            os.close(told)

    def _wait_until_ready(self, told: int) -> tuple[int, int]:
        info = _read_all(told)
        if not info:
            raise OSError(self._process.stderr.read().decode(errors="replace").strip() or "bwrap failed")
        pid = json.loads(info)["child-pid"]
        # subtle: `cat` answers only when all that bubblewrap mounts is in place.
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        if not self._process.stdout.read(1):
            raise OSError(self._process.stderr.read().decode(errors="replace").strip() or "bwrap failed")
        return pid, os.pidfd_open(pid)

    def usage(self) -> tuple[int, int]:
        """(processes, bytes of memory) in the sandbox now; (0, 0) where it has ended."""
        processes = memory = 0
        proc = f"/proc/{self.pid}/root/proc"
        try:
            for name in os.listdir(proc):
                if name.isdigit():
                    processes += 1
                    memory += _resident(f"{proc}/{name}/statm")
        except OSError:
            return 0, 0
        return processes, memory

    def end(self) -> None:
        """Ends everything in the sandbox, and waits until it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, 9)
        self._process.kill()
        os.close(self.pidfd)
        self._close()

    def _close(self) -> None:
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 4096):
        parts.append(part)
    return b"".join(parts)


def _resident(file: str) -> int:
    try:
        return int(Path(file).read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _command(hidden: tuple[Path, ...]) -> list[str]:
    """bubblewrap's words. `hidden` are folders of the host that must not be seen, wherever they lie."""
    command = [
        _bwrap() or "bwrap",
        *("--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
    ]
    command += ["--proc", "/proc", "--dev", "/dev"]
    # subtle: before what is seen of the host, which may lie under /tmp.
    for path in ("/tmp", "/dev/shm"):
        command += ["--size", str(SCRATCH), "--tmpfs", path]
    seen = _seen()
    for path in seen:
        command += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    for path in (PACKAGE, *hidden):
        if any(Path(path).resolve().is_relative_to(Path(other).resolve()) for other in seen):
            command += ["--tmpfs", str(Path(path).resolve()), "--remount-ro", str(Path(path).resolve())]
    # subtle: where the grader is root on the host, so is a process in the sandbox to the kernel, though without
    # any right of root: it owns the kernel's settings under /proc/sys.
    for path in ("/proc", "/dev", "/"):
        command += ["--remount-ro", path]
    return command


@functools.cache
def _seen() -> tuple[str, ...]:
    """What of the host can be read in the sandbox: the system's libraries, this Python and its packages."""
    packages = [path for path in sys.path if path.endswith("-packages") and os.path.isdir(path)]
    seen = []
    for path in (*SYSTEM, *ETC, sys.base_prefix, sys.prefix, *packages):
        inside = any(Path(path).is_relative_to(other) for other in seen if not os.path.islink(other))
        if os.path.lexists(path) and not inside:
            seen.append(path)
    return tuple(seen)


@functools.cache
def _bwrap() -> str | None:
    return shutil.which("bwrap")


@functools.cache
def why_no_sandbox() -> str:
    """Why no sandbox can be had on this machine, with what to do; empty where one can."""
    if sys.platform != "linux":
        return "sandboxes need Linux; on another system grade in a Linux virtual machine or container."
    if _bwrap() is None:
        return "bubblewrap is not installed (on Debian and Ubuntu: apt install bubblewrap)."
    try:
        Sandbox().end()
    except OSError as error:
        return (
            f"bubblewrap cannot make a sandbox here ({str(error).splitlines()[0]}); where user namespaces are "
            "switched off, the administrator can allow them (on Ubuntu: an AppArmor profile for bwrap)."
        )
    return ""
