"""Brings corrected and additional lessons into a course during the term, and reports what changes."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nbformat import NotebookNode
from nbgrader.api import MissingEntry
from nbgrader.apps.api import NbGraderAPI

from autograder.build.lesson import Lesson
from autograder.build.notebooks import as_text, teacher_notebook
from autograder.exercises import own
from autograder.files import write_whole
from autograder.grading.course.lessons import (
    MADE,
    add_lesson,
    choose_lessons,
    copy_own,
    own_lessons,
    read_notebook,
    source_of,
)
from autograder.grading.course.merge import merged
from autograder.grading.course.news import news, remember
from autograder.grading.gradebook.fail_closed import GUARD, GUARD_TEXT
from autograder.grading.gradebook.open_course import lessons_of, locked, open_course, quiet
from autograder.grading.submission.find import find_submissions

BEFORE = Path("earlier", "source")  # where sources with the instructor's changes are kept before an update


@dataclass(frozen=True)
class _Plan:
    """The plan for a lesson in an update, and the messages about it. `source` is None if the lesson is left
    as it is. `refused` is True if the lesson has to be left as it is because students have already handed it
    in.
    """

    lesson: Lesson
    said: list[str]
    made: NotebookNode | None = None
    source: NotebookNode | None = None
    refused: bool = False


def update_course(folder: Path | str, only: list[str] | None = None, further: Path | None = None) -> None:
    """Bring the lessons of the course in `folder` up to date, and print what changes. `only` lists lessons to
    add, by number or name. `further` is a folder with the current version of the instructor's own lessons.

    Points in the gradebook, submissions, and the instructor's own text and points are kept. Raises UserError
    if `folder` is not a course, or if there is no such lesson.
    """
    folder = Path(folder).absolute()
    api = open_course(folder)
    there = lessons_of(api)
    wanted = [lesson for lesson in choose_lessons(None) if lesson.name in there]
    wanted += [lesson for lesson in choose_lessons(only) if lesson.name not in there] if only else []
    with locked(folder), quiet(folder / "grading.log"):
        (folder / GUARD).write_text(GUARD_TEXT, encoding="utf-8")
        # subtle: the instructor's own lessons come first, because exercises are read only once in a process.
        with _copy_kept(folder) as bring_back:
            mine = copy_own(further.absolute(), folder) if further else own_lessons(folder)
            plans = [_plan(api, folder, lesson, there) for lesson in wanted]
            plans_of_own = [_plan(api, folder, lesson, there) for lesson in mine]
            # The instructor's exercises are updated all together or not at all: lessons already handed in must be
            # judged with the old ones.
            refused = any(plan.refused for plan in plans_of_own)
            for plan in [*plans, *([] if refused else plans_of_own)]:
                _carry_out(api, folder, plan)
            if refused:
                bring_back()
    said = [line for plan in plans for line in plan.said]
    for plan in plans_of_own:
        said += (
            plan.said
            if plan.refused or not refused
            else [f"{plan.lesson.name}: left as it is, because another lesson could not be updated"]
        )
    if entries := news(folder):
        print("New since this course was made or last updated:")
        print("\n".join(f"- {entry}" for entry in entries))
        remember(folder)
    print("\n".join(said))
    print(f"`python -m autograder grade {folder}` grades again what this changes; points given by hand stay.")


@contextmanager
def _copy_kept(folder: Path) -> Iterator[Callable[[], None]]:
    """Back up the course's copy of the instructor's own lessons, and yield a function that restores it. The
    copy is also restored if the block raises an error.
    """
    copy = folder / own.COPY
    with TemporaryDirectory(dir=folder, prefix=".lessons-") as kept:
        if copy.is_dir():
            shutil.copytree(copy, Path(kept, own.COPY))

        def bring_back() -> None:
            shutil.rmtree(copy, ignore_errors=True)
            if Path(kept, own.COPY).is_dir():
                Path(kept, own.COPY).rename(copy)
            own.use_course(folder)

        try:
            yield bring_back
        except BaseException:  # Ctrl-C as well
            bring_back()
            raise


def _plan(api: NbGraderAPI, folder: Path, lesson: Lesson, there: list[str]) -> _Plan:
    new = teacher_notebook(lesson)
    if lesson.name not in there:
        return _Plan(lesson, [f"{lesson.name}: new in this course"], new, new)
    mine = read_notebook(source_of(folder, lesson))
    path = folder / MADE / f"{lesson.name}.ipynb"
    if not path.exists():
        why = "left as it is, because this course cannot tell which parts are yours"
        return _Plan(lesson, [f"{lesson.name}: {why}"])
    made = read_notebook(path)
    if made.cells == new.cells:
        return _Plan(lesson, [f"{lesson.name}: unchanged"])
    result, notes = merged(made, mine, new)
    handed_in = len(find_submissions(folder, lesson.name, [lesson.name]))
    before, after = _points_before(api, lesson.name), _points(result)
    if handed_in and before.keys() != after.keys():
        asks = ", ".join(sorted(before.keys() ^ after.keys()))
        why = f"left as it is; {handed_in} have handed in, and the corrected lesson asks different questions ({asks})"
        return _Plan(lesson, [f"{lesson.name}: {why}"], refused=True)
    notes += [
        f"{name} has {after[name]:g} points now, not {before[name]:g}" for name in _other(before, after)
    ]
    changed = sum(cell not in mine.cells for cell in result.cells)
    head = f"{lesson.name}: {changed} cells changed; {handed_in} have handed in"
    return _Plan(lesson, [head, *(f"  {note}" for note in notes)], new, result)


def _carry_out(api: NbGraderAPI, folder: Path, plan: _Plan) -> None:
    if plan.source is None or plan.made is None:
        return
    path, made = source_of(folder, plan.lesson), folder / MADE / f"{plan.lesson.name}.ipynb"
    if made.exists() and (mine := read_notebook(path)).cells != read_notebook(made).cells:
        kept = folder / BEFORE / plan.lesson.name
        write_whole(kept / f"{len(list(kept.glob('*.ipynb'))) + 1}.ipynb", as_text(mine))
    add_lesson(api, folder, plan.lesson, plan.made, plan.source)


def _other(before: dict[str, float], after: dict[str, float]) -> list[str]:
    return [name for name in after if name in before and after[name] != before[name]]


def _points(notebook: NotebookNode) -> dict[str, float]:
    """Return the points of the named cells; cells that are not graded have 0 points."""
    named = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    return {one.grade_id: float(one.get("points") or 0) for one in named}


def _points_before(api: NbGraderAPI, lesson: str) -> dict[str, float]:
    """Return the points of the named cells as `_points` does, but read them from the gradebook. Return an
    empty dict if the gradebook does not have the lesson.
    """
    with api.gradebook as gradebook:
        try:
            notebook = gradebook.find_notebook(lesson, lesson)
        except MissingEntry:
            return {}
        graded = {cell.name: float(cell.max_score) for cell in [*notebook.grade_cells, *notebook.task_cells]}
        return {cell.name: graded.get(cell.name, 0.0) for cell in notebook.source_cells}
