"""Drops every capability, filters system calls, and limits memory and files, permanently.

In a sandbox, any failure here raises an error, and then the submission's code does not start.
"""

import contextlib
import ctypes
import functools
import resource
import sys
from pathlib import Path

from autograder.grading.sandbox.inside.syscalls import filter_system_calls, prepare_filter
from autograder.grading.sandbox.inside.system import call

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION = 0x20080522
ADDRESSES = 2  # times the memory limit: addresses without memory still cost the kernel a little memory
LARGEST_FILE, OPEN_FILES = 64 * 1024**2, 256


def prepare() -> None:
    """Build the filter of system calls, which all forks share. Read the number of the last capability
    now, because it cannot be read once the process is in a sandbox.
    """
    prepare_filter()
    if sys.platform == "linux":
        _last_capability()


@functools.cache
def _last_capability() -> int:
    return int(Path("/proc/sys/kernel/cap_last_cap").read_text())


def drop_privileges(memory: int, sandboxed: bool) -> None:
    """Drop all capabilities, refuse system calls that no answer needs, and limit files and memory (in bytes).

    In a sandbox, raises OSError or ValueError if the kernel refuses; without one, does as much as this
    machine allows.
    """
    tolerated = contextlib.nullcontext() if sandboxed else contextlib.suppress(OSError, ValueError)
    for kind, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_AS, ADDRESSES * memory),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with tolerated:
            lower_limit(kind, most, most)
    if sys.platform == "linux":
        for drop in (_no_new_privileges, _drop_capabilities, filter_system_calls):
            with tolerated:
                drop()


def lower_limit(kind: int, soft: int, hard: int) -> None:
    """Set a resource limit of this process, but never above its present hard limit. Raises OSError or
    ValueError if the kernel refuses.
    """
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def _no_new_privileges() -> None:
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _drop_capabilities() -> None:
    for capability in range(_last_capability() + 1):
        call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())
