"""A process enters its sandbox and gives up what it will not need.

bubblewrap made the namespaces (autograder.grading.sandbox) and sleeps in them. A fork of the template joins them
with setns(2), and forks once more, because a process id namespace holds only for children.
"""

import ctypes
import os
import resource
from dataclasses import dataclass

from autograder.grading.inside.syscalls import refuse_rare_calls

NAMESPACES = 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00020000
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION = 0x20080522
REQUEST = "<3Q2?"  # to the template: limits; whether a sandbox is to be entered, whether a control group


@dataclass(frozen=True)
class Limits:
    """What one process may use: bytes of memory, bytes in one file, open files."""

    memory: int = 4 * 1024**3
    file: int = 64 * 1024**2
    files: int = 256


def join(pidfd: int) -> None:
    """Joins every namespace of the process behind `pidfd`. Raises OSError where the kernel says no."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(pidfd, NAMESPACES):
        error = ctypes.get_errno()
        raise OSError(error, f"cannot enter the sandbox: {os.strerror(error)}")


def give_up(limits: Limits) -> None:
    """Gives up all capabilities and rare system calls, for good, and limits memory and files."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())
    for kind, most in (
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    refuse_rare_calls()


def close_all_but(*kept: int) -> None:
    """Closes every file but these; standard input and output lead nowhere."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 4096)
