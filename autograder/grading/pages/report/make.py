"""Makes the page of the class report."""

import base64
import os
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from autograder.errors import UserError
from autograder.files import write_whole
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.pages.report import pictures, summary
from autograder.grading.pages.report.data import Lesson, read_lessons
from autograder.notebook.figures.style import Picture
from autograder.printable import printable

SUMMARY = (
    summary.questions,
    summary.scores,
    summary.misconceptions,
    summary.unnamed,
    summary.only_hidden,
    summary.failures,
    summary.times,
)


def report(folder: Path | str, lesson: str | None = None) -> Path:
    """Writes DIR/report.html, or DIR/report-LESSON.html for one lesson, prints its path and returns it.

    Raises UserError if `folder` is not a course, `lesson` not one of its lessons, or nothing is graded yet.
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


def _printable(value):
    """A text without marks that would turn the words after it round; HTML stays as it is."""
    return printable(value) if type(value) is str else value


def page_of(title: str, lessons: list[Lesson]) -> str:
    """The page as HTML. Whatever comes from students is escaped."""
    here = FileSystemLoader(Path(__file__).parent)
    pages = Environment(loader=here, autoescape=True, finalize=_printable, trim_blocks=True, lstrip_blocks=True)
    today = datetime.now().strftime("%d %B %Y, %H:%M")
    told = [_about(lesson) for lesson in lessons]
    return pages.get_template("page.html").render(title=title, today=today, lessons=told)


def _about(lesson: Lesson) -> dict:
    """All that the page says about a lesson."""
    told = vars(lesson) | {part.__name__: part(lesson) for part in SUMMARY}
    judged = [question for question in told["questions"] if question.states]
    drawn = {"distribution": pictures.distribution(summary.totals(lesson), told["scores"]["out_of"])}
    if judged:
        drawn |= {"states": pictures.states(judged), "aspects": pictures.aspects(judged)}
    return told | {"pictures": {name: _embedded(picture) for name, picture in drawn.items()}}


def _embedded(picture: Picture) -> dict:
    code = base64.b64encode(picture.svg().encode()).decode()
    return {"source": f"data:image/svg+xml;base64,{code}", "alt": picture.alt}
