"""Gives up root's rights in a submission's process if the grader is root and there is no sandbox.

The process can then read only what every user may read.
"""

import contextlib
import os
import sys

NOBODY = 65534
LIBRARIES = (os.__file__, sys.prefix)


def become_nobody() -> bool:
    """Change the user of this process to `nobody`, and return whether that worked. Everything stays as
    it was if the process does not run as root, or if `nobody` has no permission to read Python's libraries.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    group, groups = os.getgid(), os.getgroups()
    with contextlib.suppress(OSError):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, 0)  # for now: the saved user id is still root's
        if all(os.access(place, os.R_OK, effective_ids=True) for place in LIBRARIES):
            os.setresuid(NOBODY, NOBODY, NOBODY)
            return True
    with contextlib.suppress(OSError):
        os.setresuid(0, 0, 0)
        os.setresgid(group, group, group)
        os.setgroups(groups)
    return False


def can_become_nobody() -> bool:
    """Return whether a child of this process could change its user to `nobody`."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if become_nobody() else 1
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0
