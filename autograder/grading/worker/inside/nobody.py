"""Where there is no sandbox and the grader is root, a submission's process gives up root's rights.

It then reads what all may read, and nothing that is only the grader's.
"""

import os
import sys

NOBODY = 65534
LIBRARIES = (os.__file__, sys.prefix)


def become_nobody() -> bool:
    """Make this process one of the user nobody, and return whether it is. It stays as it is where it is not
    root's, or nobody may not read Python's libraries.
    """
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, 0)  # on trial
    except OSError:
        return False
    if not all(os.access(place, os.R_OK, effective_ids=True) for place in LIBRARIES):
        os.setresuid(0, 0, 0)
        return False
    os.setresuid(NOBODY, NOBODY, NOBODY)
    return True


def can_become_nobody() -> bool:
    """Return whether a process of this one's could."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if become_nobody() else 1
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0
