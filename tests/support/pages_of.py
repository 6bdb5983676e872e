"""Makes pages from a notebook in memory: formgrader's page for the teacher, and the student's feedback."""

import re
from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config, Configurable

from autograder.grading.course.settings import configure
from autograder.grading.gradebook.graded_notebook import show_mark_schemes
from autograder.grading.pages.feedback import FeedbackExporter, FitForStudents
from autograder.grading.safe.outputs import Shown
from autograder.grading.submission.course_metadata import with_course_metadata

STATIC = Path(nbgrader.__file__).parent / "server_extensions/formgrader/static"
QUESTION = "loops-why_scale"
SCHEME = "2 points for the variance, 2 for the softmax."
LESSON = new_notebook(
    cells=[
        new_markdown_cell("# The lesson"),
        new_markdown_cell(
            f"Why?\n\n### BEGIN MARK SCHEME\n{SCHEME}\n### END MARK SCHEME",
            metadata={"nbgrader": {"grade_id": QUESTION}},
        ),
    ]
)


def handed_in(*cells, answer: str = "Because.") -> dict:
    """Return a notebook as grading leaves it: the lesson's first cell, the written answer, and these cells."""
    metadata = {"grade_id": QUESTION, "grade": True, "solution": True, "locked": False, "task": False}
    metadata |= {"schema_version": 3, "points": 4.0, "score": 0.0, "cell_type": "markdown"}
    written = new_markdown_cell(answer, metadata={"nbgrader": metadata})
    notebook = new_notebook(cells=[new_markdown_cell("# The lesson"), written, *cells])
    outputs = [cell.get("outputs") for cell in notebook.cells]
    graded = with_course_metadata(notebook, {QUESTION: written})
    shown = Shown()
    for cell, made in zip(graded.cells, outputs, strict=True):
        if made:
            cell.outputs = shown.plain_outputs(made)
    show_mark_schemes(graded, LESSON)
    return graded


def code_cell(html: str):
    """Return a code cell whose output is this HTML."""
    return new_code_cell(
        "show()", outputs=[new_output("display_data", data={"text/html": html, "text/plain": ""})]
    )


def _config(folder: Path) -> Config:
    config = Config()
    configure(config, str(folder))
    return config


def formgrader_page(notebook, folder: Path) -> str:
    """Return formgrader's page for a notebook, without its scripts, because they would need a server."""
    config = _config(folder)
    config.HTMLExporter.template_name = "formgrade"
    known = {"index": 0, "total": 1, "base_url": "", "notebook_id": "the_lesson", "student": "eve"}
    known |= {"submission_id": "1", "assignment_id": "the_lesson", "notebook_path": "x"}
    known |= {"last_name": None, "first_name": None}
    page = HTMLExporter(config=config).from_notebook_node(notebook, resources=known)[0]
    page = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    return _with_styles(page)


def feedback_page(notebook, folder: Path) -> str:
    """Return the student's feedback page for a notebook."""
    config = _config(folder)
    exporter = FeedbackExporter(parent=Configurable(config=config), config=config)
    for one in (CSSHTMLHeaderPreprocessor, FitForStudents):
        exporter.register_preprocessor(one, enabled=True)
    known = {"notebook": "the_lesson", "score": 0.0, "max_score": 4.0, "late_penalty": 0.0}
    return exporter.from_notebook_node(notebook, resources={"nbgrader": known})[0]


def _with_styles(page: str) -> str:
    """Return the page with its style sheets inlined, which a browser would otherwise fetch from a server."""

    def style(link) -> str:
        return f"<style>{(STATIC / link[1]).read_text(encoding='utf-8')}</style>"

    return re.sub(r'<link [^>]*href="/formgrader/static/([^"]+)"[^>]*>', style, page)
