"""Tests collecting a class's archives over three weeks, as each of five systems writes them: every file is
accounted for, and nobody's work ends up in another student's folder.

week 1   the first lesson
week 2   the first lesson again, with work handed in again, late, or by people whose name has changed
week 3   the second lesson
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from collected import add_students, zipped

from autograder.grading.collect.collect import collect
from autograder.grading.demo.sample_class import FIRST, SECOND

SIZE, KINDS = 12, 12
PLAIN, AGAIN, LATE, TWIN, OTHER_TWIN, SCRIPT, FOLDER, IMPOSTOR, STRANGER, GROUP, PARTNER, UNTOUCHED = range(
    KINDS
)
TAG = re.compile(r"handed in by (s\d{3}), number (\d)")
LESSONS = {1: FIRST, 2: FIRST, 3: SECOND}
SYSTEMS = ["canvas", "moodle", "blackboard", "brightspace", "gradescope"]


def letters(number: int) -> str:
    return "".join(chr(ord("a") + digit) for digit in (number // 26 % 26, number % 26))


class Person:
    """One student: their id, kind and name, the name that they use in a week, and their number in a system."""

    def __init__(self, number: int):
        self.id, self.kind, self.number = f"s{number:03}", number % KINDS, number
        self.first, self.last = f"Ka{letters(number)}", f"Mo{letters(number)}"
        if self.kind == OTHER_TWIN:
            self.first, self.last = Person(number - 1).first, Person(number - 1).last

    def called(self, week: int) -> str:
        """Return the name that the person uses in a week; from the second week on, an impostor uses another
        student's name.
        """
        victim = Person(self.number - IMPOSTOR + PLAIN)
        return (
            f"{victim.first} {victim.last}"
            if self.kind == IMPOSTOR and week > 1
            else f"{self.first} {self.last}"
        )

    def number_in(self, system: str, week: int) -> str:
        """Return the number that the system gives the person. In Moodle it differs between assignments;
        Blackboard and Gradescope use the student's id.
        """
        own = {"moodle": 30_000 + self.number + 1_000 * (week == 3), "canvas": 900 + self.number}
        return self.id if system in ("blackboard", "gradescope") else str(own.get(system, 700 + self.number))


class Work:
    """Makes the files that a person hands in. Each notebook that is not broken says who handed it in, and has
    a number: the week in which it was first handed in.
    """

    def __init__(self, texts: dict[str, str]):
        self._notebooks = {name: json.loads(text) for name, text in texts.items() if name != "broken"}

    def notebook(self, what: str, person: Person, number: int) -> str:
        notebook = self._notebooks[what]
        word = {
            "cell_type": "markdown",
            "metadata": {},
            "source": f"handed in by {person.id}, number {number}",
        }
        return json.dumps(notebook | {"cells": [*notebook["cells"], word | {"id": "word"}]})

    def files(self, person: Person, week: int, tmp_path: Path) -> dict[str, str | bytes]:
        """Return the files that a person hands in during a week, by name."""
        kind, lesson = person.kind, LESSONS[week]
        done = self.notebook("second" if week == 3 else "done", person, week)
        if kind == SCRIPT and week == 1:
            return {"homework.py": "def softmax(scores): ...", "notes.txt": "see above"}
        if kind == UNTOUCHED:
            return (
                {f"{lesson}.ipynb": self.notebook("stub", person, 1)}
                if week == 1
                else {"x.ipynb": '{"cells": ['}
            )
        if kind == FOLDER:
            other = (
                self.notebook("stub", person, week) if week == 3 else self.notebook("second", person, week)
            )
            inner = {f"all/{lesson}.ipynb": done, f"all/{FIRST if week == 3 else SECOND}.ipynb": other}
            inner["all/.ipynb_checkpoints/x.ipynb"] = other
            return {"all.zip": zipped(tmp_path / "inner.zip", inner).read_bytes()}
        if week == 2 and kind not in (AGAIN, LATE, SCRIPT, OTHER_TWIN, IMPOSTOR):
            return {f"{lesson}.ipynb": self.notebook("done", person, 1)}  # still there from the first week
        return {f"{lesson}.ipynb": done}


def path_of(system: str, person: Person, week: int, name: str) -> str:
    """Return the path that a system gives to a person's file in its archive."""
    number, called, late = (
        person.number_in(system, week),
        person.called(week),
        person.kind == LATE and week == 2,
    )
    day = {1: 10, 2: 22 if late else 17, 3: 24}[week]
    if system == "canvas":
        display = "".join(reversed(called.lower().split(" ")))
        again = "-1" if week == 2 else ""
        stem, dot, ending = name.partition(".")
        return f"{display}{'_LATE' if late else ''}_{number}_{50_000 * week + person.number}_{stem}{again}{dot}{ending}"
    if system == "moodle":
        group = "Gruppe A-" if person.kind in (GROUP, PARTNER) else ""
        return f"{group}{called}_{number}_assignsubmission_file_/{name}"
    if system == "blackboard":
        return f"Lesson_{week}_{number}_attempt_2026-11-{day}-12-00-00_{name}"
    return f"{number}-{5_000 + week} - {called} - Nov {day}, 2026 1200 PM/{name}"


