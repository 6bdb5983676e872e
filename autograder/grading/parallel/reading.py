"""Reads what students handed in, each submission in a process of its own with limits of time and memory, and several
at a time: whatever a submission does to its reader is its own result, and delays nobody else."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode, from_dict
from nbgrader.apps.api import NbGraderAPI

from autograder.grading.judging.results import Failed
from autograder.grading.parallel.pool import in_processes, retried
from autograder.grading.submission.course_metadata import cells_of_course, with_course_metadata
from autograder.grading.submission.files import Refused
from autograder.grading.submission.find import Submission, digest
from autograder.grading.submission.limited import Broke, read_limited
from autograder.grading.submission.read_submission import read_submission
from autograder.grading.submission.unit import Read, Unit, unit_of


@dataclass(frozen=True)
class Lesson:
    """The course's own cells of a lesson by grade id, and its source notebook."""

    cells: dict[str, NotebookNode]
    source: NotebookNode


def read_lessons(api: NbGraderAPI, folder: Path, names: Iterable[str]) -> dict[str, Lesson]:
    """The lessons of these names."""
    lessons = {}
    with api.gradebook as gradebook:
        for name in names:
            source = nbformat.read(folder / "source" / name / f"{name}.ipynb", as_version=4)
            lessons[name] = Lesson(cells_of_course(gradebook.find_notebook(name, name)), source)
    return lessons


def read_all(submissions: list[Submission], lessons: dict[str, Lesson], secret: str) -> Iterator[tuple]:
    """(submission, Read, Refused or Failed), as they are done."""

    def attempt(units, isolated):
        count = 1 if isolated else min(os.cpu_count() or 1, len(submissions))
        return in_processes(units, partial(_read, lessons=lessons, secret=secret), count)

    for lesson in lessons.values():
        unit_of(lesson.source, lesson.source).key(secret)  # fills caches that all forks share
    for submission, result in retried(((one, one) for one in submissions), attempt):
        if isinstance(result, dict):
            unit, notebook = Unit.from_data(result["unit"]), from_dict(result["notebook"])
            result = Read(result["digest"], notebook, unit, result["key"])
        yield submission, result


def _read(submission: Submission, lessons: dict[str, Lesson], secret: str) -> dict | Refused | Failed:
    """Reads a submission within limits, as plain data."""
    try:
        return read_limited(_content, submission, lessons[submission.lesson], secret)
    except Refused as refused:
        return refused
    except OSError as error:
        return Failed(str(error))
    except Broke as broke:
        return Failed(str(broke), broke.trace, ours=True)


def _content(submission: Submission, lesson: Lesson, secret: str) -> dict:
    now = digest(submission)
    notebook = with_course_metadata(read_submission(submission.submitted, submission.lesson), lesson.cells)
    unit = unit_of(notebook, lesson.source)
    return {"digest": now, "notebook": notebook, "unit": asdict(unit), "key": unit.key(secret)}
