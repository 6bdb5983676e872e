"""Remembers which student each number in a learning-management system belongs to, in DIR/people.csv, which an
instructor may edit.

A number is written to this file if it was matched with a student only by name, or with nobody in the class.
From then on the file decides. If a student has two numbers in one system, both get a question mark. So does a
number whose id and address are those of two students. Nothing handed in under a number with a question mark
is placed until the instructor removes the mark or writes another student's id.
"""

import csv
import io
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.collect.names import LASTING, Origin
from autograder.grading.collect.students import Class, folded, id_of_stranger, plain
from autograder.grading.gradebook.exporters import BEGINS, quoted

FILE = "people.csv"
HEAD = ["system", "number", "name", "student"]
DOUBTFUL = "?"
# `quoted` puts an apostrophe where a formula would begin. Others in such places are doubled, so that the first of each
# can be removed when the file is read.
APOSTROPHE, APOSTROPHE_BEFORE = re.compile(f"({BEGINS})(?=')"), re.compile(f"({BEGINS})'")
Key = tuple[str, str]  # a system and its number


@dataclass
class Found:
    """The findings of `settle` for the instructor. `by_name` maps students who were found only by name to
    that name. `strangers` maps the ids of people who are not in the class to the students that they may be.
    `twice` maps students to their doubtful numbers. `at_odds` maps a doubtful number whose id and address are
    those of two students to these students.
    """

    by_name: dict[str, str] = field(default_factory=dict)
    strangers: dict[str, str] = field(default_factory=dict)
    twice: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    at_odds: dict[str, str] = field(default_factory=dict)


