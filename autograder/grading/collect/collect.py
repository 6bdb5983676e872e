"""Puts what a learning-management system gives into DIR/submitted: of each student and lesson the last attempt."""

import os
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.collect.archives import Entry, entries_of
from autograder.grading.collect.lessons import Lessons
from autograder.grading.collect.names import METADATA, Origin, gradescope_metadata, origins_of
from autograder.grading.collect.students import Class, id_of_stranger
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course
from autograder.grading.submission.files import TIMESTAMP, Refused, read_time
from autograder.grading.submission.find import Submission
from autograder.printable import printable

NOT_OF_STUDENTS = {METADATA, "index.html"}
EARLIER = "earlier"  # the folder of attempts that were replaced


@dataclass
class Found:
    """What was found: the attempts of each submission, the files without a place, and what else a person has to know,
    with the students whom it concerns."""

    attempts: dict[Submission, list["Attempt"]] = field(default_factory=lambda: defaultdict(list))
    unplaced: list[str] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


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


def collect(folder: Path | str, archives: list[Path]) -> bool:
    """Sorts the archives into the course, says what was done, and returns whether everything has its place.

    Raises UserError if `folder` is not a course, or an archive is none; then nothing is changed.
    """
    folder = Path(folder).absolute()
    api = open_course(folder)
    lessons = lessons_of(api)
    with locked(folder), tempfile.TemporaryDirectory(dir=folder, prefix=".collect-") as kept:
        with api.gradebook as gradebook:
            sorter = _Sorter(folder, Path(kept), Class(gradebook.students), Lessons(gradebook, lessons))
            due = {name: gradebook.find_assignment(name).duedate for name in lessons}
        for archive in archives:
            sorter.read(archive)
        found = sorter.found
        placed = [
            _place(submission, tries, due, found)
            for submission, tries in sorted(found.attempts.items(), key=_by)
        ]
    for lesson in lessons:
        words = [word for submission, word in placed if submission.lesson == lesson]
        if words:
            print(f"{lesson}: {len(words)} students ({', '.join(_counted(words))})")
    notes = [f"{note}: {', '.join(dict.fromkeys(names))}" for note, names in found.notes.items()]
    for line in [*notes, *found.unplaced]:
        print(f"  {printable(line)}")
    print(
        f"{len(placed)} submissions are in {folder / 'submitted'}; {len(found.unplaced)} files have no place there."
    )
    return not found.unplaced


def _by(item: tuple[Submission, list[Attempt]]) -> tuple[str, str]:
    return item[0].lesson, item[0].student


def _counted(words: list[str]) -> list[str]:
    return [f"{words.count(word)} {word}" for word in dict.fromkeys(sorted(words))]


