"""Shows or removes everything that a course keeps about one student."""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.engine import make_url

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.collect.people import FILE, People
from autograder.grading.collect.students import Class
from autograder.grading.course.update import BEFORE
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course
from autograder.grading.gradebook.table import as_number, points_of, short_name
from autograder.grading.submission.find import Submission
from autograder.printable import printable

OF_NOBODY = ("source", "release", "lessons", ".made")  # folders that contain no student's data
OF_ALL = ("report*.html", "feedback-*.zip")  # files about the whole class, which commands can write again
LOGS = ("grading.log", ".nbgrader.log")


def show(folder: Path, student: str) -> None:
    """Print what the gradebook and people.csv contain about a student, and list the student's files and other
    files that mention the student. Raises UserError if there is nothing.
    """
    folder = folder.absolute()
    api = open_course(folder)
    lessons = lessons_of(api)
    files = [path for place in _places(folder, student, lessons) for path in _files(place)]
    with api.gradebook as gradebook:
        people = People(folder, Class(gradebook.students))
        lines = _of_gradebook(gradebook, student)
        others = _kept_under_another_id(folder, people.earlier_ids_of(student), lessons, gradebook)
    rows = people.rows_of(student).items()
    lines += [f"{FILE}: {system} {number} {name}".rstrip() for (system, number), name in rows]
    if not (lines or files):
        raise UserError(f"this course keeps nothing about {student!r}.")
    but = [*files, folder / "gradebook.db"]
    lines += ["", f"{len(files)} files under {folder}:", *(f"  {path.relative_to(folder)}" for path in files)]
    lines += [
        f"  {path.relative_to(folder)} (mentions the student)" for path in _naming(folder, student, but)
    ]
    lines += [
        f"Some work was collected under another id; to see it, run `show` with that id: {one}"
        for one in others
    ]
    print("\n".join(map(printable, lines)))


def forget(folder: Path, student: str) -> list[Path]:
    """Remove a student from the gradebook, folders, tables and logs of a course, and delete the files about
    the whole class, which can be written again. Print and return the instructor's own files that still name
    the student, and anything that was collected under another id before the student was identified.

    Raises UserError if the course keeps nothing about the student.
    """
    folder = folder.absolute()
    api = open_course(folder)
    lessons = lessons_of(api)
    with locked(folder):
        places = [place for place in _places(folder, student, lessons) if place.exists()]
        with api.gradebook as gradebook:
            people = People(folder, Class(gradebook.students))
            others = _kept_under_another_id(folder, people.earlier_ids_of(student), lessons, gradebook)
            rows = people.rows_of(student)
            try:
                gradebook.remove_student(student)
            except MissingEntry:
                if not (places or rows):
                    raise UserError(f"this course keeps nothing about {student!r}.") from None
        _forget_deleted_rows(api.coursedir.db_url)
        for place in places:
            _remove(place)
        if rows:
            people.forget(student)
            people.save()
        others_results = {_key_in(path) for path in (folder / ".grading").glob("*/*.json")}
        for path in (folder / ".grading" / "results").glob("*.json"):
            if path.stem not in others_results:  # also those of the student's earlier attempts
                path.unlink()
        for pattern in OF_ALL:
            for path in folder.glob(pattern):
                path.unlink()
        for name in LOGS:
            _rewrite(folder / name, lambda text: _lines_without(text, student))
        for path in _tables(folder):
            _rewrite(path, lambda text: _table_without(text, student))
    rest = _naming(folder, student, [])
    print(f"{printable(student)} is removed: {len(places)} files and folders, and the gradebook's rows.")
    for path in rest:
        print(f"This file of yours still mentions the student: {printable(str(path.relative_to(folder)))}")
    for one, kept in others.items():
        print(
            "Some work was collected under another id; look at it with `show`, then `forget` that id too: "
            + printable(one)
        )
        rest += kept
    return rest


def _places(folder: Path, student: str, lessons: list[str]) -> list[Path]:
    """Return the student's folders, and the files with the outcomes of grading the student's work. Raises
    UserError if no student can have this id.
    """
    if not student or student.startswith(".") or "/" in student:
        raise UserError(f"{student!r} cannot be the id of a student.")
    folders = [path for path in folder.iterdir() if path.is_dir() and path.name not in OF_NOBODY]
    found = [path / student for path in sorted(folders) if (path / student).is_dir()]
    found = [path for path in found if path != folder / BEFORE]
    return found + [
        record for name in lessons if (record := Submission(folder, student, name).record).exists()
    ]


