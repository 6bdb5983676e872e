"""The exercises of the course, found by id, by name or by lesson.

An exercise is one file, found by its path: `TOPIC/NAME.py` defines `EXERCISE`, whose id is `TOPIC.NAME`. A
topic's `__init__.py` names its `LESSON`. Files and folders whose names begin with `_` hold code that several
exercises share. Instructors keep their own exercises in a separate folder (see own.py). Loading an exercise
imports PyTorch; importing this package does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UserError

if TYPE_CHECKING:
    from autograder.schema.exercise import Exercise
    from autograder.schema.mistake import Mistake

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "recorded"


def all_exercises() -> tuple[Exercise, ...]:
    """Return every exercise, in course order. In a student bundle, read them from recorded data."""
    if RECORDED.is_dir():
        return _recorded()
    from autograder.exercises.own import folders

    return _of_folders(folders())


@cache
def _recorded() -> tuple[Exercise, ...]:
    # Imported here, so that a process that runs students' code does not load it.
    from autograder.schema.recorded import read

    return read(RECORDED)


@cache
def _of_folders(further: tuple[Path, ...]) -> tuple[Exercise, ...]:
    __path__[1:] = map(str, further)
    found = sorted(map(_read, _files(further)), key=lambda exercise: (exercise.lesson, exercise.number))
    with_own_words = [mistake for exercise in found for mistake in exercise.mistakes if mistake.observation]
    known = {mistake.id: mistake for mistake in reversed(with_own_words)}
    return tuple(_with_words(exercise, known) for exercise in found)


def _files(further: tuple[Path, ...]) -> list[Path]:
    return [file for folder in (FOLDER, *further) for file in folder.glob("[!_]*/[!_]*.py")]


def _read(file: Path) -> Exercise:
    """Return the exercise defined in a file. Raise UserError if its author has to correct something in it."""
    from autograder.schema.guards import refuse_names_of_code

    topic, name = file.parent.name, file.stem
    try:
        module = import_module(f"{__name__}.{topic}.{name}")
    except UserError as error:
        raise UserError(f"{topic}.{name}: {error}") from None
    exercise = module.EXERCISE
    if exercise.reference.__module__ == module.__name__:
        exercise.reference.__name__ = exercise.reference.__qualname__ = name  # used as the title of its graph
    if exercise.worked.__name__ != name:
        raise UserError(
            f"{topic}.{name}: its worked answer is named {exercise.worked.__name__}; name it {name}."
        )
    named = _with_ids(
        replace(exercise, id=f"{topic}.{name}", lesson=import_module(f"{__name__}.{topic}").LESSON)
    )
    refuse_names_of_code(named)
    return named


def _with_ids(exercise: Exercise) -> Exercise:
    """Return the exercise with a new id for each mistake that has none."""
    from autograder.schema.mistake import own_id

    mistakes = tuple(replace(one, id=one.id or own_id(exercise.id, one.title)) for one in exercise.mistakes)
    return replace(exercise, mistakes=mistakes)


def _with_words(exercise: Exercise, known: Mapping[str, Mistake]) -> Exercise:
    from autograder.schema.mistake import with_words

    try:
        return replace(exercise, mistakes=with_words(exercise.mistakes, known))
    except UserError as error:
        raise UserError(f"{exercise.id}: {error}") from None


def ids() -> frozenset[str]:
    """Return the ids of all exercises, taken from their file names without loading any exercise."""
    from autograder.exercises.own import folders

    return _ids(folders())


@cache
def _ids(further: tuple[Path, ...]) -> frozenset[str]:
    return frozenset(f"{file.parent.name}.{file.stem}" for file in _files(further))


def lessons() -> list[str]:
    """Return the file names of the lessons, without extension, in course order."""
    return list(dict.fromkeys(exercise.lesson for exercise in all_exercises()))


def exercises_of(lesson: str) -> list[Exercise]:
    """Return the exercises of a lesson, in order. `lesson` is its file name without extension."""
    return [exercise for exercise in all_exercises() if exercise.lesson == lesson]


def format_lesson(lesson: str) -> str:
    """Return a lesson's file name as people write it: "05_multi_query_attention" gives "05 multi-query
    attention".
    """
    return lesson.replace("multi_", "multi-").replace("_", " ")


def find(exercise_id: str) -> Exercise:
    """Return the exercise with this id. If there is none, raise UserError and suggest the closest id."""
    for exercise in all_exercises():
        if exercise.id == exercise_id:
            return exercise
    near = nearest(exercise_id)
    hint = f"did you mean {near}?" if near else "`python -m autograder exercises` lists them."
    raise UserError(f"there is no exercise {exercise_id!r}; {hint}")


def nearest(word: str) -> str | None:
    """Return the id of the exercise whose name or id is closest to `word`, or None if none is close."""
    from difflib import get_close_matches

    ids = {word: one.id for one in all_exercises() for word in (one.name, one.id)}
    near = get_close_matches(word, ids, n=1, cutoff=0.5)
    return ids[near[0]] if near else None


def find_by_name(name: str) -> Exercise | None:
    """Return the exercise whose answer must be called `name`, or None if there is none."""
    return next((exercise for exercise in all_exercises() if exercise.name == name), None)
