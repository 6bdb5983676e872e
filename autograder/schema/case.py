"""A case: one question for an answer, and how its result is judged. Data only.

Most cases are one call with tensors and numbers:

    Case("more keys than queries", (q, k, v))

An argument may also be a `Module`, an `Optimizer` of one, a `Seed` (a torch.Generator), or a `Given` function
or class of the course's own. A case may call several times, keep the results and pass them to later calls:

    Case("one token at a time", kwargs={"x": x[:, :3], "y": x[:, 3:]}, script=(
        Call(args=(Kept("x"),), keep="first"),
        Call(args=(Kept("y"), Kept("first", 1)), keep="next"),
    ), expect={"next": close(10.0)})

A `Match` says how a result is compared (see autograder.values.compare).

A case has three parts: what is `Called`, what is `Asked`, and what only the judge knows (`Judged`). The first
two are the `Question` that goes to the answer's process.
"""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import torch

from autograder.values.compare import CLOSE, Match

VALUES = "values"
STABILITY = "numerical stability"
GRADIENTS = "gradients"
SIDE_EFFECTS = "no side effects"
DTYPES = "float64"
FULLY_MASKED = "queries that may attend to nothing"
REFUSALS = "inputs to refuse"
CALLS_OF = "calls of "  # prefix of the keys under which the calls of a given function or a part are returned

# Relative to the float32 tolerance (1e-4): rounding in a short float64 sum is far below 1e-9, in float32
# above.
IN_DOUBLE = 1e-5


@dataclass(frozen=True)
class Module:
    """A module as data: `kind` names a class of torch.nn, or one that `code` defines; `weights` are its
    parameters by name."""

    kind: str
    init: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, torch.Tensor] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Optimizer:
    """An optimiser of torch.optim over the parameters of the argument `of` (its name, or its position as
    text).
    """

    kind: str
    options: Mapping[str, Any]
    of: str


@dataclass(frozen=True)
class Seed:
    """A torch.Generator that starts from this number."""

    number: int


@dataclass(frozen=True)
class Given:
    """A function of the course: `name` in `code`, which runs in the answer's process and can use `values`."""

    name: str
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A reference in a script: the name of an argument of the case, or of the result that a call kept; with
    `item`, to one item of it.
    """

    name: str
    item: int | str | None = None


@dataclass(frozen=True)
class Call:
    """A call in a script: of the answer (of a class exercise: of the module), or of a kept result.

    A kept result is part of the case's result unless `shown` is False, as for a module, which cannot be
    compared.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    keep: str | None = None
    to: str = "answer"
    shown: bool = True


@dataclass(frozen=True)
class Called:
    """The call.

    args       tensors, numbers, None, Module; for a class exercise the arguments of `forward`
    kwargs     the same by keyword
    init       arguments of the constructor (class exercises); a mapping is given by keyword
    weights    values of the module's parameters by name (class exercises)
    script     several calls instead of one; the result is a dict of the results that they keep
    fresh      build a new instance instead of loading other weights into the last one
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    init: tuple[Any, ...] | Mapping[str, Any] = ()
    weights: Mapping[str, torch.Tensor] = field(default_factory=dict)
    script: tuple[Call, ...] = ()
    fresh: bool = False


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The checks of the calls, besides the result.

    gradients         whether gradients are compared
    repeats           whether a second call is made, and for a module one in evaluation mode and under no_grad
    changes           names (or positions, as texts) of the arguments that the answer must change: their new values are
                      part of the result, a dict with "return" and these
    calls             names of given functions and of parts of the module ("experts.0"): the arguments of their calls
                      are part of the result, as "calls of NAME"
    result_mask       name of an argument, a mask over the first axes of the result: where it is False, the result is
                      not compared
    modes             whether the modules among the arguments must keep their mode (training or evaluation)
    exact_state_dict  whether the module's state dict must hold `weights` and nothing else
    new               make two modules instead, and judge the parameters that they start with (class exercises)
    slow              whether a right answer may take long: the case is drawn once, its operations are not recorded,
                      and an answer that runs out of time here is still called on the other cases
    """

    gradients: bool = True
    repeats: bool = True
    changes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    result_mask: str | None = None
    modes: bool = False
    exact_state_dict: bool = False
    new: bool = False
    slow: bool = False


