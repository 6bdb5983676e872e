"""A finding, its rungs, and the case that it is about."""

from dataclasses import dataclass

import numpy as np

from autograder.exercises.exercise import VALUES, Case, Exercise
from autograder.judge import words

PARTS, RUNS, TYPE, SHAPE, CHANGED, REPEATS, FINITE, NUMBERS, DTYPE, GRADIENT = range(10)


@dataclass(frozen=True)
class Finding:
    """One thing wrong in one case: the aspect it costs, its rung, what is seen, what to ask, the numbers."""

    aspect: str
    rung: int
    case: int
    sees: str
    asks: str
    detail: str = ""
    step: str = "output"
    index: tuple = ()


@dataclass(frozen=True)
class Look:
    """A case that is looked at, and the findings that are made of it."""

    exercise: Exercise
    case: Case
    number: int = 0

    def finding(
        self,
        rung: int,
        sees: str,
        asks: str,
        aspect: str | None = None,
        detail: str | None = None,
        step: str = "output",
        index: tuple = (),
    ) -> Finding:
        """Costs the case's aspect, and is told with what was given, where nothing else is said."""
        aspect = aspect or self.case.aspect
        aspect = aspect if aspect in self.exercise.aspects else VALUES
        detail = self.given() if detail is None else detail
        return Finding(aspect, rung, self.number, sees, asks, detail, step, index)

    def given(self) -> str:
        """What the answer was called with, in words."""
        return words.arguments(self.exercise, self.case)

    def name_of(self, key: str) -> str:
        """A recorded tensor's name."""
        return words.name_of(self.exercise, key)


def worst(far) -> tuple[int, ...]:
    """The place of the entry that is off the furthest."""
    # subtle: torch.unravel_index does the same, but imports half a second of symbolic algebra.
    return tuple(int(i) for i in np.unravel_index(int(far.argmax()), tuple(far.shape)))
