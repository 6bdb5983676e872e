"""nbgrader's autograde with our own run in it: where stock nbgrader executes a submission and reads scores from
its outputs, here it is run in a sandbox and judged from outside."""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades

from autograder.build.marks import MARK_SCHEME, MarkError, find_regions
from autograder.grading import results
from autograder.grading.unit import exercise_of, unit_of

PLAIN_FLOAT = re.compile(r"\d+(\.\d+)?")
SCHEME_TAG = "marking-scheme"
NO_VERDICT = "There is no verdict, which counts as 0 points"


class RunSubmission(NbGraderPreprocessor):
    """Runs the notebook and judges it, or takes the result of an earlier run of the same. Outputs and the judge's
    words go into the notebook, points into `resources["points"]`, by the names of the cells."""

    def preprocess(self, nb, resources):
        place = resources["nbgrader"]
        folder = Path.cwd()  # nbgrader's converters run in the course's folder
        lesson = nbformat.read(_source(place), as_version=4)
        unit, secret = unit_of(nb, lesson), read_secret(folder)
        key = unit.key(secret)
        result = results.load(folder, key)
        if result is None:
            result = _run_here(unit, secret, folder)
            results.save(folder, key, result)
        resources["points"] = fill_in(nb, result)
        nb.metadata["autograder"] = {"result": key, "problem": result.problem}
        return nb, resources


def read_secret(folder: Path) -> str:
    """What the course's hidden cases are drawn from."""
    return (folder / ".secret").read_text(encoding="ascii").strip()


def fill_in(nb, result: results.Result) -> dict[str, float]:
    """Puts outputs and the judge's words into the notebook; the points by the names of the check cells."""
    from autograder.judge.verdict import verdict_from

    points = {}
    for number, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            continue
        cell.outputs = [nbformat.from_dict(output) for output in result.outputs.get(number, [])]
        exercise = exercise_of(cell)
        if exercise is None:
            continue
        if exercise in result.verdicts:
            verdict = verdict_from(result.verdicts[exercise])
            cell.outputs = [_card(verdict)]
            points[cell.metadata.nbgrader.grade_id] = verdict.points
        else:
            why = f"{NO_VERDICT}: {result.problem or 'the check was not reached'}."
            cell.outputs = [new_output("stream", name="stderr", text=why)]
    return points


def _card(verdict):
    from autograder.notebook.card import html_of, text_of

    return new_output("display_data", data={"text/html": html_of(verdict), "text/plain": text_of(verdict)})


def _run_here(unit, secret, folder) -> results.Result:
    from autograder.errors import UserError
    from autograder.grading.run import run_unit
    from autograder.grading.sandbox import why_no_sandbox
    from autograder.grading.template import shared_template

    if why := why_no_sandbox():
        raise UserError(f"students' code is not run without a sandbox: {why}")
    return run_unit(unit, secret, shared_template(), hidden=(folder,))


class SaveVerdicts(SaveAutoGrades):
    """As nbgrader's, but a check earns the points that the judge gave, and without a verdict none.

    A test that a teacher added earns what it states with a plain float. subtle: nbgrader gives full marks where
    nothing, text, nan or a negative number comes out, and none where a warning is printed.
    """

    def preprocess(self, nb, resources):
        self.points = resources.get("points", {})
        return super().preprocess(nb, resources)

    def _add_score(self, cell, resources):
        super()._add_score(cell, resources)
        if cell.cell_type != "code" or cell.metadata.nbgrader.solution:
            return
        name = cell.metadata.nbgrader.grade_id
        points = self.points.get(name)
        if exercise_of(cell) is None:
            points = verdict(cell.outputs, float(cell.metadata.nbgrader.points))
        if points is None:
            self.log.warning("%s: %s gave no verdict, which counts as 0 points", self.student_id, name)
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        grade.auto_score = points or 0.0
        self.gradebook.db.commit()


def verdict(outputs: list, most: float) -> float | None:
    """The points that a test's outputs state, None where they state none. An error is 0 points."""
    if any(output.output_type == "error" for output in outputs):
        return 0.0
    stated = [
        output.data.get("text/plain", "") for output in outputs if output.output_type == "execute_result"
    ]
    if not stated or not all(PLAIN_FLOAT.fullmatch(text) for text in stated):
        return None
    points = [float(text) for text in stated]
    return min(points) if max(points) <= most else None


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


def _source(place: dict) -> Path:
    return Path("source", place["assignment"], f"{place['notebook']}.ipynb")


def _mark_schemes(place: dict) -> dict[str, str]:
    """The marking schemes of the lesson by grade id."""
    schemes = {}
    try:
        cells = nbformat.read(_source(place), as_version=4).cells
        for cell in cells:
            regions = find_regions(cell.source) if cell.cell_type == "markdown" else []
            lines = [line for region in regions if region.kind == MARK_SCHEME for line in region.lines]
            if lines:
                schemes[cell.metadata.nbgrader.grade_id] = "\n".join(lines).strip()
    except (OSError, ValueError, MarkError):
        return {}
    return schemes
