"""Makes the notebooks of lessons from their sources: only what is out of date is run or written."""

from pathlib import Path
from typing import TYPE_CHECKING

from autograder.build.lesson import INSTALLED, ROOT, Lesson, find_lessons
from autograder.errors import UserError
from autograder.files import write_whole

if TYPE_CHECKING:
    from nbformat import NotebookNode

EDITED = ": its outputs are not those that `build` wrote; `build` runs the lesson again"


def build(
    names: list[str] | None, check: bool = False, progress: bool = True, root: Path = ROOT
) -> list[str]:
    """Make the notebooks of the lessons `names`, and return the files that were written. If `names` is None,
    make the notebooks of all lessons, and update the tables in README and CONTRIBUTING.

    Only what is out of date is run or written; a student notebook that somebody has worked in is left alone.
    With `check`, nothing is run or written, and the files that are out of date are returned. Raises UserError
    for an unknown lesson, a source with an error, or a cell that fails.
    """
    from tqdm import tqdm

    if root == INSTALLED:
        raise UserError(
            "lessons can be made only in a clone of the course, but this is an installed package."
        )
    lessons = find_lessons(names, root)
    changed = []
    with tqdm(lessons, unit="lesson", disable=not progress or check, leave=False) as bar:
        for lesson in bar:
            bar.set_description(lesson.name)
            changed += _stale_files(lesson) if check else _build_lesson(lesson)
    return changed + ([] if names else _pages(root, check))


def _pages(root: Path, check: bool) -> list[str]:
    """Bring the tables in README and CONTRIBUTING up to date, and return the names of the pages that were out
    of date. With `check`, write nothing.
    """
    from autograder.build.readme import PAGES

    changed = []
    for name, with_tables in PAGES.items():
        text = _text_of(root / name)
        if text is not None and (fresh := with_tables(text, root)) != text:
            changed.append(name)
            if not check:
                _write(root / name, fresh)
    return changed


def _stale_files(lesson: Lesson) -> list[str]:
    """Return the notebooks of the lesson that differ from what `build` would write, as far as that can be
    known without running the lesson. A notebook whose outputs were edited is marked.
    """
    from autograder.build.notebooks import as_text
    from autograder.build.stale import is_edited, with_stored_outputs

    stale, kept = [], with_stored_outputs(lesson)
    if is_edited(lesson):
        stale.append(f"{_name(lesson, lesson.executed)}{EDITED}")
    elif kept is None or as_text(kept) != _text_of(lesson.executed):
        stale.append(_name(lesson, lesson.executed))
    if _text_of(lesson.student) != student_text(lesson):
        stale.append(_name(lesson, lesson.student))
    return stale


def _build_lesson(lesson: Lesson) -> list[str]:
    return [*_build_executed(lesson), *_build_student(lesson)]


def _build_executed(lesson: Lesson) -> list[str]:
    """Write the executed notebook if it would change, update its entry in built.json, and return the names of
    the notebooks that were written. Run the lesson only if its outputs could have changed.
    """
    from autograder.build.notebooks import as_text
    from autograder.build.stale import is_run, record, with_stored_outputs

    kept = with_stored_outputs(lesson)
    notebook = kept if kept is not None and is_run(lesson) else executed_notebook(lesson)
    text = as_text(notebook)
    written = [lesson.executed] if text != _text_of(lesson.executed) else []
    if written:
        _write(lesson.executed, text)
    record(lesson, notebook, was_run=notebook is not kept)
    return [_name(lesson, path) for path in written]


def _build_student(lesson: Lesson) -> list[str]:
    from autograder.build.stale import is_changed_by_hand

    name, text = _name(lesson, lesson.student), student_text(lesson)
    if text == _text_of(lesson.student):
        return []
    if is_changed_by_hand(lesson.student):
        print(f"{name} holds changes of yours and is left as it is; rename it to get a new one.")
        return []
    _write(lesson.student, text)
    return [name]


def _name(lesson: Lesson, path: Path) -> str:
    return str(path.relative_to(lesson.root))


def student_text(lesson: Lesson) -> str:
    """Return the text of the lesson's student notebook, signed so that a learner's changes can be
    detected."""
    from autograder.build.notebooks import as_text, student_notebook
    from autograder.build.stale import sign_text

    return as_text(sign_text(student_notebook(lesson)))


def executed_notebook(lesson: Lesson) -> "NotebookNode":
    """Run the lesson and return its executed notebook. A cell that gives the same output again keeps its
    stored output, unless the stored outputs were edited. Raises UserError if a cell fails.
    """
    from autograder.build.execute import execute
    from autograder.build.lesson import read_cells
    from autograder.build.notebooks import reading_notebook
    from autograder.build.outputs import keep_same
    from autograder.build.stale import is_edited, stored_notebook

    notebook = reading_notebook(lesson)
    execute(lesson, read_cells(lesson), notebook)
    keep_same(None if is_edited(lesson) else stored_notebook(lesson), notebook)
    return notebook


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from None
