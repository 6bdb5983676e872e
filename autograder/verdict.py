"""The judge's verdict on an answer."""

from dataclasses import dataclass

NOT_STARTED = "not started"
DOES_NOT_RUN = "does not run"
WRONG = "wrong"
PARTLY_RIGHT = "partly right"
RIGHT = "right"


def as_written(points: float) -> str:
    """Return points as people write them: "10", "7.14"."""
    return f"{round(points, 2):g}"


@dataclass(frozen=True)
class Aspect:
    """One named part of an exercise, with the points that the answer gets for it and their maximum."""

    name: str
    points: float
    max_points: float


@dataclass(frozen=True)
class Picture:
    """The expected and the actual matrix, to be shown side by side, and the index of the entry that is
    furthest off.
    """

    expected: list[list[float]]
    actual: list[list[float]]
    worst: tuple[int, int]
    title: str


@dataclass(frozen=True)
class Verdict:
    """The state of an answer, its points by aspect, and at most three lines of text. `hidden` is True if only
    the hidden check found the fault.
    """

    exercise: str
    state: str
    aspects: tuple[Aspect, ...]
    message: str = ""
    mistake: str | None = None
    picture: Picture | None = None
    hidden: bool = False

    @property
    def points(self) -> float:
        return round(float(sum(aspect.points for aspect in self.aspects)), 4)

    @property
    def max_points(self) -> float:
        return round(float(sum(aspect.max_points for aspect in self.aspects)), 4)

    @property
    def passed(self) -> bool:
        return self.state == RIGHT
