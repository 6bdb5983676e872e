"""Enters the namespaces of a sandbox that bubblewrap has made (see sandbox.py).

A process joins the namespaces with setns(2) and then forks once, because joining a PID namespace affects only
children that are forked later.
"""

import contextlib
import ctypes
import fcntl
import os
import re
from pathlib import Path

from autograder.grading.sandbox.inside.system import call

NEW_USER, NEW_MOUNT = 0x10000000, 0x00020000
NAMESPACES = 0x02000000 | 0x04000000 | 0x08000000 | NEW_USER | 0x20000000 | 0x40000000 | NEW_MOUNT
GET_OWNER = 0xB701  # NS_GET_USERNS: the user namespace that owns a namespace
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
SCRATCH_FOLDERS = ("/tmp", "/dev/shm")  # writable, in memory
MOST_FILES = b"nr_inodes=20000"  # in each scratch folder
REMOUNT, NO_SUID, NO_DEVICES = 32, 2, 4  # MS_REMOUNT, MS_NOSUID, MS_NODEV
REMOUNT_PROC = 1 | 2 | 4 | 8 | 32  # MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT
REMOUNT_READ_ONLY = 1 | 32 | 4096  # MS_RDONLY, MS_REMOUNT, MS_BIND
KEPT_FLAGS = 2 | 4 | 8 | 1024 | 2048  # MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_NODIRATIME
RELATIVE_TIMES = (4096, 1 << 21)  # ST_RELATIME as statvfs reports it, MS_RELATIME as mount takes it


def enter_namespaces(pidfd: int) -> None:
    """Restrict the mounts of the process behind `pidfd`, and join every namespace of that process. Raises
    OSError if the kernel refuses.
    """
    _limit_mounts(pidfd)
    call("setns", pidfd, NAMESPACES)


def _limit_mounts(pidfd: int) -> None:
    """Restrict the sandbox's mounts in three ways:

    - Mount the host's device files read-only. They can still be used, but their times and modes cannot be
      changed.
    - Limit the number of files in the scratch folders, which are in memory, because each file costs the
      kernel a kilobyte that is charged to no process.
    - Hide everything in /proc except processes. If the grader is root, students' code could otherwise read
      there what other sandboxes do, for example their timers.

    subtle: bubblewrap cannot do this. A device file that it mounts read-only no longer works as a device, and
    bubblewrap has no options for the other two restrictions. The mounts can be changed only from the user
    namespace that owns them. That is not the innermost user namespace, which is entered last.
    """
    found = re.search(r"^Pid:\s*(\d+)", Path(f"/proc/self/fdinfo/{pidfd}").read_text(), re.MULTILINE)
    assert found is not None, "the kernel writes it for every pidfd"
    mounts = os.open(f"/proc/{found[1]}/ns/mnt", os.O_RDONLY)
    owner = fcntl.ioctl(mounts, GET_OWNER)
    call("setns", owner, NEW_USER)
    call("setns", mounts, NEW_MOUNT)
    for name in DEVICES:
        flags = os.statvfs(f"/dev/{name}").f_flag
        kept = flags & KEPT_FLAGS | (RELATIVE_TIMES[1] if flags & RELATIVE_TIMES[0] else 0)
        call("mount", None, f"/dev/{name}".encode(), None, ctypes.c_ulong(REMOUNT_READ_ONLY | kept), None)
    for path in SCRATCH_FOLDERS:
        call("mount", None, path.encode(), None, ctypes.c_ulong(REMOUNT | NO_SUID | NO_DEVICES), MOST_FILES)
    with contextlib.suppress(OSError):  # Linux before 5.8 cannot do this; `doctor` reports it
        call("mount", None, b"/proc", None, ctypes.c_ulong(REMOUNT_PROC), b"subset=pid")
    os.close(owner)
    os.close(mounts)
