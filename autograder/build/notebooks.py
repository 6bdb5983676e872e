"""Makes notebooks from the cells of a lesson, without running anything.

    teacher_notebook   has all BEGIN and END marks, and nbgrader's metadata; it belongs in a course's `source` folder
    student_notebook   is exactly what nbgrader makes from the teacher's notebook, but made without nbgrader
    reading_notebook   has the answers in place and no marks; when executed, it is what self-learners read

The same cells always give the same bytes.
"""

import hashlib
from collections.abc import Callable

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.build.lesson import Cell, Lesson, check_complete, naming, read_cells
from autograder.build.pictures import embed
from autograder.build.repository import repository, with_address
from autograder.marks import (
    HIDDEN_TESTS,
    MARK_SCHEME,
    SOLUTION,
    replace_marks,
    replace_regions,
    without_regions,
)

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# What nbgrader puts in place of an answer.
CODE_STUB, TEXT_STUB = "# YOUR CODE HERE\nraise NotImplementedError()", "YOUR ANSWER HERE"
HEADINGS = {MARK_SCHEME: ["", "**How it is marked**", ""]}


def teacher_notebook(lesson: Lesson) -> NotebookNode:
    """Return the lesson with answers, hidden tests and marking schemes, as an instructor's nbgrader
    source."""
    cells = read_cells(lesson)
    notebook = _notebook(lesson, cells, lambda cell: cell.text)
    for cell, made in zip(cells, notebook.cells, strict=True):
        if cell.kind in ("exercise", "check", "written"):
            made.metadata["nbgrader"] = _nbgrader_metadata(cell)
    return notebook


def student_notebook(lesson: Lesson) -> NotebookNode:
    """Return the lesson without answers, hidden tests, marking schemes or outputs."""
    notebook = teacher_notebook(lesson)
    for cell in notebook.cells:
        is_code = cell.cell_type == "code"
        cell.source = replace_regions(cell.source, {SOLUTION: CODE_STUB if is_code else TEXT_STUB})
        if "nbgrader" in cell.metadata:
            _lock(cell)
    return notebook


def _lock(cell: NotebookNode) -> None:
    """Keep the cell from being deleted and, if it is a check, also from being edited; add the checksum by
    which nbgrader detects changes.
    """
    given = cell.metadata["nbgrader"]
    cell.metadata["deletable"] = False
    if given["locked"]:
        cell.metadata["editable"] = False
    parts = [
        cell.source,
        cell.cell_type,
        given["grade"],
        given["solution"],
        given["locked"],
        given["grade_id"],
    ]
    points = [float(given["points"])] if given["grade"] else []
    checksum = hashlib.md5("".join(map(str, parts + points)).encode()).hexdigest()
    given |= {"checksum": checksum, "cell_type": cell.cell_type}


def reading_notebook(lesson: Lesson) -> NotebookNode:
    """Return the lesson for readers: answers and marking schemes in place, without BEGIN and END marks."""
    return _notebook(
        lesson,
        read_cells(lesson),
        lambda cell: replace_marks(
            without_regions(cell.text, HIDDEN_TESTS), {} if cell.is_code else HEADINGS
        ),
    )


def as_text(notebook: NotebookNode) -> str:
    """Return the notebook as the text of its file. Raises nbformat's ValidationError if it is invalid."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4) + "\n"


def _notebook(lesson: Lesson, source: list[Cell], text_of: Callable[[Cell], str]) -> NotebookNode:
    cells, address = [], repository(lesson.root)
    check_complete(lesson, source)
    for number, cell in enumerate(source, start=1):
        text = with_address(text_of(cell), address)
        if cell.is_code:
            cells.append(new_code_cell(text, id=cell.id))
            continue
        with naming(lesson, f"cell {number}"):
            text, attachments = embed(text, lesson.images)
        cells.append(new_markdown_cell(text, id=cell.id))
        if attachments:
            cells[-1]["attachments"] = attachments
    notebook = new_notebook(cells=cells, metadata=KERNEL)
    notebook.nbformat_minor = 5
    return notebook


def _nbgrader_metadata(cell: Cell) -> dict:
    metadata = {
        "schema_version": 3,
        "grade_id": cell.id,
        "task": False,
        "grade": cell.kind != "exercise",
        "solution": cell.kind != "check",
        "locked": cell.kind == "check",
    }
    return metadata | ({"points": cell.points} if metadata["grade"] else {})
