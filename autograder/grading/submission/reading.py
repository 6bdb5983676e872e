"""Reads each submission only once, so that it cannot change between two readings. It is read in a separate
process with limits on time and memory, so a notebook that crashes or stalls the parser affects no other
submission.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode, from_dict
from nbgrader.api import Gradebook

from autograder.errors import UserError
from autograder.grading.submission.course_metadata import cells_of_course, with_course_metadata
from autograder.grading.submission.find import Submission, digest
from autograder.grading.submission.limited import read_limited
from autograder.grading.submission.read_submission import read_submission
from autograder.grading.submission.unit import Unit, unit_of
from autograder.untrusted import checked


@dataclass(frozen=True)
class Lesson:
    """A lesson of the course: its cells by grade id, from the gradebook, and its source notebook."""

    cells: dict[str, NotebookNode]
    source: NotebookNode


@dataclass(frozen=True)
class Read:
    """A submission as it was read: a digest of everything that its grade depends on, its notebook with the
    course's metadata, the cells to run, and the key of its result.
    """

    digest: str
    notebook: NotebookNode
    unit: Unit
    key: str


def read_lesson(gradebook: Gradebook, folder: Path, name: str) -> Lesson:
    """Return the lesson with this name in the course in `folder`. Raises UserError if its source is damaged."""
    path = folder / "source" / name / f"{name}.ipynb"
    try:
        source = nbformat.read(path, as_version=4)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UserError(f"{path} cannot be read, because it is damaged; restore your copy of it.") from None
    unit_of(source, source).key("")  # fills caches that all forks share
    return Lesson(cells_of_course(gradebook.find_notebook(name, name)), source)


def read(submission: Submission, lesson: Lesson, secret: str) -> Read:
    """Read a submission. Raises the errors of `read_limited`, such as Refused if it cannot be read within the
    limits.
    """
    now, notebook, unit = checked(tuple[str, dict, Unit], read_limited(_content, submission, lesson))
    return Read(now, from_dict(notebook), unit, unit.key(secret))


def _content(submission: Submission, lesson: Lesson) -> tuple:
    now = digest(submission)
    notebook = with_course_metadata(read_submission(submission.submitted, submission.lesson), lesson.cells)
    unit = unit_of(notebook, lesson.source)
    return now, notebook, asdict(unit)
