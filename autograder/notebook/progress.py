"""progress(): what is done, partly done and not started, the points so far, and what to do next.

    from autograder import progress
    progress()

It reads what the checks said last in this folder (see memory.py) and runs nothing. Written questions are not
counted: a person reads them.
"""

from dataclasses import dataclass
from pathlib import Path

from autograder.exercises import exercises_of, in_words, lessons
from autograder.exercises.exercise import Exercise
from autograder.judge.verdict import NOT_STARTED, RIGHT
from autograder.notebook.memory import recall

NOT_CHECKED = "not checked"  # an answer is written, and no check of it is remembered


@dataclass(frozen=True)
class Standing:
    """Where the learner is with one exercise: a state of the judge's, or NOT_CHECKED."""

    exercise: Exercise
    state: str
    points: float


@dataclass(frozen=True)
class Part:
    """A lesson, or a notebook file. `notebook` is the file to open, empty where it is not here; `note` one line
    that explains what is shown, or nothing."""

    title: str
    notebook: str
    standings: tuple[Standing, ...]
    note: str = ""

    @property
    def points(self) -> float:
        return sum(standing.points for standing in self.standings)

    @property
    def max_points(self) -> int:
        return sum(standing.exercise.points for standing in self.standings)


def progress() -> None:
    """Shows where you are in the lessons of this folder: by the latest verdict of each exercise's check.

    Tries and hints are not counted. A lesson belongs to the folder when its notebook is here or something of it
    was checked here; where there is none, all lessons are shown.
    """
    from autograder.notebook.progress_card import show

    show(parts_of_folder(Path()))


def parts_of_folder(folder: Path) -> list[Part]:
    """The lessons of a folder, in the order of the course."""
    known = recall(folder)
    parts = []
    for lesson in lessons():
        file = f"{lesson}.ipynb"
        notebook = file if (folder / file).is_file() else ""
        standings = tuple(standing_of(exercise, known) for exercise in exercises_of(lesson))
        parts.append(Part(in_words(lesson), notebook, standings))
    here = [part for part in parts if part.notebook or any(s.exercise.id in known for s in part.standings)]
    return here or parts


def standing_of(exercise: Exercise, known: dict, otherwise: str = NOT_STARTED) -> Standing:
    """The remembered verdict on an exercise; where there is none, the state `otherwise`."""
    return Standing(exercise, *known.get(exercise.id, (otherwise, 0.0)))


def next_of(parts: list[Part]) -> tuple[Part, Standing] | None:
    """The first exercise that is not done, and where it is; None where all are."""
    return next(
        ((part, standing) for part in parts for standing in part.standings if standing.state != RIGHT), None
    )
