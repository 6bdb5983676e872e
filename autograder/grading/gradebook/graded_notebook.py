"""Fills in a graded notebook: the outputs, the verdicts, the scores, and the marking schemes for graders."""

import re
from dataclasses import replace
from logging import Logger

import nbformat
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader import utils
from nbgrader.api import SubmittedNotebook

from autograder.build.minutes import HEADING, title_of_exercise, title_of_question, with_points
from autograder.grading.judging.results import Result
from autograder.grading.submission.unit import exercise_of
from autograder.marks import MARK_SCHEME, MarkError, find_regions
from autograder.printable import printable
from autograder.verdict import Aspect, Verdict

PLAIN_FLOAT = re.compile(r"\d+(\.\d+)?")
SCHEME_TAG, OWN_TAG = "marking-scheme", "not-in-the-lesson"
NO_VERDICT = "There is no verdict, which counts as 0 points"


def fill_in(nb: NotebookNode, result: Result, key: str) -> dict[str, float]:
    """Put the outputs, the verdicts and the result's key into the notebook. Return a dict from the checks'
    grade ids to their points.
    """
    from autograder.notebook.card import html_of, text_of

    nb.metadata["autograder"] = {"result": key}
    points = {}
    for number, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            continue
        cell.outputs = [nbformat.from_dict(output) for output in result.outputs.get(number, [])]
        exercise = exercise_of(cell)
        if exercise in result.verdicts:
            verdict = worth(result.verdicts[exercise], cell.metadata.nbgrader.points)
            card = {"text/html": html_of(verdict), "text/plain": text_of(verdict)}
            cell.outputs = [new_output("display_data", data=card)]
            points[cell.metadata.nbgrader.grade_id] = round(verdict.points, 4)
        elif exercise is not None or (utils.is_grade(cell) and number not in result.outputs):
            why = f"{NO_VERDICT}: {result.problem or 'the check was not reached'}."
            cell.outputs = [new_output("error", ename="NoVerdict", evalue=why, traceback=[why])]
    return points


def worth(verdict: Verdict, points: float) -> Verdict:
    """Return the verdict scaled to the points that the course gives for the exercise."""
    if points == verdict.max_points:
        return verdict
    share = points / verdict.max_points
    aspects = (Aspect(one.name, share * one.points, share * one.max_points) for one in verdict.aspects)
    return replace(verdict, aspects=tuple(aspects))


def write_scores(row: SubmittedNotebook, nb: NotebookNode, points: dict[str, float], log: Logger) -> None:
    """Write the scores and automatic comments of a graded notebook to its row in the gradebook.

    A check earns the points that the judge gave, or 0 if there is no verdict. A test that a teacher added
    earns all points if it runs to its end and shows nothing. If it shows a plain float, it earns that number
    of points. In both cases the student's own process reports the result, and it can report anything (see
    GRADING.md). A test that stops with an error earns 0 points. One that shows something else must be graded
    by hand, like a task.

    subtle: by itself, nbgrader gives full marks to a test that shows text, nan or a negative number, and no
    marks to a test that prints a warning.
    """
    grades = {grade.name: grade for grade in row.grades}
    comments = {comment.name: comment for comment in row.comments}
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if utils.is_grade(cell) or utils.is_task(cell):
            grade = grades[name]
            grade.auto_score = None if utils.is_task(cell) else _score(cell, points)
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
            if cell.cell_type == "code" and not utils.is_solution(cell) and name not in points:
                log.info(
                    "%s: the test %s states %s points", printable(row.student.id), name, grade.auto_score
                )
        if utils.is_solution(cell) or utils.is_task(cell):
            untouched = cell.metadata.nbgrader.get("checksum") == utils.compute_checksum(cell)
            comments[name].auto_comment = "No response." if untouched and not utils.is_task(cell) else None


def _score(cell: NotebookNode, points: dict[str, float]) -> float | None:
    """Return the points of a graded cell, or None if it must be graded by hand."""
    if utils.is_solution(cell) or cell.cell_type != "code":
        return utils.determine_grade(cell)[0]
    if exercise_of(cell) is not None:
        return points.get(cell.metadata.nbgrader.grade_id, 0.0)
    return stated_points(cell.outputs, float(cell.metadata.nbgrader.points))


def stated_points(outputs: list[NotebookNode], most: float) -> float | None:
    """Return the points that a test's outputs state (the fewest if they state several), or `most` if the test
    shows nothing, like a test made of assertions. Return 0 if it stops with an error, and None if its output
    is not a valid number of points.
    """
    if any(output.output_type == "error" for output in outputs):
        return 0.0
    shown = [
        output.data.get("text/plain", "") for output in outputs if output.output_type == "execute_result"
    ]
    if not all(PLAIN_FLOAT.fullmatch(text) for text in shown):
        return None
    points = min(map(float, shown), default=most)
    return points if points <= most else None


def show_mark_schemes(nb: NotebookNode, lesson: NotebookNode) -> None:
    """Insert the lesson's marking schemes into a graded notebook.

    Formgrader draws them in a separate box, and marks every cell that is not in the lesson as the student's
    own cell (pages/templates/formgrade). Text that a student wrote therefore cannot pass for a marking
    scheme.
    """
    lesson = from_dict(lesson)
    for one in (nb, lesson):
        put_points_into_table(one)
    schemes, known = _mark_schemes(lesson), [_content(cell) for cell in lesson.cells]
    for number in reversed(range(len(nb.cells))):
        cell = nb.cells[number]
        metadata = cell.metadata.get("nbgrader", {})
        cell.metadata.pop("tags", None)
        if not metadata and _content(cell) not in known:
            cell.metadata["tags"] = [OWN_TAG]
        if metadata.get("grade_id") in schemes:
            text = "**Marking scheme** (students do not see this)\n\n" + schemes[metadata.grade_id]
            nb.cells.insert(number + 1, new_markdown_cell(text, metadata={"tags": [SCHEME_TAG]}))


def put_points_into_table(nb: NotebookNode) -> None:
    """Copy the points of the graded cells, which an instructor may have changed, into the lesson's table of
    exercises.
    """
    points = {}
    for cell in nb.cells:
        worth, exercise = cell.metadata.get("nbgrader", {}).get("points"), exercise_of(cell)
        if exercise is not None:
            points[title_of_exercise(exercise)] = worth
        elif cell.cell_type == "markdown" and worth is not None and HEADING.search(cell.source):
            points[title_of_question(cell.source)] = worth
    for cell in nb.cells:
        if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata:
            cell.source = with_points(cell.source, points)


def _content(cell: NotebookNode) -> tuple:
    """Return everything that a cell shows, including its pictures, because a student could replace them."""
    return cell.cell_type, cell.source, cell.get("attachments", {})


def _mark_schemes(lesson: NotebookNode) -> dict[str, str]:
    """Return the marking schemes of a lesson by grade id."""
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
