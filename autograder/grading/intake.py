"""What is done to a submission before it runs: its metadata becomes the course's own."""

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor


class TrustTheCourse(NbGraderPreprocessor):
    """Takes all metadata from the gradebook and none from the student, so that no tag skips a check, no flag
    unlocks one and no points change. Graded cells that are missing are put back; the scores of an earlier run
    are reset, so that a run that fails leaves none of them standing.
    """

    def preprocess(self, nb, resources):
        place = resources["nbgrader"]
        with Gradebook(place["db_url"]) as gradebook:
            course_cells = cells_of_course(gradebook.find_notebook(place["notebook"], place["assignment"]))
            submission = gradebook.find_submission_notebook(
                place["notebook"], place["assignment"], place["student"]
            )
            for grade in submission.grades:
                grade.auto_score = None
            gradebook.db.commit()
        nb.metadata = NotebookNode()
        for cell in nb.cells:
            course_cell = course_cells.get(_grade_id(cell))
            cell.metadata = from_dict(course_cell.metadata) if course_cell else NotebookNode()
        put_back(nb, course_cells)
        return nb, resources


def cells_of_course(notebook) -> dict[str, NotebookNode]:
    """The cells that nbgrader knows, by grade id, as the gradebook has them."""
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


def put_back(nb, course_cells: dict[str, NotebookNode]) -> None:
    """Puts every graded cell that is missing after the answer that it checks, or else at the end.

    subtle: nbgrader's own add_missing_cells fails where the cell before the missing one is missing too.
    """
    there = {_grade_id(cell) for cell in nb.cells}
    for name, cell in course_cells.items():
        if name in there or not cell.metadata.nbgrader.grade:
            continue
        answers = [
            number
            for number, other in enumerate(nb.cells, start=1)
            if _grade_id(other) == name.removeprefix("check-")
        ]
        nb.cells.insert(max(answers, default=len(nb.cells)), from_dict(cell))


def _grade_id(cell) -> str | None:
    metadata = cell.metadata.get("nbgrader")
    grade_id = metadata.get("grade_id") if isinstance(metadata, dict) else None
    return grade_id if isinstance(grade_id, str) else None