class People:
    """Knows which student of the course each number in a learning-management system belongs to."""

    def __init__(self, course: Path, students: Class):
        """Read the file of people. Raises UserError if it cannot be read."""
        self._path, self._class = course / FILE, students
        self._rows: dict[Key, tuple[str, str]] = {}  # name and student
        self._sure: dict[Key, tuple[str, str]] = {}  # the same, by the system's own ids
        self._read()
        self._before = set(self._rows)
        self.found = Found()

    def student_of(self, origin: Origin) -> str:
        """Return the student that `settle` found. For a doubtful number, return the student whose number it
        might be.
        """
        return self._student(origin.key).removeprefix(DOUBTFUL)

    def is_doubtful(self, origin: Origin) -> bool:
        """Return whether an instructor must first confirm which student the origin's number belongs to."""
        return self._student(origin.key).startswith(DOUBTFUL)

    def is_sure(self, origin: Origin) -> bool:
        """Return whether the system itself identifies the person."""
        return origin.key in self._sure

    def is_new(self, origin: Origin) -> bool:
        """Return whether the origin's number was matched for the first time in this run, and not by the
        system's own ids. If so, nobody has had a chance to check the match yet.
        """
        return origin.key not in self._before and origin.key not in self._sure

    def is_somebody(self, student: str) -> bool:
        """Return whether this is the id of a student of the class, or of a student in the file."""
        return student in self._class.ids or student in {one for _, one in self._rows.values()}

    def settle(self, archives: list[list[Origin]]) -> None:
        """Match the numbers in these archives with students, and mark doubtful numbers."""
        origins = {origin.key: origin for archive in archives for origin in archive}
        again = [one for one in origins.values() if one.key in self._rows and self._is_stranger(one)]
        for origin in origins.values():
            if origin.key not in self._rows:
                self._match(origin)
        self._match_again(again)
        for archive in archives:
            self._question_twins({origin.key for origin in archive})
            self._question_numbers_of_two(archive)
        for origin in origins.values():
            student, match = self.student_of(origin), self._class.find(origin)
            if self.is_doubtful(origin) and match.student and match.may_be:
                self.found.at_odds[" ".join(origin.key)] = " and ".join(match.may_be)
            if student not in self._class.ids:
                may_be = match.may_be or self._class.resembling(origin.user)
                self.found.strangers[student] = " or ".join(may_be)
        for (system, number), (_, student) in self._rows.items():
            if student.startswith(DOUBTFUL):
                self.found.twice[student.removeprefix(DOUBTFUL)].add(f"{system} {number}")

    def question(self, keys: set[Key], student: str) -> None:
        """Mark the numbers `keys`, which all seem to belong to `student`, as doubtful until an instructor
        decides.
        """
        for key in keys:
            name, _ = self._sure.pop(key) if key in self._sure else self._rows.get(key, ("", ""))
            self._rows[key] = name, DOUBTFUL + student
            self.found.twice[student].add(" ".join(key))

    def rows_of(self, student: str) -> dict[Key, str]:
        """Return the numbers that belong, or may belong, to a student, each with the name that the number's
        system gives the person.
        """
        rows = self._rows.items()
        return {key: name for key, (name, one) in rows if one.removeprefix(DOUBTFUL) == student}

    def earlier_ids_of(self, student: str) -> set[str]:
        """Return the ids under which this student's files may have been placed before the student was
        identified. Leave out ids that belong to others.
        """
        ids = {id_of_stranger(Origin(*key, name=name)) for key, name in self.rows_of(student).items()}
        return ids - {one.removeprefix(DOUBTFUL) for _, one in self._rows.values()}

    def forget(self, student: str) -> None:
        """Forget the numbers of a student."""
        for key in self.rows_of(student):
            del self._rows[key]

    def save(self) -> None:
        """Write the file, unless there is nothing to remember and no earlier file to replace. Raises
        UserError if it cannot be written.
        """
        if not (self._rows or self._path.exists()):
            return
        text = io.StringIO()
        rows = [[*key, *row] for key, row in sorted(self._rows.items())]
        csv.writer(text, lineterminator="\n").writerows(
            [HEAD, *([quoted(APOSTROPHE.sub(r"\1'", cell)) for cell in row] for row in rows)]
        )
        try:
            write_whole(self._path, text.getvalue())
        except OSError as error:
            raise UserError(f"{self._path} cannot be written: {error.strerror}.") from None

    def _student(self, key: Key) -> str:
        return (self._sure.get(key) or self._rows[key])[1]

    def _is_stranger(self, origin: Origin) -> bool:
        """Return whether an earlier run found nobody in the class for the origin's number. Such a number is
        matched again, because the class may have grown since then.
        """
        return self._rows[origin.key][1].rstrip("_") == id_of_stranger(origin).rstrip("_")

    def _match(self, origin: Origin) -> None:
        match = self._class.find(origin)
        if match.student and match.may_be:
            self._rows[origin.key] = origin.name, DOUBTFUL + match.student
            return
        if match.student and not match.by_name:
            self._sure[origin.key] = origin.name, match.student
            return
        if match.student:
            self.found.by_name[match.student] = origin.name
        self._rows[origin.key] = origin.name, match.student or self._free(id_of_stranger(origin))

    def _match_again(self, origins: list[Origin]) -> None:
        """Try again to match people whom an earlier run did not find in the class. Skip a match that would
        give a student two numbers.
        """
        found = {origin: self._class.find(origin) for origin in origins}
        for origin, match in found.items():
            same = {key for key in self._numbers_of(match.student or "", origin.system) if key != origin.key}
            same |= {one.key for one in found if one != origin and found[one].student == match.student}
            if match.student and not same:
                del self._rows[origin.key]
                self._match(origin)

    def _free(self, stranger: str) -> str:
        """Return the id `stranger`, followed by as many underscores as it takes to differ from every other
        id.
        """
        rows = {student.removeprefix(DOUBTFUL) for _, student in self._rows.values()}
        taken = {folded(one) for one in self._class.ids | rows}
        while folded(stranger) in taken:
            stranger += "_"
        return stranger

    def _numbers_of(self, student: str, system: str) -> set[Key]:
        known = self._rows.keys() | self._sure.keys()
        return {
            key for key in known if key[0] == system and self._student(key).removeprefix(DOUBTFUL) == student
        }

    def _question_twins(self, here: set[Key]) -> None:
        """Mark all numbers of a student in one system as doubtful if there are several, and one of them is
        new. If the system renumbers people in each assignment, only numbers in the same archive are compared.
        """
        for key in here - self._before:
            student = self._student(key).removeprefix(DOUBTFUL)
            same = self._numbers_of(student, key[0])
            if key[0] not in LASTING:
                same &= here
            if len(same) > 1:
                self.question(same, student)

    def _question_numbers_of_two(self, archive: list[Origin]) -> None:
        """Mark a number as doubtful if one archive has it under two names or ids, because it may belong to
        two people.
        """
        names = defaultdict(set)
        for origin in archive:
            names[origin.key].add((plain(origin.name), origin.ids))
        for key, called in names.items():
            if len(called) > 1:
                self.question({key}, self._student(key).removeprefix(DOUBTFUL))

    def _read(self) -> None:
        try:
            text = self._path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError):
            raise UserError(f"{self._path} cannot be read; it must be a text file in UTF-8.") from None
        head = text.partition("\n")[0]
        rows = csv.reader(io.StringIO(text), delimiter=";" if head.count(";") > head.count(",") else ",")
        try:
            self._take(list(rows))
        except csv.Error as error:
            raise UserError(f"{self._path}, line {rows.line_num}: it cannot be read ({error}).") from None

    def _take(self, rows: list[list[str]]) -> None:
        for number, row in enumerate(rows, start=1):
            cells = [APOSTROPHE_BEFORE.sub(r"\1", cell.strip()) for cell in row]
            if number == 1 or not any(cells):
                continue
            if len(cells) != len(HEAD) or not _is_folder(cells[3].removeprefix(DOUBTFUL)):
                raise UserError(
                    f"{self._path}, line {number}: it needs the columns {', '.join(HEAD)}; the last one "
                    "is the student's id in the gradebook."
                )
            key = cells[0], cells[1]
            if key in self._rows and self._rows[key][1] != cells[3]:
                raise UserError(
                    f"{self._path}, line {number}: {' '.join(key)} has two students; remove the wrong line."
                )
            self._rows[key] = cells[2], cells[3]


def _is_folder(name: str) -> bool:
    """Return whether a name can be the name of a student's folder."""
    return bool(name) and name[0] != "." and not set("/\\\0") & set(name) and len(name.encode()) <= 255
