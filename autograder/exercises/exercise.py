"""What an exercise is. Data only: nothing here calls an answer or compares anything.

An exercise asks for one function or one class. It knows

- a `reference`, written with PyTorch's own functions, which is run in float64;
- `cases`, the questions put to an answer;
- `mistakes`, wrong answers that people really give, each with what a tutor sees and asks;
- `rules` of form, `hints`, and how its points are split over named `aspects`.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

VALUES = "values"
STABILITY = "numerical stability"
GRADIENTS = "gradients"
SIDE_EFFECTS = "no side effects"
DTYPES = "float64"
EMPTY_ROWS = "queries that may attend to nothing"
REFUSALS = "sizes that do not fit"


@dataclass(frozen=True)
class Module:
    """A module as data: `kind` is a name the probe can build, `weights` its parameters by name."""

    kind: str
    init: Mapping = field(default_factory=dict)
    weights: Mapping = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One question: what the answer is called with, and what is looked at.

    family     a few words, also shown to the learner: "more keys than queries"
    args       tensors, numbers, None, Module; for a class exercise the arguments of `forward`
    kwargs     the same by keyword
    init       arguments of the constructor (class exercises); a mapping is given by keyword
    weights    values of the module's parameters by name (class exercises)
    whole      whether `weights` is all that the module's state dict may hold
    aspect     the aspect that a wrong value here costs
    gradients  whether gradients are compared
    raises     name of the exception that is right here
    observe    whether the operations used are recorded, for the rules of form
    fresh      build a new instance instead of giving other weights to the one at hand
    scale      how large a rounding error of a right float32 answer may be, relative to unit-size inputs
    """

    family: str
    args: tuple = ()
    kwargs: Mapping = field(default_factory=dict)
    init: tuple | Mapping = ()
    weights: Mapping = field(default_factory=dict)
    whole: bool = False
    aspect: str = VALUES
    gradients: bool = True
    raises: str | None = None
    observe: bool = False
    fresh: bool = False
    scale: float = 1.0


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that runs, what a tutor sees in its numbers, and the one question to ask.

    `changes` says the same as a few named changes of the exercise's `variant`, so that two mistakes
    made at once can be recognised too.
    """

    id: str
    title: str
    sees: str
    asks: str
    answer: Callable
    changes: Mapping | None = None


@dataclass(frozen=True)
class Rules:
    """Rules of form. `loops` is "required", "forbidden" or None; `forbidden` names groups of primitives
    that `autograder.judge.rules` knows."""

    loops: str | None = None
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Invariant:
    """Something that must hold over the outputs of several cases.

    `kind` names the test, which `autograder.judge.invariants` knows; `families` are the cases that it looks at.
    `sees` and `asks` are told to the learner where it does not hold.
    """

    kind: str
    families: tuple[str, ...]
    sees: str
    asks: str


@dataclass(frozen=True)
class Clue:
    """What is told of an answer that is wrong in all families of `wrong` and right in all of `right`: cases
    that need one part of it only say which part to look at."""

    wrong: tuple[str, ...]
    right: tuple[str, ...]
    sees: str
    asks: str


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course; see the module's text. `shapes` names the axes of every tensor argument
    and of the result ("return"), in the course's letters, for messages."""

    id: str
    lesson: str
    minutes: int
    difficulty: int
    reference: Callable
    cases: Callable[..., Iterable[Case]]
    aspects: Mapping[str, int]
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    shapes: Mapping[str, str] = field(default_factory=dict)
    rules: Rules = Rules()
    invariants: tuple[Invariant, ...] = ()
    clues: tuple[Clue, ...] = ()
    variant: Callable | None = None
    procedure: str = "function"

    @property
    def topic(self) -> str:
        return self.id.partition(".")[0]

    @property
    def name(self) -> str:
        return self.id.partition(".")[2]

    @property
    def points(self) -> int:
        return sum(self.aspects.values())

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments, as the contract names them."""
        function = self.reference.forward if inspect.isclass(self.reference) else self.reference
        return tuple(name for name in inspect.signature(function).parameters if name != "self")
