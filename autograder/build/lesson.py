"""The files of a lesson, and the kind of each cell of its source.

A cell's title says what the cell is (see CONTRIBUTING.md):

    exercise: ID                             the answer cell of an exercise
    written: ID (N points, N minutes)        a written question, graded by hand
    timing: NAME                             runs live; the stored output is images/NAME.png
    explore                                  an explorer; the stored output is its static picture
    (no title)                               an ordinary cell

The answer cell of an exercise is followed by its check, which is graded automatically. The check is not
written by hand but generated here, as is the table of exercises in the first cell.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.build.minutes import with_exercises
from autograder.errors import UserError
from autograder.marks import MARK_SCHEME, SOLUTION, SourceError, find_regions

# An installed package contains the lessons' sources and pictures (setup.py); otherwise this is a clone.
INSTALLED = Path(__file__).resolve().parents[1] / "lessons"
ROOT = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2]
SPENT = r"(?: \((?P<points>\d+) points?, (?P<minutes>\d+) minutes?\))?"
TITLE = re.compile(r"(?P<kind>exercise|written|timing): (?P<name>\S+)" + SPENT)
EXERCISE_ID = re.compile(r"[a-z][a-z0-9_]*\.[A-Za-z][A-Za-z0-9_]*")
# The regions that a cell of each kind has; cells of other kinds have none.
REGIONS = {"exercise": {SOLUTION}, "written": {SOLUTION, MARK_SCHEME}}
KINDS = ("exercise: ID", "written: ID (N points, N minutes)", "timing: NAME", "explore", "no title at all")


@dataclass(frozen=True)
class Lesson:
    """The files of one lesson."""

    name: str
    root: Path = ROOT

    @property
    def source(self) -> Path:
        return self.root / "solutions" / f"{self.name}.py"

    @property
    def executed(self) -> Path:
        return self.root / "solutions" / f"{self.name}.ipynb"

    @property
    def student(self) -> Path:
        return self.root / "notebooks" / f"{self.name}.ipynb"

    @property
    def images(self) -> Path:
        return self.root / "images"


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson's source. `name` is an exercise id, a question's id, or a picture's name."""

    kind: str  # "exercise", "check", "written", "timing", "explore" or "plain"
    is_code: bool
    text: str
    id: str
    name: str = ""
    points: int = 0
    minutes: int = 0
    attachments: dict = field(default_factory=dict)


def lesson_names(root: Path = ROOT) -> list[str]:
    """Return the names of all lessons with a source, in order. Raises UserError if there are none."""
    names = sorted(path.stem for path in (root / "solutions").glob("[0-9][0-9]_*.py"))
    if not names:
        raise UserError(f"there are no lessons in {root / 'solutions'}; run this from a clone of the course.")
    return names


def find_lessons(names: list[str] | None, root: Path = ROOT) -> list[Lesson]:
    """Return the lessons that `names` lists, or all lessons if `names` is None. Raises UserError for an
    unknown name.
    """
    known = lesson_names(root)
    for name in names or []:
        if name not in known:
            raise UserError(f"there is no lesson {name!r}; the lessons are {', '.join(known)}.")
    return [Lesson(name, root) for name in known if names is None or name in names]


def read_cells(lesson: Lesson) -> list[Cell]:
    """Return the cells of the lesson's source, each with its kind, together with the generated checks. The
    first cell says how many minutes the lesson takes, and lists its exercises. Raises UserError if the source
    cannot be read, or if a title or a BEGIN or END mark is wrong; in the latter case, the error names the
    lesson and the cell.
    """
    import jupytext

    try:
        notebook = jupytext.read(lesson.source, fmt="py:percent")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{lesson.source} cannot be read: {error}.") from None
    cells: list[Cell] = []
    for number, raw in enumerate(notebook.cells, start=1):
        title = raw.metadata.get("title", "").strip()
        with naming(lesson, f"cell {number}" + (f" ({title})" if title else "")):
            cell = _read_cell(lesson, raw, title, number=len(cells) + 1)
            if cell.kind != "timing" and any(cell.id == other.id for other in cells):
                raise SourceError("this title is in the lesson twice")
        cells += [cell, _check_of(cell)] if cell.kind == "exercise" else [cell]
    if cells and not cells[0].is_code:
        cells[0] = replace(cells[0], text=with_exercises(cells[0].text, cells))
    return cells


