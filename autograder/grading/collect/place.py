"""Puts a student's last attempt at a lesson into the course, and keeps the other attempts in a separate
folder.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.collect.attempts import Memory, Seen
from autograder.grading.collect.names import Origin
from autograder.grading.submission.files import TIMESTAMP, Refused, read_time
from autograder.grading.submission.find import Submission

EARLIER = "earlier"  # the folder of attempts that do not count
NEW, AS_BEFORE, REPLACED = "new", "as before", "replacing an earlier one"
OLDER, KNOWN = "older than the one that counts", "collected before; a different one counts now"
AS_RELEASED = "without answers; one with answers counts"
NOT_LAST = "not the last of several"


@dataclass(frozen=True)
class Attempt:
    """A notebook that was handed in. `file` is a copy, which is kept until all attempts are known. `path` is
    the notebook's path in the archive, and `time` is the time when it was handed in, if known. `as_released`
    means that nothing in it was answered.
    """

    file: Path
    path: str
    origin: Origin
    time: datetime | None
    as_released: bool = False

    @property
    def turn(self) -> tuple:
        """The key by which attempts are sorted, from first to last. Every attempt with answers comes after
        all attempts without answers.
        """
        return (
            not self.as_released,
            self.time.timestamp() if self.time else 0.0,
            self.origin.order,
            self.file.name,
        )

    @property
    def seen(self) -> Seen:
        """The record of this attempt for the student's Memory."""
        time = self.time.isoformat() if self.time else ""
        return Seen(_digest(self.file), *self.origin.key, time, self.origin.order)


def place(
    submission: Submission,
    attempts: list[Attempt],
    due: datetime | None,
    memory: Memory,
    is_as_released: Callable[[Path], bool],
    notes: Mapping[str, list[str]],
) -> dict[Attempt, str]:
    """Put the last attempt into the course, unless the one that is already there counts. Keep the other
    attempts, and return a dict from every attempt to its outcome. Append to `notes` anything else that an
    instructor should know. `is_as_released` is called with the path of the notebook that is already in the
    course, and returns whether nothing in it was answered. Raises UserError if a file cannot be written.
    """
    *others, last = sorted(attempts, key=lambda attempt: attempt.turn)
    target = submission.submitted / f"{submission.lesson}.ipynb"
    known = memory.of(submission.lesson)
    fates = {one: AS_RELEASED if one.as_released and not last.as_released else NOT_LAST for one in others}
    unlike = [one for one in others if one.seen.digest != last.seen.digest]
    if any(one.seen not in known for one in unlike):
        note = f"{submission.lesson}, more than one notebook: the last counts, the others are kept under {EARLIER}/"
        notes[note].append(submission.student)
    try:
        for one in unlike:
            _keep(submission, one.file, one.time)
        there = _seen_there(submission, known) if target.is_file() else None
        fates[last] = _fate(last, there, known)
        if fates[last] == REPLACED and last.as_released and not is_as_released(target):
            fates[last] = AS_RELEASED
        time = _stamp_of(submission, last, due, notes)
        if fates[last] not in (NEW, REPLACED, AS_BEFORE):
            _keep(submission, last.file, last.time)
        elif fates[last] != AS_BEFORE or not (there and last.seen.is_older_than(there)):
            if fates[last] == REPLACED:
                _keep(submission, target, _time_there(submission.submitted))
            _put(submission.submitted, target, last.file, time, fates[last])
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from None
    memory.add(submission.lesson, [one.seen for one in (*others, last)])
    return fates


def _fate(last: Attempt, there: Seen | None, known: list[Seen]) -> str:
    if there is None:
        return NEW
    if last.seen.digest == there.digest:
        return AS_BEFORE
    if last.seen.is_older_than(there):
        return OLDER
    return KNOWN if last.seen in known else REPLACED


def _put(folder: Path, target: Path, file: Path, time: datetime | None, fate: str) -> None:
    """Put a notebook and the time when it was handed in into a folder. Both are written before the notebook
    replaces another, so that if the disk is full, the other stays, with its time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    half = folder.parent / f".{folder.name}"
    if fate != AS_BEFORE:
        shutil.copyfile(file, half)
    if time:
        write_whole(folder / TIMESTAMP, _stamp(time))
    elif fate != AS_BEFORE:
        (folder / TIMESTAMP).unlink(missing_ok=True)
    if fate != AS_BEFORE:
        os.replace(half, target)


def _keep(submission: Submission, attempt: Path, time: datetime | None) -> None:
    """Keep an attempt that does not count, with the time when it was handed in, unless it was kept before."""
    folder = submission.folder / EARLIER / submission.student / submission.lesson
    folder.mkdir(parents=True, exist_ok=True)
    if attempt.read_bytes() in [path.read_bytes() for path in folder.glob("*.ipynb")]:
        return
    # subtle: a person may have removed some files, so their count does not show which names are free.
    number = 1 + max((int(path.stem) for path in folder.iterdir() if path.stem.isdecimal()), default=0)
    if time:
        write_whole(folder / f"{number}.txt", _stamp(time))
    half = folder.parent / f".{submission.lesson}"
    shutil.copyfile(attempt, half)
    os.replace(half, folder / f"{number}.ipynb")


def _stamp(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _seen_there(submission: Submission, known: list[Seen]) -> Seen:
    """Return the record of the notebook that is already in the course. This is the record of the last attempt
    with the same contents or, if the notebook was not collected, a record made from its time stamp.
    """
    digest = _digest(submission.submitted / f"{submission.lesson}.ipynb")
    same = [one for one in known if one.digest == digest]
    if same:
        return max(same, key=lambda one: (one.time, one.order))
    time = _time_there(submission.submitted)
    return Seen(digest, "", "", time.isoformat() if time else "")


def _time_there(folder: Path) -> datetime | None:
    try:
        stamp = read_time(folder)
    except Refused:
        return None
    return stamp[1] if stamp else None


def _stamp_of(
    submission: Submission, attempt: Attempt, due: datetime | None, notes: Mapping[str, list[str]]
) -> datetime | None:
    """Return the time that counts as the time of hand-in, or None if none is known. Canvas marks work as late
    without saying when it was handed in; in that case, return one second after the due date, if there is one,
    and add a note to `notes`.
    """
    if attempt.time or not attempt.origin.late:
        return attempt.time
    if due is None:
        note = (
            f"late, but {submission.lesson} has no due date in the gradebook; collect again when it has one"
        )
    else:
        note = f"{submission.lesson}, late by an unknown time, which counts as one second"
    notes[note].append(submission.student)
    return due.replace(tzinfo=UTC) + timedelta(seconds=1) if due else None


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
