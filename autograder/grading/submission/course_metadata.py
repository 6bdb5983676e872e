"""Replaces the metadata of a submitted notebook with the course's metadata.

A student therefore cannot skip a check with a tag, unlock it with a flag, or change its points.
"""

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Notebook

from autograder.grading.submission.read_submission import grade_id_of

PLACE_OF_ANSWER = "YOUR ANSWER HERE"  # nbgrader's
NOT_THERE = "*(The cell of this question was not found in the notebook. The answer may be in another cell.)*"


def with_course_metadata(nb: NotebookNode, course_cells: dict[str, NotebookNode]) -> NotebookNode:
    """Return the notebook with the student's cells and the course's metadata. It contains each graded cell
    once, and each check below the answer that it checks.

    A cell of the course that is not an answer gets the course's text, which undoes edits to checks.
    """
    nb.metadata = NotebookNode()
    _name_again(nb, course_cells)
    last = {grade_id_of(cell): number for number, cell in enumerate(nb.cells)}
    for number, cell in enumerate(nb.cells):
        name = grade_id_of(cell)
        course_cell = course_cells.get(name) if name and last[name] == number else None
        cell.metadata = from_dict(course_cell.metadata) if course_cell else NotebookNode()
        if course_cell:
            _restore(cell, course_cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    for name, course_cell in course_cells.items():
        if course_cell.metadata.nbgrader.grade or course_cell.metadata.nbgrader.task:
            _put_in_place(nb, name, course_cell)
    return nb


def _name_again(nb: NotebookNode, course_cells: dict[str, NotebookNode]) -> None:
    """Restore the grade ids of cells if an editor has dropped their metadata. A cell is recognised by its id,
    which is its grade id in our notebooks, or by the text that was handed out.
    """
    missing = course_cells.keys() - {grade_id_of(cell) for cell in nb.cells}
    for cell in nb.cells if missing else ():
        if grade_id_of(cell) is not None:
            continue
        given = cell.metadata.get("given_id")
        name = (
            given if given in missing else next((n for n in missing if _is_of(cell, course_cells[n])), None)
        )
        if name is not None:
            cell.metadata = from_dict({"nbgrader": {"grade_id": name}})
            missing.discard(name)


def _is_of(cell: NotebookNode, course_cell: NotebookNode) -> bool:
    """Return whether `cell` is a copy of `course_cell`, or a written answer that begins with the question in
    `course_cell`.
    """
    if cell.cell_type != course_cell.cell_type:
        return False
    begins = course_cell.source.partition(PLACE_OF_ANSWER)[0].strip()
    is_written = course_cell.metadata.nbgrader.solution and course_cell.cell_type == "markdown" and begins
    return cell.source.strip().startswith(begins) if is_written else cell.source == course_cell.source


def _restore(cell: NotebookNode, course_cell: NotebookNode) -> None:
    """Restore the type of a cell and, unless it is an answer, its text to what the course handed out."""
    if cell.cell_type != course_cell.cell_type:
        cell.cell_type = course_cell.cell_type
        for name in ("outputs", "execution_count", "attachments"):
            cell.pop(name, None)
    if not course_cell.metadata.nbgrader.solution:
        cell.source = course_cell.source


def _put_in_place(nb: NotebookNode, name: str, course_cell: NotebookNode) -> None:
    """Move a graded cell below the answer that it checks, or put it back if it is missing."""
    names = [grade_id_of(cell) for cell in nb.cells]
    answer = name.removeprefix("check-")
    if name in names and (answer not in names or names.index(name) >= names.index(answer)):
        return
    cell = nb.cells.pop(names.index(name)) if name in names else _put_back(course_cell)
    names = [grade_id_of(other) for other in nb.cells]
    nb.cells.insert(names.index(answer) + 1 if answer in names else len(nb.cells), cell)


def _put_back(course_cell: NotebookNode) -> NotebookNode:
    """Return a copy of a missing cell. If it is a written question, its text says that it was missing, so
    that a teacher looks for the answer.
    """
    cell = from_dict(course_cell)
    if cell.metadata.nbgrader.solution:
        cell.source = cell.source.replace(PLACE_OF_ANSWER, "") + f"\n{NOT_THERE}"
    return cell


def cells_of_course(notebook: Notebook) -> dict[str, NotebookNode]:
    """Return the cells of nbgrader's `notebook` by grade id, as the gradebook stores them."""
    tasks = {cell.name: cell.max_score for cell in notebook.task_cells}
    graded = {cell.name: cell.max_score for cell in notebook.grade_cells}
    points = tasks | graded
    solutions = {cell.name for cell in notebook.solution_cells}
    cells = {}
    for source in notebook.source_cells:
        make = new_code_cell if source.cell_type == "code" else new_markdown_cell
        metadata = {
            "schema_version": 3,
            "grade_id": source.name,
            "task": source.name in tasks,
            "cell_type": source.cell_type,
            "checksum": source.checksum,
            "locked": source.locked,
            "grade": source.name in graded,
            "solution": source.name in solutions,
        }
        if source.name in points:
            metadata["points"] = points[source.name]
        cells[source.name] = make(source.source, metadata={"nbgrader": metadata})
    return cells
