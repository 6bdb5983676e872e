"""Makes a student's feedback page from a graded notebook.

Below each check is the judge's message, which the notebook already contains. A wrong answer also gets a
picture of the expected values next to the student's values. A module gets a picture of its computation graph
next to the graph of the reference. Findings on hidden cases are shown only as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor

from autograder.files import write_whole
from autograder.grading.gradebook.fail_closed import require_settings
from autograder.grading.gradebook.graded_notebook import OWN_TAG, SCHEME_TAG
from autograder.grading.gradebook.open_course import read_secret
from autograder.grading.gradebook.table import points_of, short_name
from autograder.grading.judging import results
from autograder.grading.pages import missing
from autograder.grading.submission.files import SUBMISSION_SECRET, TIMESTAMP
from autograder.grading.submission.limited import Broke, OverLimit, limited
from autograder.grading.submission.unit import exercise_of
from autograder.untrusted import checked
from autograder.verdict import Picture

if TYPE_CHECKING:
    from autograder.graph.drawing import Drawing

KEY = re.compile(r"[0-9a-f]{64}")
SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
FETCHED_FONT = re.compile(r"@font-face\s*\{[^}]*\}")
NOTHING_LIVE = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'\">"
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
)
# The resolution of pictures, and the smallest scale to which a wide picture shrinks; a wider one can be scrolled.
PAGE_DPI, SMALLEST = 76, 0.8
PAGE_WIDTH = 840  # pixels: enough for three matrices of five columns, or of six if they shrink
NOT_RUN = "Cells of the lesson that no answer needs were not run."
SECONDS, MEMORY = 10, 1024**3  # limits for one picture, which takes a tenth of a second and a few megabytes
TOO_LARGE = "<p>A picture is left out here: it is too large to be drawn.</p>"
LEFT_OUT = "<p>A picture is left out here: it could not be drawn, through no fault of yours.</p>"
TEMPLATES = Path(__file__).parent / "templates"
STYLES = (TEMPLATES / "student_page/page.css", TEMPLATES / "formgrade/room.css")


class GradesSoFar(GetGrades):
    """Adds nbgrader's grades to the page. An answer that must still be graded by hand does not count as 0,
    and its points are left out of the possible total.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb, resources = super().preprocess(nb, resources)
        waiting = [cell.metadata.nbgrader.points for cell in nb.cells if waits(cell)]
        resources["nbgrader"]["max_score"] -= sum(waiting)
        resources["nbgrader"]["waiting"] = len(waiting)
        return nb, resources

    def _get_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._get_score(cell, resources)
        kind = cell.metadata.nbgrader
        grade = self.gradebook.find_grade(
            kind.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        kind["waits"] = points_of(grade) is None


def waits(cell: NotebookNode) -> bool:
    """Return whether the cell is an answer that nobody has graded yet."""
    return bool(cell.metadata.get("nbgrader", {}).get("waits"))


class FitForStudents(NbGraderPreprocessor):
    """Removes the marking schemes. Also removes the bare number of points below each check, because the
    check's card states the points in words. Adds the pictures, a note on what was not run, and the styles
    that make pictures and tables fit the page. Marks the lesson's own cells to be folded.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        nb.cells = [cell for cell in nb.cells if SCHEME_TAG not in cell.metadata.get("tags", [])]
        result = _result(nb)
        for cell in nb.cells:
            kind = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and kind.get("grade") and kind.get("locked"):
                cell.outputs = [output for output in cell.outputs if output.output_type != "execute_result"]
            exercise = exercise_of(cell) if cell.cell_type == "code" else None
            if result and exercise in result.verdicts:
                place = resources.get("nbgrader", {})
                whose = f"{exercise} ({place.get('student')!a}, {place.get('assignment')})"
                cell.outputs += _pictures(exercise, result, whose)
        if result:
            stopped = f" The run stopped early: {escape(result.problem)}." if result.problem else ""
            nb.cells.insert(0, new_markdown_cell(f"*{NOT_RUN}{stopped}*"))
            _fold_the_lesson(nb)
        resources["inlining"]["css"] += [style.read_text(encoding="utf-8") for style in STYLES]
        return nb, resources


def _fold_the_lesson(nb: NotebookNode) -> None:
    """Mark where each sequence of the lesson's own cells begins and ends. The page folds these cells, and
    shows the student's cells.
    """
    folded = [False, *(_is_of_the_lesson(cell) for cell in nb.cells[1:]), False]
    for number, cell in enumerate(nb.cells):
        before, now, after = folded[max(0, number - 1)], folded[number], folded[number + 1]
        cell.metadata["fold"] = {"begins": now and not before, "ends": now and not after}


def _is_of_the_lesson(cell: NotebookNode) -> bool:
    return not cell.metadata.get("nbgrader") and OWN_TAG not in cell.metadata.get("tags", [])


def _result(nb: NotebookNode) -> results.Result | None:
    """Return the stored result of the run that this notebook shows, or None."""
    key = nb.metadata.get("autograder", {}).get("result", "")
    # nbgrader's converters run in the course's folder.
    return results.load(Path.cwd(), key) if isinstance(key, str) and KEY.fullmatch(key) else None


def _pictures(exercise: str, result: results.Result, whose: str) -> list[NotebookNode]:
    """Return the pictures that go below the check of an exercise, as outputs. `whose` names the student and
    the exercise in the log if a picture fails.
    """
    import pygraphviz  # noqa: F401  imported once, not in every fork

    import autograder.notebook.figures  # noqa: F401

    verdict, made = result.verdicts[exercise], []
    if verdict.picture and not verdict.hidden:
        made.append(_drawn_or_left_out(whose, _expected_and_yours, json.dumps(asdict(verdict.picture))))
    if exercise in result.graphs:
        _worked(exercise)  # made once, not in every fork
        graph = json.dumps(result.graphs[exercise], sort_keys=True)
        made.append(_drawn_or_left_out(whose, _graphs, exercise, graph, verdict.passed))
    return [new_output("display_data", data={"text/html": html, "text/plain": ""}) for html in made if html]


def _drawn_or_left_out(whose: str, draw: Callable[..., str], *args: Any) -> str:
    """Return the HTML from `draw(*args)`, or, if that fails, a sentence that says that the picture is left
    out, because one failed picture must not cost the student the whole page.
    """
    try:
        return _drawn(draw, *args)
    except OverLimit:
        return TOO_LARGE
    except Broke as broke:
        missing.report(whose, str(broke), broke.trace)
    except OSError as error:
        missing.report(whose, f"this machine failed ({error})")
    return LEFT_OUT


@lru_cache(1000)
def _drawn(draw: Callable[..., str], *args: Any) -> str:
    """Return the HTML from `draw(*args)`, which runs in a process with limits. Raises the errors of
    `limited`.
    """
    return limited(draw, *args, seconds=SECONDS, memory=MEMORY)


def _expected_and_yours(data: str) -> str:
    """Return a picture of the expected values, the student's values, and their difference, as HTML."""
    from autograder.notebook.figures import expected_and_yours

    given = checked(Picture, json.loads(data))
    picture = expected_and_yours(given.expected, given.actual, given.worst, given.title)
    code = base64.b64encode(picture.png()).decode()
    full = PAGE_DPI * picture.figure.get_size_inches()[0]
    width = round(max(min(full, PAGE_WIDTH), SMALLEST * full))
    image = f'<img alt="{escape(picture.alt)}" width="{width}" src="data:image/png;base64,{code}">'
    return f'<div class="wide" tabindex="0">{image}</div>'


def _graphs(exercise: str, data: str, is_right: bool) -> str:
    """Return the graph of the student's computation next to the graph of the worked answer, as HTML. If they
    do not differ, the picture is folded. If they differ but the answer is right, only the student's graph is
    shown, folded.

    The data come from the student's process, so `from_data` checks every item before anything is drawn, and
    raises UserError if the data are not a graph.
    """
    from autograder.graph import compared, from_data
    from autograder.graph.drawing import as_image

    mine = from_data(json.loads(data))
    comparison = compared(mine, _worked(exercise))
    alone = is_right and comparison.differences  # no sentences about a right answer
    shown = mine if alone else comparison
    picture = f'<div class="wide graphs" tabindex="0">{as_image(shown.svg(), shown.alt)}</div>'
    if alone:
        return f"<details><summary>What your code computes</summary>{picture}</details>"
    if comparison.differences:
        return f"<p>What your code computes (yours), beside the reference (theirs):</p>{picture}"
    return f"<details><summary>What your code computes, beside the reference</summary>{picture}</details>"


@lru_cache
def _worked(exercise_id: str) -> Drawing:
    """Return the graph of the worked answer, or of the reference if there is no worked answer."""
    from autograder.exercises import find
    from autograder.grading.worker.answer_graph import answer_graph, case_to_draw
    from autograder.judge import cases_of
    from autograder.schema.draw import PUBLIC_SEED

    exercise = find(exercise_id)
    case = case_to_draw(cases_of(exercise, PUBLIC_SEED, False))
    assert case is not None, "a student's module was drawn on it"
    drawing = answer_graph(exercise.worked or exercise.reference, exercise.procedure, case)
    drawing.title = exercise.name
    return drawing


def nothing_live(head: str) -> str:
    """Return the head of a page, marked as English and without scripts or downloaded fonts. It contains a
    rule that forbids both. This is a filter for templates.
    """
    head = FETCHED_FONT.sub("", SCRIPT.sub("", head)).replace("<html>", '<html lang="en">', 1)
    return head.replace("<head>", f"<head>\n{NOTHING_LIVE}", 1)


def exercise_name(grade_id: str) -> str:
    """Return the name that the page shows for a grade id: `softmax` for `check-loops-softmax`, and
    `why scale` for `loops-why_scale`. This is a filter for templates.
    """
    name = short_name(grade_id)
    return name if grade_id.startswith("check-") else name.replace("_", " ")


class FeedbackExporter(HTMLExporter):
    """Makes nbgrader's feedback page without scripts. Formulas are MathML, and nothing is loaded from the
    network.
    """

    def __init__(self, config: Any = None, **more: Any) -> None:
        super().__init__(config=config, **more)
        require_settings(self.parent)


def make_releasable(notebooks: list[str], **_: Any) -> None:
    """Write the two files that `nbgrader release_feedback` needs next to each student's pages. If they are
    missing, that command stops for the whole class. Only work that came through nbgrader's exchange already
    has them. nbgrader calls this function after it has written the pages.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        pages = Path("feedback", folder.parent.name, folder.name)
        name_of_pages = hashlib.sha256(f"{read_secret(Path.cwd())}/{pages}".encode()).hexdigest()
        for name, text in ((TIMESTAMP, ""), (SUBMISSION_SECRET, name_of_pages)):
            if not (pages / name).exists():
                write_whole(pages / name, text)