class _Sorter:
    """Reads one archive after the other, and keeps each notebook until the last attempt is known."""

    def __init__(self, folder: Path, kept: Path, students: Class, lessons: Lessons):
        self._folder, self._kept, self._class, self._lessons = folder, kept, students, lessons
        self._count = 0
        self.found = Found()

    def read(self, archive: Path) -> None:
        """Keeps the notebooks of an archive. Raises UserError if it is none."""
        metadata = self._metadata(archive)
        owners: dict[str, str] = {}
        without: dict[str, list[str]] = defaultdict(list)  # by student, files that are no notebooks
        with_notebook: set[str] = set()
        unread: list[tuple[str, Origin, Path, str]] = []
        for entry in entries_of(archive):
            if entry.parts[-1] in NOT_OF_STUDENTS:
                continue
            origins = origins_of(entry.parts, metadata)
            students = [(self._student(origin, owners), origin) for origin in origins]
            if not entry.path.lower().endswith(".ipynb"):
                for student, _ in students:
                    without[student].append(entry.parts[-1])
                continue
            with_notebook |= {student for student, _ in students}
            if (file := self._keep(entry)) is None:
                continue
            if not students:
                self._unplaced(entry.path, "its name does not tell whose it is")
                continue
            lesson = self._lessons.lesson_of(file, entry.path)
            for student, origin in students:
                if lesson is None:
                    unread.append((student, origin, file, entry.path))
                else:
                    self._add(student, lesson, Attempt(file, origin))
        self._place_by_the_others(unread)
        for student, names in without.items():
            if student not in with_notebook and not all(name.endswith((".txt", ".html")) for name in names):
                self._unplaced(", ".join(names), f"{student} handed in no notebook")

    def _metadata(self, archive: Path) -> dict:
        """Who is behind the folders of a Gradescope export; it may stand at the archive's end."""
        for entry in entries_of(archive):
            if entry.parts[-1] == METADATA:
                try:
                    return gradescope_metadata(entry.read())
                except Refused:
                    return {}
        return {}

    def _student(self, origin: Origin, owners: dict[str, str]) -> str:
        """The student's id. Two strangers of one name are told apart by the system's own numbers."""
        if known := self._class.find(origin):
            return known
        student = id_of_stranger(origin)
        if owners.setdefault(student, origin.user) != origin.user:
            student = f"{student}_{origin.user}"
        if self._class:
            self.found.notes["not in the gradebook, and placed under this name"].append(student)
        return student

    def _keep(self, entry: Entry) -> Path | None:
        self._count += 1
        file = self._kept / f"{self._count:06}.ipynb"
        try:
            file.write_bytes(entry.read())
        except Refused as refused:
            self._unplaced(entry.path, str(refused))
            return None
        return file

    def _add(self, student: str, lesson: str, attempt: Attempt) -> None:
        self.found.attempts[Submission(self._folder, student, lesson)].append(attempt)

    def _place_by_the_others(self, unread: list[tuple[str, Origin, Path, str]]) -> None:
        """A file that does not say its lesson is of the lesson that all others of the archives are of."""
        lessons = {submission.lesson for submission in self.found.attempts}
        for student, origin, file, path in unread:
            if len(lessons) == 1:
                self._add(student, next(iter(lessons)), Attempt(file, origin))
            else:
                self._unplaced(path, f"nothing in it tells the lesson ({student})")

    def _unplaced(self, path: str, why: str) -> None:
        self.found.unplaced.append(f"not placed: {path}: {why}.")


def _place(
    submission: Submission, attempts: list[Attempt], due: dict, found: Found
) -> tuple[Submission, str]:
    """Puts the last attempt in its place; returns what that was, in a word for the summary."""
    last = max(attempts, key=lambda attempt: attempt.turn)
    time = _time_of(submission, last.origin, due[submission.lesson], found)
    target = submission.submitted / f"{submission.lesson}.ipynb"
    before = _time_there(submission.submitted)
    if before and time and before > time:
        return submission, "older than what is there"
    state = "new"
    if target.is_file():
        state = "as before" if target.read_bytes() == last.file.read_bytes() else "replaced"
    if state == "replaced":
        _move_away(submission, target)
    try:
        submission.submitted.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(last.file, target)
        (submission.submitted / TIMESTAMP).unlink(missing_ok=True)
        if time:
            write_whole(submission.submitted / TIMESTAMP, f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC")
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror}.") from None
    return submission, state


def _move_away(submission: Submission, target: Path) -> None:
    """Keeps an attempt that is replaced."""
    place = submission.folder / EARLIER / submission.student / submission.lesson
    place.mkdir(parents=True, exist_ok=True)
    os.replace(target, place / f"{len(list(place.iterdir())) + 1}.ipynb")


def _time_there(folder: Path) -> datetime | None:
    try:
        return parse_utc(read_time(folder)).replace(tzinfo=UTC)
    except Refused:
        return None


def _time_of(submission: Submission, origin: Origin, due: datetime | None, found: Found) -> datetime | None:
    """When it was handed in. Canvas says "late" and not when: then a second after the due date."""
    if origin.time or not origin.late:
        return origin.time
    if due is None:
        note = f"late, but {submission.lesson} has no due date in the gradebook; collect again when it has one"
    else:
        note = f"{submission.lesson}, late by an unknown time, which counts as one second"
    found.notes[note].append(submission.student)
    return due.replace(tzinfo=UTC) + timedelta(seconds=1) if due else None
