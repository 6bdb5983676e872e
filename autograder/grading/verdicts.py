"""nbgrader's autograde with our own run in it: where stock nbgrader executes a submission and reads scores from
its outputs, here it is run in a sandbox and judged from outside."""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

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
        folder = Path.cwd()  # nbgrader's converters run in the course's folder
        unit, secret = unit_of(nb, _lesson(resources)), read_secret(folder)
        key = unit.key(secret)
        result = results.load(folder, key)
        if result is None:
            result = _run_here(unit, secret, folder)
            results.save(folder, key, result)
        resources["points"] = fill_in(nb, result, key)
        return nb, resources


def read_secret(folder: Path) -> str:
    """What the course's hidden cases are drawn from."""
    return (folder / ".secret").read_text(encoding="ascii").strip()


def fill_in(nb, result: results.Result, key: str) -> dict[str, float]:
    """Puts outputs and the judge's words into the notebook, and the result's key into its metadata; the points by
    the names of the check cells."""
    from autograder.judge.verdict import verdict_from

    nb.metadata["autograder"] = {"result": key}
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


class SaveVerdicts(NbGraderPreprocessor):
    """Saves the scores, in the place of nbgrader's SaveAutoGrades."""

    def preprocess(self, nb, resources):
        place = resources["nbgrader"]
        with Gradebook(place["db_url"]) as gradebook:
            row = gradebook.find_submission_notebook(place["notebook"], place["assignment"], place["student"])
            write_scores(row, nb, resources.get("points", {}), self.log)
            gradebook.db.commit()
        return nb, resources


def write_scores(row, nb, points: dict[str, float], log) -> None:
    """Scores and automatic comments of a graded notebook into its row of the gradebook.

    A check earns the points that the judge gave, and without a verdict none. A test that a teacher added earns what
    it states with a plain float. subtle: nbgrader gives full marks where nothing, text, nan or a negative number
    comes out, and none where a warning is printed.
    """
    grades = {grade.name: grade for grade in row.grades}
    comments = {comment.name: comment for comment in row.comments}
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if utils.is_grade(cell):
            grade = grades[name]
            grade.auto_score = _score(cell, points)
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            if cell.cell_type == "code" and name not in points:
                log.warning("%s: %s gave no verdict, which counts as 0 points", row.student.id, name)
        if utils.is_solution(cell) or utils.is_task(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            comments[name].auto_comment = "No response." if untouched and not utils.is_task(cell) else None


def _score(cell, points: dict[str, float]) -> float | None:
    """None where a person has to grade."""
    if utils.is_solution(cell) or cell.cell_type != "code":
        return utils.determine_grade(cell)[0]
    if exercise_of(cell) is not None:
        return points.get(cell.metadata.nbgrader.grade_id, 0.0)
    return verdict(cell.outputs, float(cell.metadata.nbgrader.points)) or 0.0


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
        show_mark_schemes(nb, _lesson(resources))
        return nb, resources


def show_mark_schemes(nb, lesson) -> None:
    """Inserts the lesson's marking schemes into a graded notebook."""
    schemes = _mark_schemes(lesson)
    for number in reversed(range(len(nb.cells))):
        metadata = nb.cells[number].metadata.get("nbgrader", {})
        if metadata.get("grade_id") in schemes:
            text = "**Marking scheme** (students do not see this)\n\n" + schemes[metadata.grade_id]
            nb.cells.insert(number + 1, new_markdown_cell(text, metadata={"tags": [SCHEME_TAG]}))


def _lesson(resources: dict):
    """The source notebook of the lesson."""
    place = resources["nbgrader"]
    return nbformat.read(Path("source", place["assignment"], f"{place['notebook']}.ipynb"), as_version=4)


def _mark_schemes(lesson) -> dict[str, str]:
    """The marking schemes of a lesson by grade id."""
    schemes = {}
    for cell in lesson.cells:
        try:
            regions = find_regions(cell.source) if cell.cell_type == "markdown" else []
        except MarkError:
            continue
        lines = [line for region in regions if region.kind == MARK_SCHEME for line in region.lines]
        if lines:
            schemes[cell.metadata.nbgrader.grade_id] = "\n".join(lines).strip()
    return schemes
