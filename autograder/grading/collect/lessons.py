"""Finds the lesson of a notebook by its contents or, if they do not show it, by the name of its file."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, Notebook

from autograder.errors import UserError
from autograder.exercises import exercises_of
from autograder.grading.submission.files import Refused
from autograder.grading.submission.limited import Broke, read_limited
from autograder.grading.submission.read_submission import grade_id_of, read_notebook


@dataclass(frozen=True)
class Content:
    """A notebook's lesson, if known, and whether the notebook is as released, with nothing answered."""

    lesson: str | None
    as_released: bool = False


class Lessons:
    """The lessons of a course: the names of their cells and of their exercises, and the released text of
    their answer cells.
    """

    def __init__(self, gradebook: Gradebook, names: list[str]):
        notebooks = {name: gradebook.find_notebook(name, name) for name in names}
        self._cells = {name: {cell.name for cell in book.source_cells} for name, book in notebooks.items()}
        self._stubs = {name: _stubs(book) for name, book in notebooks.items()}
        self._defines = {
            name: re.compile(
                rf"^[ \t]*(?:def|class)[ \t]+({'|'.join(one.name for one in asked)})\b", re.MULTILINE
            )
            for name in names
            if (asked := exercises_of(name))
        }

    def read(self, file: Path, called: str) -> Content:
        """Return the lesson of the notebook in `file`, and whether the notebook is as released. If the
        contents do not show the lesson, look for the name of a lesson in `called`, the original path of the
        file. Raises UserError if the machine is too busy to read the file.
        """
        try:
            lesson, as_released = read_limited(self._read, file)
        except (Refused, Broke):  # `grade` says why, and the other files are collected
            lesson, as_released = None, False
        except TimeoutError:
            raise UserError(
                f"this machine is too busy to read {called}. Nothing was collected; run the command again when other "
                "programs have ended."
            ) from None
        return Content(lesson or _only_most({name: int(name in called) for name in self._cells}), as_released)

    def _read(self, file: Path) -> tuple[str | None, bool]:
        cells = read_notebook(file)["cells"]
        names = {_name(cell) for cell in cells}
        votes = {lesson: len(names & known) for lesson, known in self._cells.items()}
        if not any(votes.values()):
            votes = {lesson: len(set(found)) for lesson, found in self._defined_in(cells).items()}
        lesson = _only_most(votes)
        return lesson, lesson is not None and self._is_as_released(lesson, cells)

    def _defined_in(self, cells: list[dict]) -> dict[str, list[str]]:
        text = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
        return {lesson: names.findall(text) for lesson, names in self._defines.items()}

    def _is_as_released(self, lesson: str, cells: list[dict]) -> bool:
        """Return whether nothing was answered: there are answer cells, each still has its released text, and
        no other cell defines an exercise.
        """
        stubs = self._stubs[lesson]
        others = [cell for cell in cells if _name(cell) not in stubs]
        answers = [(stubs[name], cell["source"].strip()) for cell in cells if (name := _name(cell)) in stubs]
        if not answers or any(stub != answer for stub, answer in answers):
            return False
        return not self._defined_in(others).get(lesson)


def _stubs(notebook: Notebook) -> dict[str, str]:
    """Return the released text of a lesson's answer cells, by cell name."""
    texts = {cell.name: cell.source for cell in notebook.source_cells}
    return {cell.name: texts.get(cell.name, "").strip() for cell in notebook.solution_cells}


def _name(cell: dict) -> str:
    return grade_id_of(cell) or cell["metadata"].get("given_id") or ""


def _only_most(votes: dict[str, int]) -> str | None:
    """Return the candidate with the most votes, or None if there is a tie or no candidate has a vote."""
    (best, count), *others = Counter(votes).most_common()
    return best if count and not (others and others[0][1] == count) else None
