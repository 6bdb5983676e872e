"""Finds the lesson of a notebook by what is in it; only if nothing is, by the name of its file."""

import re
from collections import Counter
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.exercises import exercises_of
from autograder.grading.submission.files import Refused
from autograder.grading.submission.limited import read_limited
from autograder.grading.submission.read_submission import grade_id_of, read_notebook


class Lessons:
    """The lessons of a course: the names of their cells and of their exercises."""

    def __init__(self, gradebook: Gradebook, names: list[str]):
        self._cells = {
            name: {cell.name for cell in gradebook.find_notebook(name, name).source_cells} for name in names
        }
        self._defines = {
            name: re.compile(rf"^\s*(?:def|class)\s+({'|'.join(one.name for one in asked)})\b", re.MULTILINE)
            for name in names
            if (asked := exercises_of(name))
        }

    def lesson_of(self, file: Path, called: str) -> str | None:
        """The lesson of the notebook in `file`, which was called so where it comes from."""
        try:
            cells = read_limited(read_notebook, file)["cells"]
        except Refused:
            cells = []
        votes: Counter[str] = Counter()
        for lesson, known in self._cells.items():
            names = {grade_id_of(cell) or cell["metadata"].get("given_id") for cell in cells}
            votes[lesson] = len(names & known)
        if not any(votes.values()):
            text = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
            votes.update({lesson: len(set(names.findall(text))) for lesson, names in self._defines.items()})
        if not any(votes.values()):
            votes.update({lesson: lesson in called for lesson in self._cells})
        (best, count), *others = votes.most_common()
        return best if count and not (others and others[0][1] == count) else None
