"""Defines a finding, its level, and the case that it is about."""

from dataclasses import dataclass

from autograder.judge import formatting
from autograder.schema.case import VALUES, Case
from autograder.schema.exercise import Exercise
from autograder.values import Encoded

# The levels, from the outside of an answer to the inside.
PARTS, RUNS, TYPE, SHAPE, CHANGED, REPEATS, FINITE, NUMBERS, DTYPE, GRADIENT = range(10)


@dataclass(frozen=True)
class Finding:
    """One fault in one case: the aspect whose points it costs, its level, an observation and a question for
    the student, and a description of the case (`detail`).

    `mistake` is the id of the mistake that this finding proves by itself, if any (see
    autograder.judge.general).
    """

    aspect: str
    level: int
    case: int
    observation: str
    question: str
    detail: str = ""
    step: str = "output"
    index: tuple[int, ...] = ()
    mistake: str = ""


@dataclass(frozen=True)
class CaseContext:
    """The case that is being checked, with methods that make the findings about it. `infinities` says whether
    the right result of some case of the exercise holds an infinity.
    """

    exercise: Exercise
    case: Case
    number: int = 0
    infinities: bool = False

    def finding(
        self,
        level: int,
        observation: str,
        question: str,
        aspect: str | None = None,
        detail: str | None = None,
        step: str = "output",
        index: tuple[int, ...] = (),
        mistake: str = "",
    ) -> Finding:
        """Return a finding about this case. By default it costs the points of the case's aspect, and its
        detail lists the case's arguments. If the exercise does not have the aspect, the finding costs the
        points of VALUES.
        """
        aspect = aspect or self.case.aspect
        aspect = aspect if aspect in self.exercise.aspects else VALUES
        detail = self.arguments() if detail is None else detail
        return Finding(aspect, level, self.number, observation, question, detail, step, index, mistake)

    def arguments(self) -> str:
        """Return the case's arguments as text."""
        return formatting.format_arguments(self.exercise, self.case)

    def name_of(self, key: str) -> str:
        """Return a readable name for the key of an encoded tensor."""
        return formatting.name_of(self.exercise, key)


def named_items(step: Encoded) -> dict[str, Encoded]:
    """Return a dict of the items of an encoded dict, keyed by name; an empty dict for any other value."""
    return dict(zip(step["keys"], step["items"], strict=False)) if step["kind"] == "dict" else {}
