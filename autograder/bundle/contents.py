"""The lessons of a student bundle.

The repository's lessons are made from their sources, so that the bundle contains nothing that somebody wrote
into the notebooks of the clone. The lessons of a course are the notebooks that it has released, byte for
byte, and their exercises are worth the points that the course gives.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.build.lesson import find_lessons
from autograder.errors import UserError
from autograder.exercises import all_exercises
from autograder.schema.exercise import Exercise


@dataclass(frozen=True)
class Contents:
    """The text of each notebook, keyed by lesson name, and the exercises that the notebooks check."""

    notebooks: dict[str, str]
    exercises: tuple[Exercise, ...]


def contents_of(course: Path | None) -> Contents:
    """Return the contents of a course's bundle or, if `course` is None, of the bundle with all lessons.
    Raises UserError if `course` is not a course, or if one of its lessons is not released.
    """
    return _of_repository() if course is None else _of_course(course.absolute())


def _of_repository() -> Contents:
    from autograder.build.notebooks import as_text, student_notebook

    notebooks = {lesson.name: as_text(student_notebook(lesson)) for lesson in find_lessons(None)}
    return Contents(notebooks, all_exercises())


def _of_course(course: Path) -> Contents:
    from autograder.grading.gradebook.open_course import lessons_of, open_course

    notebooks: dict[str, str] = {}
    points: dict[str, float] = {}
    for name in lessons_of(open_course(course)):
        path = course / "release" / name / f"{name}.ipynb"
        if not path.is_file():
            raise UserError(
                f"{name} is not released yet; run `nbgrader generate_assignment {name}` in {course}."
            )
        notebooks[name] = path.read_text(encoding="utf-8")
        kinds = [
            cell.metadata.get("nbgrader", {}) for cell in nbformat.reads(notebooks[name], as_version=4).cells
        ]
        points |= {kind.grade_id.removeprefix("check-"): kind.points for kind in kinds if kind.get("grade")}
    known = {exercise.id.replace(".", "-", 1): exercise for exercise in all_exercises()}
    return Contents(
        notebooks, tuple(_worth(one, points[name]) for name, one in known.items() if name in points)
    )


def _worth(exercise: Exercise, points: float) -> Exercise:
    """Return the exercise scaled to the points that a course gives for it."""
    if points == exercise.points:
        return exercise
    share = points / exercise.points
    aspects = {name: round(share * worth, 4) for name, worth in exercise.aspects.items()}
    first = next(iter(aspects))
    aspects[first] = round(aspects[first] + points - sum(aspects.values()), 4)  # the remainder of rounding
    return replace(exercise, aspects=aspects)
