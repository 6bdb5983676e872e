"""Puts what a learning-management system gives into DIR/submitted: of each student and lesson the last attempt."""

import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.collect.archives import Entry, entries_of
from autograder.grading.collect.lessons import Lessons
from autograder.grading.collect.names import METADATA, Names, Origin, gradescope_metadata, names_of
from autograder.grading.collect.place import Attempt, place
from autograder.grading.collect.students import Class, id_of_stranger
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course
from autograder.grading.submission.files import Refused
from autograder.grading.submission.find import Submission
from autograder.printable import printable

OF_THE_SYSTEM = {METADATA, "index.html"}
MOST_NAMED = 5  # of a student's files


@dataclass
class Found:
    """What was found: the attempts of each submission, the files without a place, the kinds of those that are no
    notebooks, and what else a person has to know, with the students whom it concerns."""

    attempts: dict[Submission, list[Attempt]] = field(default_factory=lambda: defaultdict(list))
    unplaced: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


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
            (submission, place(submission, tries, due[submission.lesson], found.notes))
            for submission, tries in sorted(found.attempts.items(), key=_by)
        ]
    for lesson in lessons:
        words = [word for submission, word in placed if submission.lesson == lesson]
        if words:
            print(f"{lesson}: {len(words)} students ({', '.join(_counted(words))})")
    notes = [f"{note}: {', '.join(dict.fromkeys(names))}" for note, names in found.notes.items()]
    if found.others:
        kinds = ", ".join(f"{number} {kind}" for kind, number in found.others.most_common())
        notes.append(f"left in the archives, because they are no notebooks: {kinds}")
    for line in [*notes, *found.unplaced]:
        print(f"  {printable(line)}")
    lost = len(found.unplaced)
    without = f"{lost} file{'s have' if lost != 1 else ' has'} no place there"
    print(
        f"{len(placed)} submission{'s are' if len(placed) != 1 else ' is'} in {folder / 'submitted'}; {without}."
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
        names = _names_in(archive)
        owners: dict[str, str] = {}
        others: dict[str, list[str]] = defaultdict(list)  # by student, files that are no notebooks
        with_notebook: set[str] = set()
        unread: list[tuple[str, Origin, Path, str]] = []
        for entry in entries_of(archive):
            students = [(self._student(origin, owners), origin) for origin in names.origins(entry.parts)]
            if not students and entry.parts[-1] in OF_THE_SYSTEM:
                continue
            if not entry.path.lower().endswith(".ipynb"):
                self.found.others[Path(entry.path).suffix or "without an ending"] += 1
                for student, _ in students:
                    others[student].append(entry.parts[-1])
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
        for student in sorted(others.keys() - with_notebook):
            more = ["..."] if len(others[student]) > MOST_NAMED else []
            self._unplaced(
                ", ".join([*others[student][:MOST_NAMED], *more]), f"{student} handed in no notebook"
            )

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


def _names_in(archive: Path) -> Names:
    """What reads the names in an archive. An export of Gradescope says beside its folders who is behind them; a file of
    that name whose path tells a student is that student's."""
    paths, exports = [], []
    for entry in entries_of(archive):
        paths.append(entry.parts)
        if entry.parts[-1] == METADATA and len(entry.parts) <= 2:
            with suppress(Refused):
                exports.append((entry.parts, entry.read()))
    names = names_of(paths, {})
    of_the_system = [data for parts, data in exports if not names.origins(parts)]
    return names_of(paths, gradescope_metadata(of_the_system[0])) if of_the_system else names