def archive_of(system: str, people: list[Person], week: int, work: Work, tmp_path: Path) -> tuple[Path, int]:
    """Write the archive of a week. Return its path and the number of files in it; for a nested archive, the
    files inside it are counted.
    """
    files: dict[str, str | bytes] = {"index.html": "<html>"} if system == "brightspace" else {}
    submissions, count = [], len(files)
    for person in people:
        if system == "gradescope" and person.kind == PARTNER:
            continue  # hands in together with the one before
        mine = work.files(person, week, tmp_path)
        count += sum(3 if name.endswith(".zip") else 1 for name in mine)
        folder = f"submission_{1_000 * week + person.number}"
        for name, text in mine.items():
            place = f"assignment_1_export/{folder}/{name}"
            files[place if system == "gradescope" else path_of(system, person, week, name)] = text
        submissions.append(submission_of(folder, person, week))
    if system == "gradescope":
        files["assignment_1_export/submission_metadata.yml"] = "".join(submissions)
        count += 1
    return zipped(tmp_path / f"week {week}.zip", files), count


def submission_of(folder: str, person: Person, week: int) -> str:
    """Return Gradescope's record of a submission."""
    both = [person, Person(person.number + 1)] if person.kind == GROUP else [person]
    day = 22 if person.kind == LATE and week == 2 else 3 + 7 * week
    names = "".join(f'\n  - {{":name": "{one.called(week)}", ":sid": {one.id}}}' for one in both)
    return f"{folder}:\n  :created_at: 2026-11-{day} 12:00:00 Z\n  :submitters:{names}\n"


def counted(course: Path) -> dict[str, tuple[str, int]]:
    """Return, for each folder and lesson, the student and the number that the notebook there states;
    ("damaged", 0) if it states none.
    """
    found = {}
    for path in sorted((course / "submitted").glob("*/*/*.ipynb")):
        word = TAG.search(path.read_text(encoding="utf-8"))
        found[f"{path.parts[-3]} {path.stem[:2]}"] = (word[1], int(word[2])) if word else ("damaged", 0)
    return found


def is_right(folder: str, owner: str, system: str) -> bool:
    """Return whether the work of `owner` may be in `folder`: the folder's name is the owner's id (or, in
    Gradescope, the id of the owner's partner), or ends with a number that the system gives the owner.
    """
    person = Person(int(owner[1:]))
    mine = {person.id} | (
        {Person(person.number + 1).id} if system == "gradescope" and person.kind == GROUP else set()
    )
    numbers = {person.number_in(system, week) for week in LESSONS}
    return folder in mine or any(folder.endswith(f"_{number}") for number in numbers)


def walk(course: Path, texts: dict[str, str], system: str, size: int, tmp_path: Path, said) -> dict:
    """Collect the archives of three weeks, and then those of the first two weeks again, which must change
    nothing. Check each time that every file is accounted for and no work is in a wrong folder. Return what
    `counted` finds in the end; `said()` returns what was printed.
    """
    people, work = [Person(number) for number in range(size)], Work(texts)
    add_students(course, {one.id: (one.first, one.last) for one in people if one.kind != STRANGER})
    for week in (1, 2, 3, 1, 2):
        archive, count = archive_of(system, people, week, work, tmp_path)
        collect(course, [archive], lesson=LESSONS[week], timezone="Europe/Berlin")
        table = said()
        rows = {
            match[2]: int(match[1].replace(",", ""))
            for match in re.finditer(r"^ *([\d,]+)  (.+)$", table, re.M)
        }
        assert rows.pop("in all") == count == sum(rows.values()), table
        for place, (owner, _) in counted(course).items():
            assert owner == "damaged" or is_right(place.split(" ")[0], owner, system), (week, place, owner)
        if week == 3:
            before = counted(course)
    assert counted(course) == before  # archives that were collected put nothing back
    return before


@pytest.mark.trial
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_term_of_a_class_keeps_everybodys_own_last_work(course, texts, tmp_path, capsys, system):
    found = walk(course, texts, system, SIZE, tmp_path, lambda: capsys.readouterr().out)
    last = {PLAIN: 1, AGAIN: 2, LATE: 2, SCRIPT: 2, FOLDER: 2, GROUP: 1, PARTNER: 1}
    for person in map(Person, range(SIZE)):
        if person.kind in last and not (system == "gradescope" and person.kind == PARTNER):
            assert found[f"{person.id} 01"] == (person.id, last[person.kind]), person.id
        if person.kind == UNTOUCHED:
            assert found[f"{person.id} 01"] == ("damaged", 0)
        if person.kind in (AGAIN, LATE, SCRIPT, FOLDER, GROUP):
            assert found[f"{person.id} 02"] == (person.id, 3), person.id
    by_owner = Counter(owner for owner, _ in found.values())
    knows_ids = system in ("blackboard", "gradescope")
    for person in (one for one in map(Person, range(SIZE)) if one.kind in (TWIN, OTHER_TWIN, STRANGER)):
        assert by_owner[person.id] >= 2 - (system == "moodle") and (f"{person.id} 01" in found) == (
            (knows_ids and person.kind != STRANGER) or (person.kind == STRANGER and system in ("blackboard",))
        )
