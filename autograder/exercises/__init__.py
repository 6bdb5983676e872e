"""Every exercise of the course, by id and by lesson.

A lesson's exercises stand in the module named after its topic (`loops.py`, `matmul.py`, ...), which lists
them in `EXERCISES` in the order of the lesson. Adding a lesson is adding its module's name to `TOPICS`.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

from autograder.errors import UserError
from autograder.exercises.exercise import Exercise

RECORDED = Path(__file__).parent / "recorded"
TOPICS = ("loops", "matmul", "masking", "heads", "mqa", "decoder")


@cache
def all_exercises() -> tuple[Exercise, ...]:
    """Every exercise, in the order of the course. In a student bundle they are recorded data."""
    if RECORDED.is_dir():
        # Imported here: a process that runs students' code has nothing of the exercises but their form.
        from autograder.exercises.recorded import read

        return read(RECORDED)
    modules = (import_module(f"autograder.exercises.{topic}") for topic in TOPICS)
    return tuple(exercise for module in modules for exercise in module.EXERCISES)


def lessons() -> list[str]:
    """The lessons' file names without ending, in the order of the course."""
    return list(dict.fromkeys(exercise.lesson for exercise in all_exercises()))


def exercises_of(lesson: str) -> list[Exercise]:
    """The exercises of a lesson, given by its file name without ending, in their order."""
    return [exercise for exercise in all_exercises() if exercise.lesson == lesson]


def in_words(lesson: str) -> str:
    """The file name of a lesson as a person writes it: "05 multi-query attention"."""
    return lesson.replace("multi_", "multi-").replace("_", " ")


def find(exercise_id: str) -> Exercise:
    """The exercise of that id. Raises UserError where there is none, naming the nearest."""
    for exercise in all_exercises():
        if exercise.id == exercise_id:
            return exercise
    from difflib import get_close_matches

    ids = [exercise.id for exercise in all_exercises()]
    near = get_close_matches(exercise_id, ids, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "`python -m autograder exercises` lists them."
    raise UserError(f"there is no exercise {exercise_id!r}; {hint}")


def find_by_name(name: str) -> Exercise | None:
    """The exercise that asks for an object of that name, or None."""
    return next((exercise for exercise in all_exercises() if exercise.name == name), None)
