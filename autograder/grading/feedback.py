"""What is done to a graded notebook before it becomes a student's feedback page.

Under each check stand the judge's words (they are in the notebook already), for a wrong answer what is due beside
what came out, and for a module its computation graph beside the reference's. What the hidden cases found is told
in words only.
"""

import base64
import json
import re
from functools import lru_cache
from html import escape
from pathlib import Path

from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.grading import results
from autograder.grading.unit import exercise_of
from autograder.grading.verdicts import SCHEME_TAG

KEY = re.compile(r"[0-9a-f]{64}")
SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
FETCHED_FONT = re.compile(r"@font-face\s*\{[^}]*\}")
NOTHING_LIVE = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'\">"
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
)
PAGE_DPI = 76  # the size of pictures: three matrices of five columns fit the page, wider ones can be scrolled
NOT_RUN = "Cells of the lesson that no answer needs were not run."
STYLE = Path(__file__).parent / "templates/student_page/page.css"


class FitForStudents(NbGraderPreprocessor):
    """Takes out the marking schemes, and the bare number below a check, which its card says in words. Adds the
    pictures, and makes pictures and tables fit the page."""

    def preprocess(self, nb, resources):
        nb.cells = [cell for cell in nb.cells if SCHEME_TAG not in cell.metadata.get("tags", [])]
        result = _result(nb)
        for cell in nb.cells:
            kind = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and kind.get("grade") and kind.get("locked"):
                cell.outputs = [output for output in cell.outputs if output.output_type != "execute_result"]
            exercise = exercise_of(cell) if cell.cell_type == "code" else None
            if result and exercise in result.verdicts:
                cell.outputs += _pictures(exercise, result)
        if result:
            nb.cells.insert(0, new_markdown_cell(_how_it_was_run(result)))
        resources["inlining"]["css"].append(STYLE.read_text(encoding="utf-8"))
        return nb, resources


def _result(nb) -> results.Result | None:
    """The kept result of the run that this notebook shows."""
    key = nb.metadata.get("autograder", {}).get("result", "")
    # nbgrader's converters run in the course's folder.
    return results.load(Path.cwd(), key) if isinstance(key, str) and KEY.fullmatch(key) else None


def _how_it_was_run(result: results.Result) -> str:
    stopped = f" The run stopped early: {escape(result.problem)}." if result.problem else ""
    return f"*{NOT_RUN}{stopped}*"


def _pictures(exercise: str, result: results.Result) -> list:
    verdict = result.verdicts[exercise]
    made = []
    if verdict.get("picture") and not verdict.get("hidden"):
        made.append(_expected_and_yours(json.dumps(verdict["picture"])))
    if exercise in result.graphs:
        made.append(_graphs(exercise, json.dumps(result.graphs[exercise], sort_keys=True)))
    return [new_output("display_data", data={"text/html": html, "text/plain": ""}) for html in made if html]


@lru_cache(500)
def _expected_and_yours(data: str) -> str:
    """What is due, what came out, and the difference; nothing where that cannot be drawn."""
    from autograder.notebook.figures import expected_and_yours

    try:
        picture = expected_and_yours(**_named(json.loads(data)))
        code = base64.b64encode(picture.png()).decode()
    except Exception:  # a picture that cannot be drawn costs no page
        return ""
    width = round(PAGE_DPI * picture.figure.get_size_inches()[0])
    image = f'<img alt="{escape(picture.alt)}" width="{width}" src="data:image/png;base64,{code}">'
    return f'<div class="wide" tabindex="0">{image}</div>'


def _named(picture: dict) -> dict:
    return {"expected": picture["expected"], "yours": picture["got"]} | {k: picture[k] for k in ("worst", "title")}


@lru_cache(500)
def _graphs(exercise: str, data: str) -> str:
    """The student's computation beside the reference's, folded where they agree; nothing where it cannot be drawn.

    The data come from the student's process: `from_data` checks every item before anything is drawn.
    """
    from autograder.graph import compared, from_data
    from autograder.graph.drawing import as_image

    try:
        comparison = compared(from_data(json.loads(data)), _reference(exercise))
        picture = as_image(comparison.svg(), comparison.alt)
        picture = f'<div class="wide graphs" tabindex="0">{picture}</div>'
    except Exception:
        return ""
    if comparison.differences:
        return f"<p>What your code computes (yours), beside the reference (theirs):</p>{picture}"
    return f"<details><summary>What your code computes, beside the reference</summary>{picture}</details>"


@lru_cache
def _reference(exercise_id: str):
    """The drawing of the reference, made once in a process."""
    from autograder.exercises import find
    from autograder.exercises.values import PUBLIC_SEED
    from autograder.grading.drawn import case_to_draw, drawn_on
    from autograder.judge import cases_of

    exercise = find(exercise_id)
    case = case_to_draw(cases_of(exercise, PUBLIC_SEED, False))
    drawing = drawn_on(exercise.reference, exercise.procedure, case)
    drawing.title = exercise.name
    return drawing


def nothing_live(head: str) -> str:
    """The head of a page without scripts and fetched fonts, and with a rule for the browser that there are none: a
    filter. It says the language of the page, too.
    """
    head = FETCHED_FONT.sub("", SCRIPT.sub("", head)).replace("<html>", '<html lang="en">', 1)
    return head.replace("<head>", f"<head>\n{NOTHING_LIVE}", 1)


def exercise_name(grade_id: str) -> str:
    """`check-loops-softmax` and `loops-why_scale` as `softmax` and `why scale`: a filter."""
    check, _, name = grade_id.rpartition("-")
    return name if check.startswith("check-") else name.replace("_", " ")


class FeedbackExporter(HTMLExporter):
    """nbgrader's feedback page without scripts: formulas are MathML, nothing comes from the network."""
