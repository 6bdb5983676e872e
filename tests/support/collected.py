"""Helpers for the tests of collecting: they make archives, and read what has been placed in a course."""

import zipfile
from pathlib import Path

from autograder.grading.demo.sample_class import FIRST
from autograder.grading.gradebook.open_course import open_course


def add_students(course: Path, students: dict[str, tuple[str, str]]) -> None:
    """Add students to the gradebook; `students` maps each id to (first name, last name)."""
    with open_course(course).gradebook as book:
        for student, (first, last) in students.items():
            book.add_student(student, first_name=first, last_name=last, email=f"{student}@example.org")


def zipped(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def placed(course: Path) -> dict[str, str]:
    """Return the texts of the submitted notebooks, by student and lesson number."""
    found = sorted((course / "submitted").glob("*/*/*.ipynb"))
    assert all(path.stem == path.parent.name for path in found)
    return {f"{path.parts[-3]} {path.stem[:2]}": path.read_text(encoding="utf-8") for path in found}


def stamp(course: Path, student: str, lesson: str = FIRST) -> str | None:
    path = course / "submitted" / student / lesson / "timestamp.txt"
    return path.read_text() if path.exists() else None
