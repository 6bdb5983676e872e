"""What is done to a submission after it ran: scores are saved, and the grader sees the marking schemes."""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades

from autograder.build.execute import WIDGET
from autograder.build.marks import MARK_SCHEME, MarkError, find_regions

PLAIN_FLOAT = re.compile(r"\d+(\.\d+)?")
SCHEME_TAG = "marking-scheme"


class SaveVerdicts(SaveAutoGrades):
    """As nbgrader's, but a check earns points only by saying so with a plain float.

    subtle: nbgrader gives full marks where nothing, text, nan or a negative number comes out, and none where
    a warning is printed.
    """

    def _add_score(self, cell, resources):
        super()._add_score(cell, resources)
        if cell.cell_type != "code" or cell.metadata.nbgrader.solution:
            return
        name = cell.metadata.nbgrader.grade_id
        points = verdict(cell.outputs, float(cell.metadata.nbgrader.points))
        if points is None:
            self.log.warning("%s: %s gave no verdict, which counts as 0 points", self.student_id, name)
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        grade.auto_score = points or 0.0
        self.gradebook.db.commit()


def verdict(outputs: list, most: float) -> float | None:
    """The points that a check cell's outputs state, None where they state none. An error is 0 points."""
    if any(output.output_type == "error" for output in outputs):
        return 0.0
    results = [
        output.data.get("text/plain", "") for output in outputs if output.output_type == "execute_result"
    ]
    if not results or not all(PLAIN_FLOAT.fullmatch(text) for text in results):
        return None
    points = [float(text) for text in results]
    return min(points) if max(points) <= most else None


class DropLiveWidgets(NbGraderPreprocessor):
    """A widget is dead in a stored page and would hide the picture beside it."""

    def preprocess_cell(self, cell, resources, index):
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
        return cell, resources


class ShowMarkScheme(NbGraderPreprocessor):
    """Puts the marking scheme of a written question below the answer, for the formgrader."""

    def preprocess(self, nb, resources):
        schemes = _mark_schemes(resources["nbgrader"])
        for number in reversed(range(len(nb.cells))):
            metadata = nb.cells[number].metadata.get("nbgrader", {})
            if metadata.get("grade_id") in schemes:
                text = "**Marking scheme** (students do not see this)\n\n" + schemes[metadata.grade_id]
                nb.cells.insert(number + 1, new_markdown_cell(text, metadata={"tags": [SCHEME_TAG]}))
        return nb, resources


def _mark_schemes(place: dict) -> dict[str, str]:
    """The marking schemes of the lesson by grade id. nbgrader's converters run in the course's folder."""
    path = Path("source", place["assignment"], f"{place['notebook']}.ipynb")
    schemes = {}
    try:
        cells = nbformat.read(path, as_version=4).cells
        for cell in cells:
            regions = find_regions(cell.source) if cell.cell_type == "markdown" else []
            lines = [line for region in regions if region.kind == MARK_SCHEME for line in region.lines]
            if lines:
                schemes[cell.metadata.nbgrader.grade_id] = "\n".join(lines).strip()
    except (OSError, ValueError, MarkError):
        return {}
    return schemes
