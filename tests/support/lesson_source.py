"""The sources of the lessons, for the tests that read or run them."""

from functools import cache
from pathlib import Path

from autograder.build.lesson import Cell, Lesson, lesson_names, read_cells

LESSONS = lesson_names()


def source(lesson: str) -> Path:
    return Lesson(lesson).source


@cache
def cells(lesson: str) -> list[Cell]:
    """Return the cells of a lesson, or an empty list if the lesson is not written yet."""
    return read_cells(Lesson(lesson)) if source(lesson).exists() else []


def cells_of_kind(lesson: str, kind: str) -> list[Cell]:
    return [cell for cell in cells(lesson) if cell.kind == kind]


@cache
def prose(lesson: str) -> str:
    return "\n\n".join(cell.text for cell in cells(lesson) if not cell.is_code)
