"""Gives a notebook that was read its metadata from the course, none from the student.

So no tag skips a check, no flag unlocks one, and no points change.
"""

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Notebook

from autograder.grading.submission.read_submission import grade_id_of


def with_course_metadata(nb: NotebookNode, course_cells: dict[str, NotebookNode]) -> NotebookNode:
    """The student's cells with the course's metadata, each graded cell once, after the answer that it checks.

    A cell that is not an answer gets the course's text: an edited check is as it was handed out.
    """
    nb.metadata = NotebookNode()
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
        if course_cell.metadata.nbgrader.grade:
            _put_in_place(nb, name, course_cell)
    return nb


def _restore(cell: NotebookNode, course_cell: NotebookNode) -> None:
    """Sets the kind and, unless it is an answer, the text as the course handed them out."""
    if cell.cell_type != course_cell.cell_type:
        cell.cell_type = course_cell.cell_type
        for name in ("outputs", "execution_count", "attachments"):
            cell.pop(name, None)
    if not course_cell.metadata.nbgrader.solution:
        cell.source = course_cell.source


def _put_in_place(nb: NotebookNode, name: str, course_cell: NotebookNode) -> None:
    """Moves a graded cell behind the answer that it checks, or puts it back if it is missing."""
    names = [grade_id_of(cell) for cell in nb.cells]
    answer = name.removeprefix("check-")
    if name in names and (answer not in names or names.index(name) >= names.index(answer)):
        return
    cell = nb.cells.pop(names.index(name)) if name in names else from_dict(course_cell)
    names = [grade_id_of(other) for other in nb.cells]
    nb.cells.insert(names.index(answer) + 1 if answer in names else len(nb.cells), cell)


def cells_of_course(notebook: Notebook) -> dict[str, NotebookNode]:
    """The cells of nbgrader's `notebook` by grade id, as the gradebook has them."""
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    cells = {}
    for source in notebook.source_cells:
        make = new_code_cell if source.cell_type == "code" else new_markdown_cell
        metadata = {
            "schema_version": 3,
            "grade_id": source.name,
            "task": False,
            "cell_type": source.cell_type,
            "checksum": source.checksum,
            "locked": source.locked,
            "grade": source.name in points,
            "solution": source.name in solutions,
        }
        if source.name in points:
            metadata["points"] = points[source.name]
        cells[source.name] = make(source.source, metadata={"nbgrader": metadata})
    return cells
