"""Keeps files that cannot be placed, as DIR/unplaced/STUDENT/LESSON/FILE. An instructor can look at them
there. Because they are kept, the report does not say that the student handed in nothing.
"""

import os
import re
import shutil
from pathlib import Path

from autograder.errors import UserError

ROOM, NO_LESSON = "unplaced", "of_no_lesson"
LONGEST_NAME = 100  # bytes


def keep_aside(course: Path, student: str, lesson: str | None, name: str, file: Path) -> None:
    """Copy a file to the student's folder of unplaced files, under this name (made safe, and numbered if it
    is taken), unless an identical file is already there. Raises UserError if the copy cannot be written.
    """
    folder = course / ROOM / student / (lesson or NO_LESSON)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(_same(one, file) for one in folder.iterdir()):
            return
        target = folder / _good_name(name)
        number = 2
        while os.path.lexists(target):
            target = folder / f"{number}_{_good_name(name)}"
            number += 1
        half = folder / ".half"
        shutil.copyfile(file, half)
        os.replace(half, target)
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror}.") from None


def kept_aside(course: Path, lesson: str) -> dict[str, list[str]]:
    """Return a dict from student ids to the names of the files that were kept aside for this lesson, or
    without a known lesson.
    """
    found: dict[str, list[str]] = {}
    for student in _folders(course / ROOM):
        names = [name for part in (lesson, NO_LESSON) for name in _files(course / ROOM / student / part)]
        if names:
            found[student] = names
    return found


def _good_name(name: str) -> str:
    """Return a safe name for the file, shortened if it is too long. subtle: the middle is cut out, because an
    ending such as `.py` or `.ipynb.txt` says what the file is.
    """
    good = re.sub(r"[^\w.@-]", "_", name).lstrip(".-") or "file"
    if len(good.encode()) <= LONGEST_NAME:
        return good
    short = good.encode()
    return (short[: LONGEST_NAME - 20] + b"..." + short[-17:]).decode(errors="ignore")


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or not one.is_file() or one.stat().st_size != other.stat().st_size:
        return False
    return one.read_bytes() == other.read_bytes()


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _files(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [one.name for one in entries if one.is_file(follow_symlinks=False)]
            return sorted(name for name in names if not name.startswith("."))
    except OSError:
        return []
