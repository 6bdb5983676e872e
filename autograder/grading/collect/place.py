"""Puts the last attempt of a student in its place, and keeps the others."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.collect.names import Origin
from autograder.grading.submission.files import TIMESTAMP, Refused, read_time
from autograder.grading.submission.find import Submission

EARLIER = "earlier"  # the folder of attempts that do not count


@dataclass(frozen=True)
class Attempt:
    """A notebook, kept under a name of ours until the last one is known."""

    file: Path
    origin: Origin

    @property
    def turn(self) -> tuple:
        """What the last attempt has the most of."""
        time = self.origin.time
        return time.timestamp() if time else 0.0, self.origin.order, self.file.name


def place(
    submission: Submission, attempts: list[Attempt], due: datetime | None, notes: Mapping[str, list[str]]
) -> str:
    """Puts the last attempt in its place; returns what that was, in a word for the summary. What else a person has to
    know is added to `notes`. Raises UserError if nothing can be written."""
    *others, last = sorted(attempts, key=lambda attempt: attempt.turn)
    others = [one for one in others if one.file.read_bytes() != last.file.read_bytes()]
    if others:
        note = f"{submission.lesson}, more than one notebook: the last counts, the others are kept under {EARLIER}/"
        notes[note].append(submission.student)
    time = _time_of(submission, last.origin, due, notes)
    target = submission.submitted / f"{submission.lesson}.ipynb"
    try:
        for one in others:
            _keep(submission, one.file, one.origin.time)
        before = _time_there(submission.submitted)
        if before and time and before > time:
            _keep(submission, last.file, time)
            return "older than what is there"
        state = "new"
        if target.is_file():
            state = "as before" if target.read_bytes() == last.file.read_bytes() else "replaced"
        if state == "replaced":
            _keep(submission, target, before)
        submission.submitted.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(last.file, target)
        (submission.submitted / TIMESTAMP).unlink(missing_ok=True)
        if time:
            write_whole(submission.submitted / TIMESTAMP, _stamp(time))
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from None
    return state


def _keep(submission: Submission, attempt: Path, time: datetime | None) -> None:
    """Keeps an attempt that does not count, once, and beside it when it was handed in."""
    folder = submission.folder / EARLIER / submission.student / submission.lesson
    folder.mkdir(parents=True, exist_ok=True)
    there = [path.read_bytes() for path in folder.glob("*.ipynb")]
    if attempt.read_bytes() in there:
        return
    if time:
        write_whole(folder / f"{len(there) + 1}.txt", _stamp(time))
    half = folder.parent / f".{submission.lesson}"
    shutil.copyfile(attempt, half)
    os.replace(half, folder / f"{len(there) + 1}.ipynb")


def _stamp(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _time_there(folder: Path) -> datetime | None:
    try:
        return parse_utc(read_time(folder)).replace(tzinfo=UTC)
    except Refused:
        return None


def _time_of(
    submission: Submission, origin: Origin, due: datetime | None, notes: Mapping[str, list[str]]
) -> datetime | None:
    """When it was handed in. Canvas says "late" and not when: then a second after the due date."""
    if origin.time or not origin.late:
        return origin.time
    if due is None:
        note = (
            f"late, but {submission.lesson} has no due date in the gradebook; collect again when it has one"
        )
    else:
        note = f"{submission.lesson}, late by an unknown time, which counts as one second"
    notes[note].append(submission.student)
    return due.replace(tzinfo=UTC) + timedelta(seconds=1) if due else None
