"""Finds each student's last attempt at each lesson in the archives of a learning-management system, and puts
it into DIR/submitted.
"""

import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.errors import UserError
from autograder.grading.collect import aside, attempts, place
from autograder.grading.collect.account import Account
from autograder.grading.collect.archives import Entry, entries_of, outer_entries
from autograder.grading.collect.aside import keep_aside
from autograder.grading.collect.attempts import Memory
from autograder.grading.collect.lessons import Lessons
from autograder.grading.collect.names import METADATA, Names, Origin, gradescope_metadata, names_of
from autograder.grading.collect.people import FILE, People
from autograder.grading.collect.place import EARLIER, Attempt
from autograder.grading.collect.students import Class, id_of_stranger
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course
from autograder.grading.gradebook.zone import SETTING, Zone, zone_of
from autograder.grading.submission.files import MOST_BYTES, NOTEBOOKS, Refused
from autograder.grading.submission.find import Submission
from autograder.printable import printable

OF_THE_SYSTEM = {METADATA, "index.html"}
# Limits for a student's files other than notebooks: how many, and bytes.
MOST_OTHERS, MOST_OF_OTHERS = 20, 30 * 1024**2
SYSTEMS_OWN = "hidden, or from the system itself"
BESIDE = "other files handed in with a notebook; left in the archive"
NOBODYS = "neither a notebook nor from a student; left in the archive"
OTHER_LESSON = f"of another lesson; kept under {aside.ROOM}/"
# Outcomes of files that could not be placed; any of these makes the exit status 1.
NO_NOTEBOOK = f"not a notebook; kept under {aside.ROOM}/"
DOUBTFUL = f"with a number that may be someone else's; kept under {aside.ROOM}/"
UNREAD = "unreadable, or larger than allowed"
UNCLEAR = "not placed"
LEFT = "not a notebook, too many or too large; left in the archive"
LOST = (NO_NOTEBOOK, LEFT, DOUBTFUL, UNREAD, UNCLEAR)
ORDER = (
    *(
        place.NEW,
        place.REPLACED,
        place.AS_BEFORE,
        place.NOT_LAST,
        place.OLDER,
        place.KNOWN,
        place.AS_RELEASED,
    ),
    *(OTHER_LESSON, BESIDE, NOBODYS, SYSTEMS_OWN, *LOST),
)


@dataclass(frozen=True)
class _Archive:
    """An archive: its path, the object that finds students in its file names, and whether the names inside
    its nested archives are used as well.
    """

    path: Path
    names: Names
    within: bool

    def origins(self, entry: Entry) -> list[Origin]:
        return self.names.origins(entry.parts if self.within else entry.outer_parts)

    def whose(self, entry: Entry) -> tuple:
        """Return a key for the person to whose budget a file is charged."""
        return tuple(origin.key for origin in self.origins(entry)) or tuple(entry.parts[:1])


@dataclass(frozen=True)
class _Other:
    """A file that is not a notebook: its number in the `Account`, its name, and the path of the copy, if one
    was kept.
    """

    number: int
    name: str
    file: Path | None

    @property
    def size(self) -> int:
        return self.file.stat().st_size if self.file else 0


