"""The judge's verdict on an answer."""

from dataclasses import dataclass
from typing import Any

NOT_STARTED = "not started"
DOES_NOT_RUN = "does not run"
WRONG = "wrong"
PARTLY_RIGHT = "partly right"
RIGHT = "right"


@dataclass(frozen=True)
class Aspect:
    """One named share of an exercise's points."""

    name: str
    points: float
    max_points: float


@dataclass(frozen=True)
class Picture:
    """Two matrices to show side by side, and the worst cell."""

    expected: list[list[float]]
    actual: list[list[float]]
    worst: tuple[int, int]
    title: str


@dataclass(frozen=True)
class Verdict:
    """The state of an answer, its points by aspect, and at most three lines of text."""

    exercise: str
    state: str
    aspects: tuple[Aspect, ...]
    message: str = ""
    mistake: str | None = None
    picture: Picture | None = None

    @property
    def points(self) -> float:
        return float(sum(aspect.points for aspect in self.aspects))

    @property
    def max_points(self) -> float:
        return float(sum(aspect.max_points for aspect in self.aspects))

    @property
    def passed(self) -> bool:
        return self.state == RIGHT


def verdict_from(data: dict[str, Any]) -> Verdict:
    """The verdict that `dataclasses.asdict` was given."""
    picture = data.get("picture")
    return Verdict(
        data["exercise"],
        data["state"],
        tuple(Aspect(**aspect) for aspect in data["aspects"]),
        data["message"],
        data["mistake"],
        Picture(**picture) if picture else None,
    )
