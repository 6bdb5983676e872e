"""Makes the page of the class report."""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.gradebook.table import as_number
from autograder.grading.pages.report import summary
from autograder.grading.pages.report.data import Lesson, read_lessons
from autograder.notebook.card import with_code
from autograder.printable import printable

SUMMARY = (
    summary.questions,
    summary.scores,
    summary.distribution,
    summary.misconceptions,
    summary.unnamed,
    summary.only_hidden,
    summary.failures,
    summary.times,
)


def report(folder: Path | str, lesson: str | None = None) -> Path:
    """Write DIR/report.html, or, for one lesson, DIR/report-LESSON.html. Print and return the path of the
    page.

    Raises UserError if `folder` is not a course, if it has no such `lesson`, if nothing is graded yet, if the
    gradebook lacks grades that were in it, or if the page cannot be written.
    """
    folder = Path(os.path.abspath(folder))
    lessons = read_lessons(open_course(folder), folder, lesson)
    path = folder / (f"report-{lesson}.html" if lesson else "report.html")
    try:
        write_whole(path, page_of(folder.name, lessons))
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from None
    print(path)
    return path


def _printable(value: Any) -> Any:
    """Escape invisible characters in text, such as bidirectional controls. Return HTML and other values as
    they are.
    """
    return printable(value) if type(value) is str else value


def _with_code(text: str) -> str:
    """Return text from any source as escaped HTML, in which text between backticks is marked up as code."""
    return with_code(printable(text))


def page_of(title: str, lessons: list[Lesson]) -> str:
    """Return the page as HTML. All text from students is escaped."""
    here = FileSystemLoader(Path(__file__).parent)
    pages = Environment(
        loader=here, autoescape=True, finalize=_printable, trim_blocks=True, lstrip_blocks=True
    )
    pages.filters |= {"points": as_number, "with_code": _with_code}
    today = datetime.now().strftime("%d %B %Y, %H:%M")
    told = [vars(lesson) | {part.__name__: part(lesson) for part in SUMMARY} for lesson in lessons]
    page = pages.get_template("page.html")
    return page.render(title=title, today=today, lessons=told, states=summary.STATES)
