"""mine("generation.sample", otherwise): the learner's own answer to an exercise of another lesson, to build
on.

The answer is taken from the notebook of that lesson in the same folder: its cell and, from the cells above
it, the imports, functions and values that it uses; nothing else in that notebook runs. The answer is used
only if it passes its check, which is repeated whenever that notebook has changed. `mine.table(...)` shows
which parts are the learner's own.

Only a learner's own notebook gets the learner's answers; in grading, in a check and in a script, `mine`
always returns `otherwise`.
"""

import ast
import html
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from autograder.errors import UserError
from autograder.exercises import find, format_lesson
from autograder.faults import entry_point
from autograder.judge import cases_of, judge
from autograder.notebook.check import verdict_on
from autograder.notebook.memory import recall, remember, was_judged
from autograder.notebook.running import running_notebook
from autograder.notebook.saved import code_cells, is_answer
from autograder.probe import probe
from autograder.probe.guard import guarded
from autograder.schema.exercise import Exercise
from autograder.verdict import RIGHT

SECONDS = 10.0  # limit for the imports and values of another notebook
PROBE = "autograder.probe.run"
CARRIED = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


@dataclass(frozen=True)
class _Found:
    """The answer in a notebook, and when the notebook's file last changed. `answer` is None if the notebook
    has no answer that passes its check.
    """

    changed: int
    answer: Callable | None


@dataclass(frozen=True)
class Table:
    """A table of the parts of a model; each row is (exercise, whether the part is the learner's own)."""

    rows: tuple[tuple[Exercise, bool], ...]

    @property
    def sentence(self) -> str:
        """A sentence that says how many parts are the learner's own."""
        return f"{sum(own for _, own in self.rows)} of {len(self.rows)} parts of this model are yours."

    def __repr__(self) -> str:
        lines = [f"{one.name:20} {_whose(one, own)}" for one, own in self.rows]
        return "\n".join([*lines, self.sentence])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'><code>{html.escape(one.name)}</code></td>"
            f"<td style='text-align:left'>{_whose(one, own, linked=True)}</td></tr>"
            for one, own in self.rows
        )
        return f"<table>{rows}</table><p><b>{self.sentence}</b></p>"


def _whose(exercise: Exercise, own: bool, linked: bool = False) -> str:
    lesson = format_lesson(exercise.lesson)
    if own:
        return f"✓ yours, from lesson {lesson}"
    link = f"<a href='{exercise.lesson}.ipynb'>{lesson}</a>"
    return f"not yours yet: it is built in {link if linked else lesson}"


class Mine:
    """The class of `mine`, which is its only instance."""

    def __init__(self) -> None:
        self._known: dict[Path, _Found] = {}
        self._given: dict[str, bool] = {}  # whether the last call of `mine` returned the learner's own answer

    @entry_point('mine("generation.sample", otherwise)')
    def __call__(self, exercise: str, otherwise: Any) -> Any:
        """Return the learner's own answer to the exercise with this id, or `otherwise`. If an answer is
        written but cannot be used, one printed sentence says so. Raises UserError if there is no such
        exercise.
        """
        found = self._answer(find(exercise))
        self._given[exercise] = found is not None
        return otherwise if found is None else _outside_of_checks(found, otherwise)

    @entry_point('mine.table("generation.sample")')
    def table(self, *exercises: str) -> Table:
        """Return a table that shows which parts, given by their exercise ids, are the learner's own.

        A part is the learner's own if `mine` returned it, or if it is an answer in this notebook that passed
        its latest check. An answer that was defined again since that check is checked again, and a printed
        sentence names it if it fails. A printed sentence also names a part that is right by now, but was not
        when `mine` was called.
        """
        return Table(tuple((one, self._is_own(one)) for one in map(find, exercises)))

    def _is_own(self, exercise: Exercise) -> bool:
        if not _is_allowed():
            return False
        if exercise.id in self._given:
            if not self._given[exercise.id] and self._answer(exercise) is not None:
                print(
                    f"Your {exercise.name} {_of(exercise)} is now right. To use it, run the cell "
                    "with `mine` again."
                )
            return self._given[exercise.id]
        return recall().get(exercise.id, ("", 0.0))[0] == RIGHT and _is_still_right(exercise)

    def _answer(self, exercise: Exercise) -> Callable | None:
        file = _notebook(exercise)
        if not _is_allowed() or not file.is_file():
            return None
        changed, key = file.stat().st_mtime_ns, file.resolve() / exercise.id
        if key not in self._known or self._known[key].changed != changed:
            self._known[key] = _Found(changed, _checked(exercise, file))
        return self._known[key].answer


mine = Mine()


