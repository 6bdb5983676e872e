"""The settings of a course. They differ from nbgrader's defaults where those are unsafe. A course's
`nbgrader_config.py` calls `configure`; anything that it sets after that call takes precedence.

Comments say what the settings prevent. With nbgrader's defaults, a check without output gives full marks, a
deleted check cell keeps the old score, and a student's HTML runs in the reader's browser.
"""

import os
import sys
from pathlib import Path

import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import preprocessors as stock
from traitlets.config import Config

from autograder.exercises.own import use_course
from autograder.grading.gradebook.fail_closed import EXPORTERS, mark_as_loaded
from autograder.grading.gradebook.nbgrader_steps import (
    GradeSubmission,
    PointsOfTheCourse,
    TrustTheCourse,
    take_names_literally,
)
from autograder.grading.pages.feedback import TEMPLATES, FitForStudents, GradesSoFar, make_releasable

OLD_ID = "attention-by-hand"  # the id of all courses that were made before each course got a different id
SAFE = {
    "markdown2html": "autograder.grading.safe.formulas.markdown",
    "clean_html": "autograder.grading.safe.clean_html.clean_again",
    "highlight_code": "autograder.grading.safe.highlight.highlight_code",
}


def configure(c: Config, folder: str) -> None:
    """Set all options for the course in `folder` in the traitlets configuration `c`. Also prepare this
    process for that course.
    """
    mark_as_loaded(c)
    take_names_literally()
    use_course(Path(folder))
    # Prefer kernels of this Python. nbgrader runs the program alembic, which is installed next to this Python.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    programs = os.path.dirname(sys.executable)
    if programs not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, [programs, os.environ.get("PATH")]))
    c.CourseDirectory.course_id = OLD_ID
    c.CourseDirectory.root = folder
    # Wait for a gradebook that another process is writing to, instead of failing at once.
    c.CourseDirectory.db_url = f"sqlite:///{Path(folder, 'gradebook.db')}?timeout=60"
    # nbgrader writes names unquoted: commas break the table, and spreadsheets compute formulas.
    c.ExportApp.plugin_class = "autograder.grading.gradebook.exporters.TableExporter"
    _release(c)
    _autograde(c)
    _feedback(c)


def _release(c: Config) -> None:
    # Marking schemes are removed before the gradebook saves the cells; otherwise an untouched written answer
    # would not be recognised as such. Hidden tests are removed afterwards: the gradebook restores them for grading.
    c.ClearMarkScheme.enforce_metadata = False
    c.GenerateAssignment.exporter_class = EXPORTERS["GenerateAssignment"]
    c.GenerateAssignment.preprocessors = [
        stock.IncludeHeaderFooter,
        PointsOfTheCourse,
        stock.LockCells,
        stock.ClearSolutions,
        stock.ClearMarkScheme,
        stock.ClearOutput,
        stock.CheckCellMetadata,
        stock.ComputeChecksums,
        stock.SaveCells,
        stock.ClearHiddenTests,
        stock.ComputeChecksums,
        stock.CheckCellMetadata,
    ]


def _autograde(c: Config) -> None:
    # By itself, nbgrader follows links in a submission, copies their targets, and reads notebooks made to be slow.
    c.Autograde.exporter_class = EXPORTERS["Autograde"]
    c.Autograde.sanitize_preprocessors = [
        TrustTheCourse,
        stock.OverwriteKernelspec,
        stock.OverwriteCells,
        stock.CheckCellMetadata,
    ]
    # No kernel is started: students' code runs in a sandbox, and no score is read from its outputs.
    c.Autograde.autograde_preprocessors = [
        GradeSubmission,
        stock.LimitOutput,
        stock.AssignLatePenalties,
        stock.CheckCellMetadata,
    ]
    c.LimitOutput.max_traceback = 20


def _feedback(c: Config) -> None:
    c.GenerateFeedback.post_convert_hook = make_releasable
    c.GenerateFeedback.preprocessors = [
        stock.ClearHiddenTests,
        stock.AssignLatePenalties,  # the due date or points given by hand may have changed
        GradesSoFar,
        CSSHTMLHeaderPreprocessor,
        FitForStudents,
    ]
    # Our template extends nbgrader's own.
    formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    templates, styles = formgrader / "templates", formgrader / "static/node_modules/bootstrap/dist/css"
    c.GenerateFeedback.exporter_class = EXPORTERS["GenerateFeedback"]
    c.FeedbackExporter.template_name = "student_page"
    c.FeedbackExporter.extra_template_basedirs = [str(TEMPLATES), str(templates)]
    c.FeedbackExporter.extra_template_paths = [str(templates), str(styles)]
    c.FeedbackExporter.filters = SAFE | {
        "nothing_live": "autograder.grading.pages.feedback.nothing_live",
        "exercise_name": "autograder.grading.pages.feedback.exercise_name",
        "points": "autograder.grading.gradebook.table.as_number",
    }
    # For feedback and formgrader alike. subtle: sanitize_html leaves markdown cells as they are, because
    # nbgrader's templates render them themselves; the filters in SAFE clean those as well.
    c.HTMLExporter.sanitize_html = True
    # Formgrader's own template loads MathJax from the network, and stops if there is no network; ours does not.
    c.HTMLExporter.extra_template_basedirs = c.FeedbackExporter.extra_template_basedirs
    c.HTMLExporter.extra_template_paths = [str(templates)]
    c.HTMLExporter.filters = SAFE
