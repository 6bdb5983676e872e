"""A learner's standing, in each exercise and in each lesson or notebook."""

from dataclasses import dataclass

from autograder.schema.exercise import Exercise
from autograder.verdict import NOT_STARTED, RIGHT

NOT_CHECKED = "not checked"  # an answer is written, but no check of it is remembered


@dataclass(frozen=True)
class Standing:
    """A learner's state in one exercise. `state` is one of the judge's states, or NOT_CHECKED."""

    exercise: Exercise
    state: str
    points: float


@dataclass(frozen=True)
class Part:
    """A lesson, or a notebook file. `notebook` is the file to open, or empty if the folder has none; `note`
    is a line that explains what is shown, or empty.
    """

    title: str
    notebook: str
    standings: tuple[Standing, ...]
    note: str = ""

    @property
    def points(self) -> float:
        return round(sum(standing.points for standing in self.standings), 4)

    @property
    def max_points(self) -> float:
        return round(sum(standing.exercise.points for standing in self.standings), 4)


def standing_of(
    exercise: Exercise, known: dict[str, tuple[str, float]], otherwise: str = NOT_STARTED
) -> Standing:
    """Return the standing in an exercise, from its remembered verdict; if there is none, the state is
    `otherwise`.
    """
    return Standing(exercise, *known.get(exercise.id, (otherwise, 0.0)))


def next_of(parts: list[Part]) -> tuple[Part, Standing] | None:
    """Return the part and the standing of the first exercise that is not done; None if all are done."""
    return next(
        ((part, standing) for part in parts for standing in part.standings if standing.state != RIGHT), None
    )