def complain(lesson: Lesson, cell: str, problem: str) -> UserError:
    """Return an error about a cell of a lesson's source, in the form that all such errors share."""
    return UserError(f"lesson {lesson.name}, {cell}: {problem}.")


@contextmanager
def naming(lesson: Lesson, cell: str) -> Iterator[None]:
    """Turn a SourceError raised in the block into a UserError that names the lesson and the cell."""
    try:
        yield
    except SourceError as error:
        raise complain(lesson, cell, str(error)) from None


def _read_cell(lesson: Lesson, raw, title: str, number: int) -> Cell:
    is_code = raw.cell_type == "code"
    if raw.cell_type == "raw":
        raise SourceError("raw cells are not used; make it a markdown cell")
    kind, name, points, minutes = _read_title(lesson, title, is_code)
    _check_marks(kind, raw.source)
    if kind == "exercise":
        points, minutes = _points_and_minutes(lesson, name)
    cell_id = _grade_id(kind, name) or f"{lesson.name[:2]}-{number:03d}"
    return Cell(kind, is_code, raw.source, cell_id, name, points, minutes)


def _check_of(answer: Cell) -> Cell:
    """Return the check cell for an exercise's answer cell."""
    text = check_text(answer.name.partition(".")[2])
    return Cell("check", True, text, _grade_id("check", answer.name), answer.name, answer.points)


def _read_title(lesson: Lesson, title: str, is_code: bool) -> tuple[str, str, int, int]:
    if title in ("", "explore"):
        return title or "plain", "", 0, 0
    if title.startswith("check:"):
        raise SourceError("the build adds the checks itself; remove this cell")
    match = TITLE.fullmatch(title)
    if match is None:
        raise SourceError(f"this title is not known; a title is one of: {', '.join(KINDS)}")
    kind, name = match["kind"], match["name"]
    points, minutes = int(match["points"] or 0), int(match["minutes"] or 0)
    if is_code != (kind != "written"):
        raise SourceError("a written question must be a markdown cell, and any other titled cell a code cell")
    if kind == "timing":
        if not (lesson.images / f"{name}.png").is_file():
            raise SourceError(f"there is no picture images/{name}.png to show")
    elif not EXERCISE_ID.fullmatch(name):
        raise SourceError(f"{name!r} is not an id; ids look like loops.softmax")
    if (points > 0) != (kind == "written"):
        raise SourceError("a written question must have points and minutes in the title; no other cell may")
    return kind, name, points, minutes


def _check_marks(kind: str, text: str) -> None:
    found, wanted = {region.kind for region in find_regions(text)}, REGIONS.get(kind, set())
    for missing in sorted(wanted - found):
        raise SourceError(f"the marks ### BEGIN {missing} and ### END {missing} are missing")
    for stray in sorted(found - wanted):
        raise SourceError(f"a {stray} region does not belong in this kind of cell")


def _points_and_minutes(lesson: Lesson, exercise_id: str) -> tuple[int, int]:
    """Return the points and minutes of an exercise of this lesson. Raises SourceError if the lesson has no
    such exercise.
    """
    from autograder.exercises import find

    try:
        exercise = find(exercise_id)
    except UserError as error:
        raise SourceError(str(error).rstrip(".")) from None
    if exercise.lesson != lesson.name:
        raise SourceError(f"the exercise {exercise_id} belongs to lesson {exercise.lesson}")
    return int(exercise.points), exercise.minutes


def check_text(name: str) -> str:
    """Return the text of the check cell for the function or class called `name`."""
    return "\n".join(
        [f"check({name})", "### BEGIN HIDDEN TESTS", f"check({name}, hidden=True)", "### END HIDDEN TESTS"]
    )


def check_complete(lesson: Lesson, cells: list[Cell]) -> None:
    """Raise UserError if an exercise of the lesson has no cell."""
    from autograder.exercises import exercises_of

    there = {cell.name for cell in cells if cell.kind == "exercise"}
    for exercise in exercises_of(lesson.name):
        if exercise.id not in there:
            raise UserError(f'lesson {lesson.name} has no cell with the title "exercise: {exercise.id}".')


def _grade_id(kind: str, name: str) -> str:
    """Return nbgrader's name for the cell; empty for cells that nbgrader does not know."""
    plain = name.replace(".", "-")
    return {"exercise": plain, "written": plain, "check": f"check-{plain}"}.get(kind, "")
