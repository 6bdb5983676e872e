"""Adds lessons to a course, and copies the instructor's own lessons into it.

DIR/lessons              a copy of the instructor's own lessons, which grading uses
DIR/.made/LESSON.ipynb   the source as this package made it, without the instructor's changes
"""

import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.apps.api import NbGraderAPI

from autograder.build.lesson import Lesson, find_lessons, lesson_names
from autograder.build.notebooks import as_text
from autograder.errors import UserError
from autograder.exercises import own
from autograder.files import write_whole

MADE = ".made"


def choose_lessons(only: list[str] | None) -> list[Lesson]:
    """Return the lessons with these numbers or names, or all lessons if `only` is None. Raises UserError if
    there is no such lesson.
    """
    known = find_lessons(None)
    for one in only or []:
        if not any(one in (lesson.name, lesson.name[:2]) for lesson in known):
            names = ", ".join(lesson.name for lesson in known)
            raise UserError(f"there is no lesson {one!r}; the lessons are {names}.")
    return [lesson for lesson in known if only is None or lesson.name in only or lesson.name[:2] in only]


def copy_own(further: Path, folder: Path) -> list[Lesson]:
    """Copy the lessons in the folder `further` into the course in `folder`, make this process use them, and
    return them.

    Raises UserError if there are none, or if one has a name that is already taken.
    """
    own.check_names(further)
    copy, half = folder / own.COPY, folder / f".{own.COPY}"
    shutil.rmtree(half, ignore_errors=True)
    for part in own.PARTS:
        if (further / part).is_dir():
            shutil.copytree(
                further / part, half / part, ignore=shutil.ignore_patterns("__pycache__", ".*", "*.ipynb")
            )
    shutil.rmtree(copy, ignore_errors=True)
    half.rename(copy)
    own.use(copy)
    return own_lessons(folder)


def own_lessons(folder: Path) -> list[Lesson]:
    """Return the instructor's own lessons that were copied into the course."""
    copy = folder / own.COPY
    return [Lesson(name, copy) for name in lesson_names(copy)] if own.is_own(copy) else []


def add_lesson(
    api: NbGraderAPI, folder: Path, lesson: Lesson, made: NotebookNode, source: NotebookNode
) -> None:
    """Put a lesson into the course: its source, and the release that nbgrader makes from it. `made` is the
    source without the instructor's changes.

    Raises UserError if nbgrader refuses the source; if the course already had the lesson, its earlier version
    is then restored.
    """
    path = source_of(folder, lesson)
    before = path.read_text(encoding="utf-8") if path.exists() else None
    write_whole(path, as_text(source))
    result = api.generate_assignment(lesson.name, force=True)
    if not result["success"]:
        if before is not None:
            write_whole(path, before)
            api.generate_assignment(lesson.name, force=True)
        reason = result["error"].strip().split("\n")[-1]
        raise UserError(f"nbgrader refuses the lesson {lesson.name}: {reason}")
    write_whole(folder / MADE / f"{lesson.name}.ipynb", as_text(made))


def source_of(folder: Path, lesson: Lesson) -> Path:
    """Return the path of a lesson's source in the course in `folder`."""
    return folder / "source" / lesson.name / f"{lesson.name}.ipynb"


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook of the course from its file."""
    return nbformat.read(path, as_version=4)