def collect(
    folder: Path | str, archives: list[Path], lesson: str | None = None, timezone: str | None = None
) -> bool:
    """Sort the archives into the course, print what was done, and return whether every file was placed. With
    `lesson`, only that lesson is collected. `timezone` is the school's time zone, and takes precedence over
    the settings.

    Raises UserError if `folder` is not a course, if there is no such lesson or time zone, if a path in
    `archives` is neither a zip archive nor a folder, or if Gradescope's metadata cannot be read; then nothing
    is changed. Also raises UserError if a file cannot be written.
    """
    folder = Path(folder).absolute()
    api = open_course(folder)
    lessons_of(api, lesson)
    lessons, zone = lessons_of(api), zone_of(api.config, timezone)
    with (
        _one_clear_line(folder),
        locked(folder),
        tempfile.TemporaryDirectory(dir=folder, prefix=".collect-") as kept,
    ):
        with api.gradebook as gradebook:
            students, known = Class(gradebook.students), Lessons(gradebook, lessons)
            due = {name: gradebook.find_assignment(name).duedate for name in lessons}
        people = People(folder, students)
        opened = [_open(archive, students.ids) for archive in archives]
        people.settle([_people_in(archive) for archive in opened])
        sorter = _Sorter(folder, Path(kept), people, known, zone, lesson)
        for archive in opened:
            sorter.read(archive)
        sorter.place(due)
        people.save()
    for name in lessons:
        if words := sorter.placed[name]:
            until = f"; due {zone.show(when)}" if (when := due[name]) else ""
            print(
                f"{name}: {len(words)} student{'s'[: len(words) != 1]} ({', '.join(_counted(words))}){until}"
            )
    print(sorter.account.table(len(archives)))
    for line in [*sorter.notes_of_people(bool(students)), *sorter.notes_of_files(), *sorter.notes_of_time()]:
        print(f"  {printable(line)}")
    number, lost = sum(map(len, sorter.placed.values())), sorter.account.count(LOST)
    print(
        f"{number} submission{'s are' if number != 1 else ' is'} in {folder / 'submitted'}; "
        f"{lost} file{'s' if lost != 1 else ''} could not be placed."
    )
    return not lost


