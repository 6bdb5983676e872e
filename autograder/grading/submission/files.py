"""Opens and reads what a student handed in: only regular files, never through a link, and within limits."""

import os
import stat
from datetime import datetime
from pathlib import Path

from autograder.grading.submission.times import NoTime, is_misread_by_nbgrader, read_stamp
from autograder.untrusted import without_surrogates

NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # in upper or lower case; some browsers save the last two
MOST_BYTES = 50_000_000
MOST_ENTRIES, DEEPEST, LONGEST_PATH = 1_000, 100, 1_000  # of a folder: entries, levels, bytes in a path
# Written by nbgrader's exchange: the time of hand-in, and the secret name under which feedback is returned.
TIMESTAMP, SUBMISSION_SECRET, LONGEST_NOTE = "timestamp.txt", "submission_secret.txt", 1_000


class Refused(Exception):
    """Raised if the submission cannot be run. The text is the reason, phrased for a table."""


def open_file(path: Path) -> int:
    """Open a regular file, never through a link, and return its descriptor. Raises Refused if that is not
    possible.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Refused(f"there is no file {path.name}") from None
    except OSError as error:
        raise Refused(
            f"{path.name} is a link" if os.path.islink(path) else _unreadable(path.name, error)
        ) from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise Refused(f"there is no file {path.name}")


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the contents of a regular file, which is never opened through a link. Raises Refused if the file
    cannot be read or is larger than `most` bytes.
    """
    try:
        with os.fdopen(open_file(path), "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise Refused(_unreadable(path.name, error)) from None
    if len(data) > most:
        raise Refused(f"{path.name} is larger than {most:,} bytes")
    return data


def read_time(folder: Path, for_nbgrader: bool = False) -> tuple[str, datetime] | None:
    """Return the time stamp in the folder of a submission, as text and as a time in UTC, or None if there is
    none.

    Raises Refused if it cannot be read. With `for_nbgrader`, also raises Refused if nbgrader's own command
    would misread it.
    """
    if not os.path.lexists(folder / TIMESTAMP):
        return None
    data = read_file(folder / TIMESTAMP, LONGEST_NOTE)
    try:
        stamp = read_stamp(data)
    except NoTime as why:
        raise Refused(f"{TIMESTAMP} {why}") from None
    if for_nbgrader and is_misread_by_nbgrader(data):
        raise Refused(
            f"{TIMESTAMP} is misread by nbgrader's own command; `python -m autograder grade` reads it correctly"
        )
    return stamp


def why_refused(folder: Path) -> str:
    """Return the reason why the folder of a submission is refused, or an empty string if it is not.

    The autograder reads only the notebook and its time stamp. But a program that copies the folder, such as
    nbgrader, would follow links, wait for special files, and never finish copying an endless folder.
    """
    entries, waiting = 0, [(os.fspath(folder), 0)]
    if os.path.islink(folder):
        return f"{folder.name} is a link"
    while waiting:
        place, depth = waiting.pop()
        try:
            with os.scandir(place) as found:
                for entry in found:
                    entries += 1
                    if why := _why_not(entry, entries, depth, len(os.fsencode(folder))):
                        return why
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except OSError as error:
            return _unreadable(f"the folder {_short(os.path.basename(place))}", error)
    return ""


def _why_not(entry: os.DirEntry, entries: int, depth: int, before: int) -> str:
    if entries > MOST_ENTRIES:
        return f"its folder holds more than {MOST_ENTRIES:,} files"
    if depth > DEEPEST or len(os.fsencode(entry.path)) - before > LONGEST_PATH:
        return "its folder holds folders nested too deeply"
    if entry.is_symlink():
        return f"{_short(entry.name)} is a link"
    if not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
        return f"{_short(entry.name)} is not a regular file"
    return ""


def _unreadable(name: str, error: OSError) -> str:
    return f"{name} cannot be read ({error.strerror})"


def _short(name: str) -> str:
    """Return a name as text that is short enough for a table."""
    return without_surrogates(name if len(name) <= 60 else f"{name[:60]}...")
