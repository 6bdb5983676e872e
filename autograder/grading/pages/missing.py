"""Logs pictures that could not be drawn, and graphs that a sandbox did not send. Pages are made without them,
and the number of missing pictures is printed when the command ends.
"""

import atexit
import logging
import sys
from contextlib import nullcontext
from pathlib import Path

from autograder.grading.gradebook.open_course import quiet

LOG = "grading.log"
log = logging.getLogger("autograder")
_missing: list[str] = []


def report(picture: str, why: str, trace: str = "") -> None:
    """Log that a picture is missing, and why. The log is in the course's folder, in which nbgrader's
    converters run.
    """
    _missing.append(picture)
    with nullcontext() if log.handlers else quiet(Path.cwd() / LOG):
        log.error("the picture of %s is missing: %s\n%s", picture, why, trace)


def taken() -> list[str]:
    """Return the missing pictures that have been reported so far, and start again with none."""
    pictures = _missing[:]
    _missing.clear()
    return pictures


@atexit.register
def _print_count() -> None:
    if pictures := taken():
        print(
            f"autograder: pictures missing from feedback pages: {len(pictures)}; {LOG} says why.",
            file=sys.stderr,
        )