@contextmanager
def _one_clear_line(folder: Path) -> Iterator[None]:
    """Raise UserError in place of an error of the disk."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"collecting stopped: {error.filename or folder}: {error.strerror or error}. What is in the course stays "
            "there; collect again to go on from here."
        ) from None


def _open(path: Path, ids: set[str]) -> _Archive:
    """Return the archive at `path` as an `_Archive`, which knows how to find students in its file names.

    A Gradescope export contains, next to its folders, a metadata file that says whose work each folder
    contains. A file of that name is ignored if a student may have handed it in: if its path identifies a
    student, or if its folder does not contain all other folders. Names inside nested archives are used only
    if the outer archive's names identify nobody. Raises UserError if the metadata file cannot be read.
    """
    paths, in_folders = [], []
    exports: list[tuple[list[str], bytes | Refused]] = []
    for entry in outer_entries(path):
        paths.append(entry.parts)
        if len(entry.parts) > 1 and not entry.is_nobodys:
            in_folders.append(entry.parts)
        if entry.parts[-1] == METADATA and len(entry.parts) <= 2:
            try:
                exports.append((entry.parts[:-1], entry.read()))
            except Refused as refused:
                exports.append((entry.parts[:-1], refused))
    names = names_of(paths, {}, ids)
    for folder, data in sorted(exports, key=lambda export: len(export[0])):
        is_outermost = all(parts[: len(folder)] == folder for parts in in_folders)
        if is_outermost and not names.origins([*folder, METADATA]):
            names = names_of(paths, _submissions_in(data, path), ids)
            break
    if any(names.origins(parts) for parts in paths):
        return _Archive(path, names, within=False)
    return _Archive(
        path, names_of([entry.parts for entry in entries_of(path, _first_part)], {}, ids), within=True
    )


def _submissions_in(data: bytes | Refused, path: Path) -> dict[str, Any]:
    try:
        if isinstance(data, Refused):
            raise data
        return gradescope_metadata(data)
    except Refused as refused:
        raise UserError(
            f"{path}: {METADATA}, which says whose work is in each folder, cannot be read: {refused}. Download the "
            "archive again, or unpack it, repair the file, and pass the folder."
        ) from None


def _first_part(entry: Entry) -> str:
    return entry.parts[0]


def _people_in(archive: _Archive) -> list[Origin]:
    """Return the origins of the people in an archive, one for each name or id that a person has in it."""
    entries = entries_of(archive.path, archive.whose) if archive.within else outer_entries(archive.path)
    found = {
        (origin.key, origin.name, origin.ids): origin
        for entry in entries
        for origin in archive.origins(entry)
    }
    return list(found.values())


def _counted(words: list[str]) -> list[str]:
    return [f"{words.count(word)} {word}" for word in ORDER if word in words]


class _Sorter:
    """Reads the archives in turn, keeps a copy of each file until each student's last attempt is known, and
    then places the files.
    """

    def __init__(
        self, folder: Path, kept: Path, people: People, lessons: Lessons, zone: Zone, only: str | None
    ):
        self._folder, self._kept, self._people, self._lessons = folder, kept, people, lessons
        self._zone, self._only = zone, only
        self._notebooks: list[tuple[str, str | None, Attempt]] = []  # student, lesson, attempt
        self._others: list[tuple[str, str, Path]] = []  # files to keep aside: student, name, file
        self._refused: dict[tuple[str, str], list[str]] = defaultdict(list)  # paths by reason and student
        self._notes: dict[str, list[str]] = defaultdict(list)
        self._moved: set[tuple[str, str]] = set()
        self.account = Account(ORDER, quiet=(place.NEW, place.AS_BEFORE, SYSTEMS_OWN))
        self.placed: dict[str, list[str]] = defaultdict(list)  # by lesson, the outcome of each last attempt

    # --- reading --------------------------------------------------------------------------------------------

    def read(self, archive: _Archive) -> None:
        """Read an archive, and keep a copy of each file that belongs, or may belong, to a student."""
        others: dict[str, list[_Other]] = defaultdict(list)
        with_notebook: set[str] = set()
        for entry in entries_of(archive.path, archive.whose):
            number, origins, name = self.account.next(), archive.origins(entry), entry.parts[-1]
            students = [self._people.student_of(origin) for origin in origins]
            for origin, student in zip(origins, students, strict=True):
                self._move_from_stranger(origin, student)
            if entry.is_nobodys or (not origins and name in OF_THE_SYSTEM):
                self.account.tell(number, SYSTEMS_OWN)
            elif name.lower().endswith(NOTEBOOKS):
                with_notebook.update(students)
                self._read_notebook(number, entry, origins)
            elif not students and name.lower().endswith(".zip"):
                why = f"it is an archive that is larger than {MOST_BYTES:,} bytes, damaged or empty; pass it by itself"
                self._refuse(number, UNREAD, why, "", entry.path)
            elif not students:
                self.account.tell(number, NOBODYS, Path(name).suffix)
            else:
                other = self._read_other(number, entry, others[students[0]])
                for student in students:
                    others[student].append(other)
        for student, files in others.items():
            self._tell_others(student, files, beside=student in with_notebook)

    def _read_other(self, number: int, entry: Entry, before: list[_Other]) -> _Other:
        """Keep a copy of a file that is not a notebook, unless it is unreadable or `before`, the student's
        files of this kind so far, has reached a limit. Return the file as an `_Other`.
        """
        file, size = None, sum(other.size for other in before)
        if len(before) < MOST_OTHERS and size < MOST_OF_OTHERS:
            with suppress(Refused):
                file = self._keep(entry, number)
        return _Other(number, entry.parts[-1], file)

    def _tell_others(self, student: str, files: list[_Other], beside: bool) -> None:
        """Record the outcome of each of `files`, a student's files that are not notebooks. The outcome
        depends on whether the files were handed in together with a notebook (`beside`).
        """
        for other in files:
            if beside:
                self.account.tell(other.number, BESIDE, Path(other.name).suffix or "without a file extension")
            elif other.file:
                self.account.tell(other.number, NO_NOTEBOOK, f"{student} ({other.name})")
                self._others.append((student, other.name, other.file))
            else:
                self.account.tell(other.number, LEFT, f"{student} ({other.name})")

    def _read_notebook(self, number: int, entry: Entry, origins: list[Origin]) -> None:
        if not origins:
            self._refuse(number, UNCLEAR, "its name does not say whose work it is", "", entry.path)
            return
        students = ", ".join(self._people.student_of(origin) for origin in origins)
        try:
            file = self._keep(entry, number)
        except Refused as refused:
            self._refuse(number, UNREAD, str(refused), students, entry.path)
            return
        if file.stat().st_size > MOST_BYTES:
            self._refuse(number, UNREAD, f"it is larger than {MOST_BYTES:,} bytes", students, entry.path)
            self._others += [(self._people.student_of(origin), entry.parts[-1], file) for origin in origins]
            return
        content = self._lessons.read(file, entry.path)
        for origin in origins:
            time = self._zone.to_utc(origin.time) if origin.time else None
            # If the system itself identifies a person, their number is dropped: it may differ in the next archive.
            of = replace(origin, user="") if self._people.is_sure(origin) else origin
            attempt = Attempt(file, entry.path, of, time, content.as_released)
            student = self._people.student_of(origin)
            if self._people.is_doubtful(origin):
                self._set_aside(student, content.lesson, attempt, DOUBTFUL)
                continue
            self._notebooks.append((student, content.lesson, attempt))

    def _keep(self, entry: Entry, number: int) -> Path:
        file = self._kept / f"{number:09}"
        with file.open("wb") as kept:
            for chunk in entry.chunks():
                kept.write(chunk)
        return file

    def _refuse(self, number: int, fate: str, why: str, student: str, path: str) -> None:
        self.account.tell(number, fate, student)
        self._refused[why, student].append(path)

    def _set_aside(self, student: str, lesson: str | None, attempt: Attempt, fate: str) -> None:
        self.account.tell(int(attempt.file.name), fate, f"{student} ({lesson or 'no lesson'})")
        name = attempt.path.split("/")[-1]
        name = f"{attempt.origin.user}_{name}" if fate == DOUBTFUL else name
        keep_aside(self._folder, student, lesson, name, attempt.file)

    def _move_from_stranger(self, origin: Origin, student: str) -> None:
        """Rename the folders with a student's files that were collected before the student was identified."""
        stranger = id_of_stranger(origin)
        if origin.key in self._moved or stranger == student or self._people.is_somebody(stranger):
            return
        if self._people.is_doubtful(origin):  # the number may be another student's
            return
        self._moved.add(origin.key)
        for room in ("submitted", EARLIER, aside.ROOM, attempts.ROOM):
            old, new = self._folder / room / stranger, self._folder / room / student
            if old.is_symlink() or not old.is_dir():
                continue
            if os.path.lexists(new):
                self._notes[f"one student has two folders in {room}/; keep the one that counts"].append(
                    f"{stranger} and {student}"
                )
                continue
            try:
                old.rename(new)
            except OSError as error:
                raise UserError(f"{old} cannot be renamed: {error.strerror}.") from None
            self._notes["renamed, because the student is now known"].append(f"{stranger} to {student}")

    # --- placing --------------------------------------------------------------------------------------------

    def place(self, due: dict[str, datetime | None]) -> None:
        """Place the notebooks that were kept. Set aside those of unknown or other lessons, and the files that
        are not notebooks.
        """
        by_student: dict[str, dict[str, list[Attempt]]] = defaultdict(lambda: defaultdict(list))
        main = self._only or self._only_lesson()
        for student, lesson, attempt in self._notebooks:
            # A file with no sign of its lesson belongs to the lesson of the other files, if they all have the
            # same lesson.
            lesson = lesson or main
            if lesson is None:
                why = "nothing in it says which lesson it is"
                self._refuse(int(attempt.file.name), UNCLEAR, why, student, attempt.path)
                keep_aside(self._folder, student, None, attempt.path.split("/")[-1], attempt.file)
            elif self._only not in (None, lesson):
                self._set_aside(student, lesson, attempt, OTHER_LESSON)
            else:
                by_student[student][lesson].append(attempt)
        for student, lessons in sorted(by_student.items()):
            memory = Memory(self._folder, student)
            for lesson, tries in sorted(lessons.items()):
                self._place_one(Submission(self._folder, student, lesson), tries, due[lesson], memory)
        for student, name, file in self._others:
            keep_aside(self._folder, student, main, name, file)

    def _only_lesson(self) -> str | None:
        lessons = {lesson for _, lesson, _ in self._notebooks if lesson}
        return lessons.pop() if len(lessons) == 1 else None

    def _place_one(
        self, submission: Submission, tries: list[Attempt], due: datetime | None, memory: Memory
    ) -> None:
        if twins := self._numbers_of_two(tries, memory, submission.lesson):
            self._people.question(twins, submission.student)
            for attempt in tries:
                self._set_aside(submission.student, submission.lesson, attempt, DOUBTFUL)
            return
        fates = place.place(submission, tries, due, memory, self._is_as_released, self._notes)
        for attempt, fate in fates.items():
            self.account.tell(int(attempt.file.name), fate, submission.student)
        self.placed[submission.lesson].append(list(fates.values())[-1])

    def _is_as_released(self, notebook: Path) -> bool:
        return self._lessons.read(notebook, notebook.name).as_released

    def _numbers_of_two(self, tries: list[Attempt], memory: Memory, lesson: str) -> set[tuple[str, str]]:
        """Return the numbers that may belong to two people. If a system has several numbers for this student
        in this lesson, and at least one of them is new, return all that system's numbers for the student.
        """
        before = {(one.system, one.user) for one in memory.of(lesson) if one.user}
        new = {one.origin.key for one in tries if one.origin.user and self._people.is_new(one.origin)}
        all_numbers = before | {one.origin.key for one in tries if one.origin.user}
        systems = Counter(system for system, _ in all_numbers)
        return {
            key for key in all_numbers if systems[key[0]] > 1 and any(system == key[0] for system, _ in new)
        }

    # --- notes ----------------------------------------------------------------------------------------------

    def notes_of_people(self, has_class: bool) -> list[str]:
        """Return notes on people who were found only by name, who are not in the gradebook, or whose numbers
        are doubtful.
        """
        found, lines = self._people.found, []
        if found.by_name:
            who = [f"{student} ({called})" for student, called in sorted(found.by_name.items())]
            lines.append(f"found only by name; check them once in {FILE}: {few(who)}")
        if has_class and found.strangers:
            who = [f"{one} (may be {may_be})" if may_be else one for one, may_be in found.strangers.items()]
            lines.append(
                f"not in the gradebook; each is placed under this name (write in {FILE} who it is): {', '.join(who)}"
            )
        for student, numbers in sorted(found.twice.items()):
            what = (
                "two numbers for one student" if len(numbers) > 1 else "a number that may be someone else's"
            )
            who = [
                f"{one} ({found.at_odds[one]})" if one in found.at_odds else one for one in sorted(numbers)
            ]
            lines.append(
                f"{what}, {student}: {' and '.join(who)}; nothing of theirs is placed until {FILE} says "
                "who is who: remove the question marks there, or write another student's id"
            )
        return lines

    def notes_of_files(self) -> list[str]:
        """Return notes on individual students' files, and on files that could not be placed."""
        lines = [f"{note}: {', '.join(dict.fromkeys(names))}" for note, names in self._notes.items()]
        for (why, student), paths in self._refused.items():
            lines.append(f"not placed: {few(paths)}: {why}{f' ({student})' if student else ''}.")
        return lines

    def notes_of_time(self) -> list[str]:
        """Return a list with a note that names the time zone assumed for times that state none, or an empty
        list if there were no such times.
        """
        if not any(one.origin.time and one.origin.time.tzinfo is None for _, _, one in self._notebooks):
            return []
        more = (
            ""
            if self._zone.rules
            else f"; if your school is in another time zone, collect with --timezone, or set {SETTING}"
        )
        return [f"the system's times are read in the time zone {self._zone.source}{more}"]


def few(names: list[str], most: int = 8) -> str:
    """Return at most `most` of the names as text, followed by the number of those left out, if any."""
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])
