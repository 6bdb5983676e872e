"""An exercise. Data only: nothing here calls an answer or compares anything.

An exercise asks for one function or one class. It has

- a `reference`, written with PyTorch's own functions, which is run in float64;
- `cases`, the questions that are put to an answer;
- `mistakes`, wrong answers that people give, each with a tutor's observation and question;
- `rules` of form, `hints`, and `aspects`, over which its points are split.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from autograder.schema.case import DTYPES, Case
from autograder.schema.draw import Draw
from autograder.schema.guards import (
    refuse_other_aspects,
    refuse_other_families,
    refuse_other_needs,
    refuse_what_judges_nothing,
)
from autograder.schema.mistake import Mistake, completed
from autograder.schema.raising import raising_cases
from autograder.schema.standard import as_exact_as_float64, kinds_of, on_another_device, standard_cases
from autograder.schema.twice import called_twice

PROCEDURES = ("function", "class")  # kinds of exercises


@dataclass(frozen=True)
class Rules:
    """Rules of form.

    loops      "required", "forbidden" or None
    forbidden  names of groups of operations in `autograder.judge.rules`
    rows       letters of axes, for exercises that forbid a matrix product: an operation that multiplies and
               sums may make at most as many entries as the longest of these axes has
    large      the observation and the question for a tensor that exceeds the `entries` of a case
    work       the observation and the question for work that exceeds the `work` of a case
    """

    loops: str | None = None
    forbidden: tuple[str, ...] = ()
    rows: str = ""
    large: tuple[str, ...] = ()
    work: tuple[str, ...] = ()


@dataclass(frozen=True)
class Invariant:
    """A condition on the outputs of several cases.

    `kind` names its test in `autograder.judge.invariants`; `families` names the cases whose outputs the test
    compares. If the condition does not hold, the learner reads `observation` and `question`.
    """

    kind: str
    families: tuple[str, ...]
    observation: str
    question: str


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise of the course (see the top of this file).

    number    its position in the lesson, from 1
    worked    a simple right answer with the exercise's name; most mistakes are edits of it
    shapes    the axes of every tensor argument and of the result ("return") in the course's letters, for
              messages
    standard  kinds of cases to derive from the exercise's own: "float64"; "transposed" (tensors stored column
              by column, added automatically where it applies); "by name" (arguments by keyword); and "new" (a
              new module, whose parameters must be random)
    needs     requirement -> (observation, question), shown when only cases with that requirement
              (`Case.needs`) fail. The pair under "" is shown when every case without a requirement fails
    id, lesson  follow from the path of the exercise's file
    """

    minutes: int
    difficulty: int
    reference: Callable
    cases: Callable[[Draw], Iterable[Case]]
    aspects: Mapping[str, float]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    number: int = 0
    worked: Callable | None = None
    id: str = ""
    lesson: str = ""
    shapes: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = Rules()
    invariants: tuple[Invariant, ...] = ()
    needs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    standard: tuple[str, ...] = ()
    procedure: str = ""

    def __post_init__(self) -> None:
        if not self.procedure:
            kind = "class" if inspect.isclass(self.reference) else "function"
            object.__setattr__(self, "procedure", kind)
        if self.procedure not in PROCEDURES:
            raise ValueError(f"{self.id}: there is no procedure {self.procedure!r}")
        if self.worked is not None and any(mistake.worked is not self.worked for mistake in self.mistakes):
            object.__setattr__(self, "mistakes", completed(self.worked, self.mistakes))

    def drawn(self, draw: Draw) -> list[Case]:
        """Return the cases with the inputs that `draw` yields: the exercise's own, the standard ones, the
        case of two successive calls, and those in which a function or model that the answer receives raises
        an error. Raises UserError if the cases contradict the rest of the exercise, for instance its `needs`
        or `aspects`.
        """
        own_cases = list(self.cases(draw))
        kinds = kinds_of(own_cases, self.standard)
        refuse_what_judges_nothing(self, own_cases)
        cases = own_cases + standard_cases(own_cases, kinds, self.parameters, self.reference)
        cases += called_twice(own_cases, self.cases(draw.of_the_same_sizes()), self.parameters)
        cases += raising_cases(own_cases, self.parameters, self.aspects)
        refuse_other_aspects(self, own_cases, cases)
        refuse_other_needs(self.id, self.needs, cases)
        refuse_other_families(self, cases)
        cases = on_another_device(cases, self.parameters)
        return [as_exact_as_float64(case) for case in cases] if DTYPES in self.aspects else cases

    @property
    def topic(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        return self.id.partition(".")[2]

    @property
    def points(self) -> float:
        return round(sum(self.aspects.values()), 4)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the reference's arguments; for a class, those of `forward`."""
        function = getattr(self.reference, "forward", self.reference)
        return tuple(name for name in inspect.signature(function).parameters if name != "self")