def _is_still_right(exercise: Exercise) -> bool:
    """Return whether this notebook's answer, which passed its latest check, still passes as it is defined
    now. Return True if it is not defined yet. If it does not pass, print a sentence that says so.
    """
    shell = running_notebook()
    answer = shell.user_ns.get(exercise.name) if shell is not None else None
    if answer is None or was_judged(exercise.id, answer):
        return True
    try:
        verdict = verdict_on(answer, exercise)
    except UserError as error:  # it is no function any more
        print(error)
        return False
    remember(verdict, answer=answer)
    if not verdict.passed:
        print(
            f"Your {exercise.name} has changed since its last check and does not pass any more: run "
            f"check({exercise.name}) to see why."
        )
    return verdict.passed


def _outside_of_checks(own: Callable, otherwise: Any) -> Callable:
    """Wrap the learner's own function so that `otherwise` takes its place while a function that calls it is
    being checked: the check then gives the same verdict here as in grading. If `own` is a class, or
    `otherwise` cannot be called, return `own` unwrapped.
    """
    if not callable(otherwise) or isinstance(own, type):
        return own

    @wraps(own)
    def used(*args: Any, **kwargs: Any) -> Any:
        return (otherwise if _in_a_check() else own)(*args, **kwargs)

    return used


def _notebook(exercise: Exercise) -> Path:
    """Return the path of the notebook of the exercise's lesson. It is relative, since a kernel runs in the
    folder of its notebook.
    """
    return Path(f"{exercise.lesson}.ipynb")


def _is_allowed() -> bool:
    """Return whether the caller is a learner's own notebook, rather than a grader or a check."""
    if running_notebook() is None or "NBGRADER_EXECUTION" in os.environ:
        return False
    return not _in_a_check()


def _in_a_check() -> bool:
    return any(frame.f_globals.get("__name__") == PROBE for frame in _callers())


def _callers() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _checked(exercise: Exercise, file: Path) -> Callable | None:
    """Return the answer in the notebook if there is one and it passes its check, else None. If an answer
    cannot be used, a printed sentence says why.
    """
    try:
        source = _source(exercise, file)
    except UserError as error:
        _say(exercise, str(error))
        return None
    if source is None:
        return None
    answer, failed = guarded(lambda: _run(source, exercise.name, file), SECONDS)
    if failed is not None or not callable(answer):
        _say(exercise, f"it does not run there ({failed['type'] if failed else 'it is not a function'})")
        return None
    cases = cases_of(exercise)
    if not judge(exercise, cases, probe(answer, cases, exercise.procedure)).passed:
        _say(exercise, "it does not pass its check yet")
        return None
    return answer


def _source(exercise: Exercise, file: Path) -> str | None:
    """Return the source of the answer in the notebook, with everything that it uses; None if no answer is
    written. Raises UserError if the notebook or the answer's cell cannot be read.
    """
    cells = [cell for cell in code_cells(file) if not cell.is_stub]
    last = max((place for place, cell in enumerate(cells) if is_answer(cell, exercise)), default=None)
    if last is None:
        return None
    try:
        ast.parse(cells[last].text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise UserError(f"its cell cannot be read as Python ({line})") from None
    return needed(exercise.name, [cell.text for cell in cells[: last + 1]])


def _say(exercise: Exercise, why: str) -> None:
    print(
        f"Your {exercise.name} {_of(exercise)} is not used: {why.rstrip('.')}. A ready-made one is used "
        "instead."
    )


def _of(exercise: Exercise) -> str:
    return f"of lesson {format_lesson(exercise.lesson)}"


def _run(source: str, name: str, file: Path) -> Any:
    names: dict[str, Any] = {"__name__": "mine"}
    exec(compile(source, f"<{name} in {file.name}>", "exec"), names)
    return names.get(name)


def needed(name: str, cells: list[str]) -> str:
    """Return the source of those statements in `cells` (texts) that define `name` or something that it needs,
    in their order.

    Cells that are not Python, such as those with IPython's commands, are left out. If a name is defined
    twice, both definitions are kept, because one may need the other.
    """
    statements = [node for cell in cells for node in _statements(cell)]
    return "\n".join(map(ast.unparse, needed_statements(name, statements)))


def needed_statements(name: str, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return those of `statements` that define `name` or something that it needs, in their order. Return an
    empty list if no statement defines `name`.
    """
    wanted, kept = {name}, set[int]()
    grown = True
    while grown:
        found = {place for place, node in enumerate(statements) if _defined(node) & wanted}
        grown = bool(found - kept)
        kept |= found
        wanted |= {used for place in found for used in _used(statements[place])}
    return [statements[place] for place in sorted(kept)]


def _statements(cell: str) -> list[ast.stmt]:
    try:
        return [node for node in ast.parse(cell).body if isinstance(node, CARRIED)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _used(node: ast.stmt) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