def _kept_under_another_id(
    folder: Path, ids: set[str], lessons: list[str], gradebook: Gradebook
) -> dict[str, list[Path]]:
    """Return a dict from each of `ids` to the paths of everything that is kept under it. An id under which
    nothing is kept is left out. If only the gradebook knows an id, its path is that of the gradebook.
    """
    rows = {row.id for row in gradebook.students}
    found = {one: _places(folder, one, lessons) for one in sorted(ids)}
    return {
        one: places or [folder / "gradebook.db"] for one, places in found.items() if places or one in rows
    }


def _files(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]


def _of_gradebook(gradebook: Gradebook, student: str) -> list[str]:
    try:
        row = gradebook.find_student(student)
    except MissingEntry:
        return []
    lines = [f"{student}: {row.first_name or ''} {row.last_name or ''} {row.email or ''}".rstrip()]
    for work in row.submissions:
        lines.append(f"{work.name}: handed in {work.timestamp or 'at an unknown time'}")
        for notebook in work.notebooks:
            comments = {comment.name: comment.comment for comment in notebook.comments if comment.comment}
            for grade in notebook.grades:
                points = f"{as_number(points_of(grade))} of {as_number(grade.max_score)}"
                comment = comments.pop(grade.name, "")
                lines.append(f"  {short_name(grade.name)}: {points}{f'; {comment}' if comment else ''}")
            lines += [f"  {short_name(name)}: {comment}" for name, comment in comments.items()]
    return lines


def _key_in(outcome: Path) -> str:
    """Return the key of the result to which an outcome's file refers, or an empty string if the file refers
    to none or cannot be read.
    """
    try:
        return str(json.loads(outcome.read_text(encoding="utf-8")).get("result", ""))
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""


def _forget_deleted_rows(db_url: str) -> None:
    """Rewrite SQLite's file, because deleted rows remain in it until they are overwritten."""
    url = make_url(db_url)
    if url.drivername.startswith("sqlite") and url.database:
        with closing(sqlite3.connect(url.database, timeout=60)) as database:
            database.execute("VACUUM")


def _remove(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
        return
    for path in [place, *place.rglob("*")] if place.is_dir() else []:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)  # nbgrader leaves them read-only
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _rewrite(path: Path, change: Any) -> None:
    if path.is_file():
        text = path.read_text(encoding="utf-8", errors="replace")
        if (changed := change(text)) != text:
            write_whole(path, changed)


def _lines_without(text: str, student: str) -> str:
    names = _pattern(student)
    return "".join(line for line in text.splitlines(keepends=True) if not names.search(line))


def _tables(folder: Path) -> Iterator[Path]:
    """Yield the tables that this package stores in a course in addition to nbgrader's own files."""
    yield from (path for path in folder.glob(".*.json") if path.is_file())
    yield from (folder / ".grading").glob("*.json")


def _table_without(text: str, student: str) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        return text
    kept = _without(data, student)
    return text if kept == data else json.dumps(kept)


def _without(data: Any, student: str) -> Any:
    """Return the data of a table without the student's id and without the entries whose key or value is that
    id.
    """
    if isinstance(data, dict):
        kept = {key: value for key, value in data.items() if student not in (key, value)}
        return {key: _without(value, student) for key, value in kept.items()}
    if isinstance(data, list):
        return [_without(one, student) for one in data if one != student]
    return data


def _pattern(student: str) -> re.Pattern:
    return re.compile(rf"(?<!\w){re.escape(student)}(?!\w)")


def _naming(folder: Path, student: str, but: list[Path]) -> list[Path]:
    """Return the files of the course that name the student, except those in `but`."""
    names, others = _pattern(student), []
    for path in sorted(folder.rglob("*")):
        top = path.relative_to(folder).parts[0]
        if top in OF_NOBODY or path in but or not path.is_file() or path.is_symlink():
            continue
        if names.search(path.read_bytes().decode("utf-8", errors="replace")):
            others.append(path)
    return others
