"""Reads a learner's notebook as it was saved, and finds out which answers are written and which are still the
stub. Nothing is run.

A notebook that students get carries, in each answer cell, nbgrader's checksum of the text that was handed
out. A cell is a stub as long as its text still has that checksum; the lesson's source is not needed, so this
works for notebooks of earlier versions too.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UserError
from autograder.exercises import all_exercises, exercises_of, lessons
from autograder.notebook.memory import recall
from autograder.notebook.standing import NOT_CHECKED, Part, Standing, standing_of
from autograder.schema.exercise import Exercise
from autograder.verdict import NOT_STARTED

NO_MEMORY = "no check of this notebook is remembered yet."


@dataclass(frozen=True)
class _Cell:
    """A code cell; `name` is its nbgrader name, or its id."""

    name: str
    text: str
    is_stub: bool


def parts_of_files(files: list[str]) -> list[Part]:
    """Return a Part with the remembered verdicts for each of these files: notebooks, and Python files made by
    `lab --as-files`. A folder stands for the lessons in it. Raises UserError if a file does not belong to the
    course.

    In a notebook, an answer that is still the stub counts as not started, even if a verdict is remembered,
    because the lesson has then been begun again.
    """
    return [_part(path) for file in dict.fromkeys(files) for path in _notebooks(Path(file))]


def _notebooks(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = [file_of(lesson, path) for lesson in lessons()]
    found = [file for file in files if file is not None]
    if not found:
        raise UserError(
            f"{path} has no notebook of this course; give the path of the folder `notebooks`, or of a file in it."
        )
    return found


def file_of(lesson: str, folder: Path) -> Path | None:
    """Return the lesson's notebook in a folder, or else its Python file made by `lab --as-files`; None if
    there is neither.
    """
    files = (folder / f"{lesson}.ipynb", folder / f"{lesson}.py")
    return next((file for file in files if file.is_file()), None)


def _part(path: Path) -> Part:
    if path.suffix == ".py" and path.stem in lessons() and path.is_file():
        known = recall(path.parent)
        standings = tuple(standing_of(exercise, known) for exercise in exercises_of(path.stem))
        return Part(str(path), str(path), standings)
    cells, known = code_cells(path), recall(path.parent)
    names = {cell.name for cell in cells}
    those = {e.lesson for e in all_exercises() if _cell_name(e) in names or e.lesson == path.stem}
    if not those:
        raise UserError(f"{path} is not a notebook of this course: it has no answer to any of the exercises.")
    exercises = [exercise for exercise in all_exercises() if exercise.lesson in those]
    standings = tuple(
        standing_of(exercise, known, NOT_CHECKED)
        if any(is_answer(cell, exercise) for cell in cells)
        else Standing(exercise, NOT_STARTED, 0.0)
        for exercise in exercises
    )
    note = "" if any(exercise.id in known for exercise in exercises) else NO_MEMORY
    return Part(str(path), str(path), standings, note)


def _cell_name(exercise: Exercise) -> str:
    return exercise.id.replace(".", "-")


def is_answer(cell: _Cell, exercise: Exercise) -> bool:
    """Return whether the cell holds an answer: it is not a stub, and it is the exercise's answer cell or
    defines the exercise's name.
    """
    if cell.is_stub:
        return False
    defines = re.compile(rf"^(?:(?:def|class) +{exercise.name}\b|{exercise.name} *=[^=])", re.MULTILINE)
    return cell.name == _cell_name(exercise) or bool(defines.search(cell.text))


def code_cells(path: Path) -> list[_Cell]:
    """Return the code cells of a notebook file. Raises UserError if the file is unreadable or not a notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [_cell(cell) for cell in cells if cell["cell_type"] == "code"]
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{path} is not a notebook (nbformat 4).") from None


def _cell(cell: dict) -> _Cell:
    nbgrader = cell["metadata"].get("nbgrader", {})
    name = str(nbgrader.get("grade_id", cell.get("id", "")))
    text = "".join(cell["source"])
    # As nbgrader.utils.compute_checksum does for an answer: not a grade cell, a solution, not locked.
    hashed = f"{text}codeFalseTrueFalse{name}".encode(errors="replace")
    checksum = hashlib.md5(hashed, usedforsecurity=False).hexdigest()
    return _Cell(name, text, nbgrader.get("checksum") == checksum)
