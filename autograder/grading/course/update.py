"""Brings mended and further lessons into a course in mid-term, and says what changes for whom."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import MissingEntry
from nbgrader.apps.api import NbGraderAPI

from autograder.build.lesson import Lesson
from autograder.build.notebooks import teacher_notebook
from autograder.grading.course.lessons import MADE, add_lesson, choose_lessons, copy_own, own_lessons
from autograder.grading.course.merge import merged
from autograder.grading.gradebook.fail_closed import GUARD, GUARD_TEXT
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course, quiet
from autograder.grading.submission.find import find_submissions


def update_course(folder: Path | str, only: list[str] | None = None, further: Path | None = None) -> None:
    """Brings the lessons of the course in `folder` up to date, and prints what changes. `only` adds lessons of these
    numbers or names; `further` is the folder of an instructor's own lessons, as they are now.

    The gradebook with its points, the submissions, and the instructor's own text and points stay. Raises UserError if
    `folder` is not a course, or there is no such lesson.
    """
    folder = Path(folder).absolute()
    api = open_course(folder)
    there = lessons_of(api)
    wanted = [lesson for lesson in choose_lessons(None) if lesson.name in there]
    wanted += [lesson for lesson in choose_lessons(only) if lesson.name not in there] if only else []
    with locked(folder), quiet(folder / "grading.log"):
        (folder / GUARD).write_text(GUARD_TEXT, encoding="utf-8")
        wanted += copy_own(further.absolute(), folder) if further else own_lessons(folder)
        said = [line for lesson in wanted for line in _update(api, folder, lesson, there)]
    print("\n".join(said))
    print(f"`python -m autograder grade {folder}` goes through what this concerns; points given by hand stay.")


def _update(api: NbGraderAPI, folder: Path, lesson: Lesson, there: list[str]) -> list[str]:
    """Updates one lesson; returns what to say about it."""
    new = teacher_notebook(lesson)
    if lesson.name not in there:
        add_lesson(api, folder, lesson, new, new)
        return [f"{lesson.name}: new in this course"]
    mine = _read(folder / "source" / lesson.name / f"{lesson.name}.ipynb")
    path = folder / MADE / f"{lesson.name}.ipynb"
    if not path.exists():
        return [f"{lesson.name}: left as it is, because this course does not know what of it is yours"]
    made = _read(path)
    result, notes = merged(made, mine, new)
    if made.cells == new.cells:
        return [f"{lesson.name}: as it was"]
    handed_in = len(find_submissions(folder, lesson.name, [lesson.name]))
    if handed_in and _graded(result) != _graded_before(api, lesson.name):
        return [f"{lesson.name}: left as it is; {handed_in} have handed in, and the mended one asks other questions"]
    add_lesson(api, folder, lesson, new, result)
    changed = sum(cell not in mine.cells for cell in result.cells)
    return [f"{lesson.name}: {changed} cells changed; {handed_in} have handed in", *(f"  {note}" for note in notes)]


def _read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def _graded(notebook: NotebookNode) -> set[str]:
    return {cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata}


def _graded_before(api: NbGraderAPI, lesson: str) -> set[str]:
    with api.gradebook as gradebook:
        try:
            return {cell.name for cell in gradebook.find_notebook(lesson, lesson).source_cells}
        except MissingEntry:
            return set()
