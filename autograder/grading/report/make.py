"""Makes the page of the class report."""

import base64
import os
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from autograder.errors import UserError
from autograder.grading.course import open_course
from autograder.grading.report import pictures, summary
from autograder.grading.report.data import Lesson, read_lessons
from autograder.grading.results import write_whole
from autograder.notebook.figures.style import Picture


def report(folder: Path | str, lesson: str | None = None) -> Path:
    """Writes DIR/report.html, or DIR/report-LESSON.html for one lesson, prints its path and returns it.

    Raises UserError where `folder` is no course, `lesson` is none of it, or nothing is graded yet.
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


def page_of(title: str, lessons: list[Lesson]) -> str:
    """The page as HTML. Whatever comes from students is escaped."""
    here = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=here, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template("page.html")
    today = datetime.now().strftime("%d %B %Y, %H:%M")
    return page.render(title=title, today=today, lessons=[_about(lesson) for lesson in lessons])


def _about(lesson: Lesson) -> dict:
    """All that the page says about a lesson."""
    questions = summary.questions(lesson)
    judged = [question for question in questions if question.states]
    scores, failures = summary.scores(lesson), summary.failures(lesson)
    drawn = {"distribution": pictures.distribution([w.row.total for w in lesson.works], scores["out_of"])}
    if judged:
        drawn |= {"states": pictures.states(judged), "aspects": pictures.aspects(judged)}
    return {
        "name": lesson.name,
        "works": lesson.works,
        "waiting": lesson.waiting,
        "absent": lesson.absent,
        "questions": questions,
        "scores": scores,
        "pictures": {name: _embedded(picture) for name, picture in drawn.items()},
        "misconceptions": summary.misconceptions(lesson),
        "unnamed": summary.unnamed(lesson),
        "only_hidden": summary.only_hidden(lesson),
        "failures": failures,
        "reasons": summary.by_reason(failures),
        "machine": summary.machine(lesson),
        "not_started": summary.not_started(lesson),
        "by_hand": [question for question in questions if question.by_hand],
        "times": summary.times(lesson),
    }


def _embedded(picture: Picture) -> dict:
    code = base64.b64encode(picture.svg().encode()).decode()
    return {"source": f"data:image/svg+xml;base64,{code}", "alt": picture.alt}