@dataclass(frozen=True)
class Question(Asked, Called):
    """The part of a case that an answer's process receives, and how closely it is observed there.

    observe    whether the operations used are observed closely, for the rules of form
    record     whether operations are recorded at all (set by a check, which records them in some cases only)
    suspects   beginnings of the names of operations that a rule forbids: if one was used, the probe finds out whether
               the result comes from it (a check fills this in)
    program    whether operations are recorded so that they can be run again (autograder.probe.program; set by
               a check)
    elsewhere  whether the call is made on another device as well (autograder.probe.elsewhere; set by a check)
    """

    _: KW_ONLY
    observe: bool = False
    record: bool = True
    suspects: tuple[str, ...] = ()
    program: bool = False
    elsewhere: bool = False

    @property
    def returns_dict(self) -> bool:
        """True if the result is a dict that the case defines, not the value that the answer returns."""
        return bool(self.script or self.changes or self.calls)

    @property
    def has_usage(self) -> bool:
        """True if the operations used are part of its record."""
        return self.record and not self.slow and not self.new


@dataclass(frozen=True)
class Work:
    """A limit on the entries that the kernels of a call read and make in all.

    limit   the number of entries at which it is too much
    beyond  the family of another case whose work is subtracted first, `times` times: the rest is what grows faster than
            the input
    pieces  only kernels that make at least so many entries count; a power of two
    """

    limit: int
    _: KW_ONLY
    beyond: str | None = None
    times: int = 1
    pieces: int = 1


@dataclass(frozen=True)
class Judged:
    """The part of a case that only the judge knows.

    family     a few words, also shown to the learner: "more keys than queries"
    aspect     the aspect whose points a wrong value here costs
    needs      names of what a right result here needs beyond the simplest case (`Exercise.needs`)
    expect     how the result is compared; for a result that is a dict, how each item is
    scale      how large the rounding error of a right float32 answer may be, relative to unit-size inputs
    raises     name of the exception that the answer must raise
    entries    the number of entries at which an intermediate tensor is too large, in a case that is observed closely
    work       a limit on all that is read and made, in a case that is observed closely
    float64    derive the standard float64 case from this case instead of the first. Mark a case whose sizes are powers
               of four: their square roots are exact in float32, so a scale from `torch.tensor(d)` passes
    """

    family: str
    _: KW_ONLY
    aspect: str = VALUES
    needs: tuple[str, ...] = ()
    expect: Match | Mapping[str, Match] = CLOSE
    scale: float = 1.0
    raises: str | None = None
    entries: int | None = None
    work: Work | None = None
    float64: bool = False

    def match_of(self, name: str = "") -> Match:
        """Return how the result, or its item called `name`, is compared."""
        match = self.expect if isinstance(self.expect, Match) else self.expect.get(name, CLOSE)
        return Match(match.how, match.scale * self.scale)


@dataclass(frozen=True)
class Case(Question, Judged):
    """One case, written in one row: `Case(family, args, kwargs, ...)` with the fields above by name."""


SPECS = (Module, Optimizer, Seed, Given, Kept, Call, Match, Work)


def named_arguments(case: Question) -> dict[str, Any]:
    """Return the arguments by the names that `Kept` has for them: a position, or the keyword."""
    return {str(place): arg for place, arg in enumerate(case.args)} | dict(case.kwargs)


def float_type(case: Question) -> torch.dtype:
    """Return the type of the float inputs: of the first argument that is a tensor of floats, else of the
    first such tensor within an argument or among the weights.
    """
    tensors = [arg for arg in (*case.args, *case.kwargs.values()) if isinstance(arg, torch.Tensor)]
    found = next(_floats([tensors, case.args, case.kwargs, case.weights]), None)
    return torch.float32 if found is None else found.dtype


def _floats(value: object) -> Iterator[torch.Tensor]:
    return (tensor for tensor in tensors_in(value) if tensor.is_floating_point())


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """Yield the tensors within an argument, including those of modules."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Module):
        yield from tensors_in(value.weights)
    elif isinstance(value, (tuple, list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from tensors_in(item)
