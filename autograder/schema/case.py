"""A case: a question that is put to an answer, and how its result is judged. Data only.

Most cases are one call with tensors and numbers:

    Case("more keys than queries", (q, k, v))

An argument may also be a `Module`, an `Optimizer` for one, a `Seed` (for a torch.Generator), or a `Given`
function or class of the course. A case may also make several calls, keep their results and pass them to later
calls:

    Case("one token at a time", kwargs={"x": x[:, :3], "y": x[:, 3:]}, script=(
        Call(args=(Kept("x"),), keep="first"),
        Call(args=(Kept("y"), Kept("first", 1)), keep="next"),
    ), expect={"next": close(10.0)})

A `Match` says how a result is compared (see autograder.values.compare).

A case has three parts: the call (`Called`), what is checked besides its result (`Asked`), and what only the
judge knows (`Judged`). The first two form the `Question` that is sent to the answer's process.
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
FULLY_MASKED = "fully masked queries"
REFUSALS = "inputs to refuse"
CALLS_OF = "calls of "  # prefix of the keys under which the recorded calls of a function or part are returned

# A factor that lowers the float32 tolerance (1e-4) to 1e-9: the rounding error of a short sum is far smaller
# than that in float64, and larger in float32.
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
    """An optimiser of torch.optim over the parameters of the argument `of` (given by its name, or by its
    position as text).
    """

    kind: str
    options: Mapping[str, Any]
    of: str


@dataclass(frozen=True)
class Seed:
    """A torch.Generator as data: the number with which it is seeded."""

    number: int


@dataclass(frozen=True)
class Given:
    """A function or class that the course passes to the answer. `code` defines it under the name `name`; the
    code runs in the answer's process and can use `values`.
    """

    name: str
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A reference in a script, by name, to an argument of the case or to a result that a call kept. With
    `item`, it refers to one item of that argument or result.
    """

    name: str
    item: int | str | None = None


@dataclass(frozen=True)
class Call:
    """A call in a script. `to` names what is called: the answer (in a class exercise, the module), an
    argument of the case, or a kept result.

    The call's result is kept under the name `keep`. A kept result is part of the case's result unless `shown`
    is False, as it is for a module, which cannot be compared.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    keep: str | None = None
    to: str = "answer"
    shown: bool = True


@dataclass(frozen=True)
class Called:
    """The part of a case that says what is called.

    args       positional arguments: tensors, numbers, None, Module; in a class exercise, those of `forward`
    kwargs     arguments by keyword
    init       arguments of the constructor (class exercises); a mapping is passed by keyword
    weights    values of the module's parameters, by name (class exercises)
    script     several calls instead of one; the result is a dict of the results that they keep
    fresh      whether to build a new instance instead of loading the weights into an existing one (class
               exercises)
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
    """The part of a case that says what is checked besides the result.

    gradients         whether gradients are compared
    repeats           whether the call is made a second time, and for a module once more in evaluation mode
                      under no_grad
    changes           names (or positions, as texts) of the arguments that the answer must change: the result
                      is then a dict of "return" and the new values of these arguments
    calls             names of functions passed to the answer and of parts of the module ("experts.0"): the
                      arguments of their calls are part of the result, as "calls of NAME"
    result_mask       name of an argument, a mask over the first axes of the result: where it is False, the
                      result is not compared
    modes             whether even the modules named in `changes` must keep their mode (training or
                      evaluation); all other modules must keep it anyway
    exact_state_dict  whether the module's state dict must hold `weights` and nothing else
    new               whether to make two new modules instead of a call, and judge their initial parameters
                      (class exercises)
    slow              whether a right answer may take long: a hidden check then includes the case only once,
                      its operations are not recorded, and an answer that runs out of time here is still
                      called on the other cases
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
    """The part of a case that the answer's process receives, with settings for how the answer is observed
    there.

    observe    whether the operations used are observed closely, for the rules of form
    record     whether operations are recorded at all (set by a check, which records them in some cases only)
    suspects   prefixes of the names of operations that a rule forbids: if one of them was used, the probe
               finds out whether the result depends on it (set by a check)
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
        """True if the operations that the answer uses are recorded."""
        return self.record and not self.slow and not self.new


@dataclass(frozen=True)
class Work:
    """A limit on the work of a call: the number of entries that its kernels read and make in total.

    limit   the number of entries at or above which the work is too much
    beyond  the family of another case, whose work is first subtracted `times` times, so that only the part
            that grows faster than the input is left
    pieces  a power of two: only kernels that make at least this many entries count
    """

    limit: int
    _: KW_ONLY
    beyond: str | None = None
    times: int = 1
    pieces: int = 1


@dataclass(frozen=True)
class Judged:
    """The part of a case that only the judge knows.

    family     a short description, also shown to the learner: "more keys than queries"
    aspect     the aspect that loses its points if the value is wrong here
    needs      names of the requirements that this case has but the simplest case does not; they are keys of
               `Exercise.needs`
    expect     how the result is compared; if the result is a dict, how each of its items is compared
    scale      factor for the tolerance: the rounding error of a right float32 answer may be this many times
               larger than for unit-size inputs
    raises     name of the exception that the answer must raise
    entries    the number of entries at or above which an intermediate tensor is too large; counts only with
               `observe`
    work       a limit on the entries read and made; counts only with `observe`
    float64    whether the standard float64 case is derived from this case instead of the first. Mark a case
               whose sizes are powers of four: their square roots are exact in float32, so that an answer that
               computes its scale from `torch.tensor(d)` passes
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
    """One case, written in one line: `Case(family, args, kwargs, ...)`, with the other fields by name."""


SPECS = (Module, Optimizer, Seed, Given, Kept, Call, Match, Work)


def named_arguments(case: Question) -> dict[str, Any]:
    """Return the arguments by the names that `Kept` uses for them: the position as text, or the keyword."""
    return {str(place): arg for place, arg in enumerate(case.args)} | dict(case.kwargs)


def float_type(case: Question) -> torch.dtype:
    """Return the dtype of the float inputs: that of the first argument that is a float tensor. If no argument
    is one, return the dtype of the first float tensor within an argument or among the weights; if there is
    none there either, return float32.
    """
    tensors = [arg for arg in (*case.args, *case.kwargs.values()) if isinstance(arg, torch.Tensor)]
    found = next(_floats([tensors, case.args, case.kwargs, case.weights]), None)
    return torch.float32 if found is None else found.dtype


def module_key(case: Question, dtype: torch.dtype) -> tuple:
    """Return the key of the module that a case calls: cases with the same key call the same module, unless it
    `is_called_on_new_module`.
    """
    # subtle: changing the type may give shared parameters separate storage, so a module keeps its type.
    return repr(case.init), dtype


def is_called_on_new_module(case: Question) -> bool:
    """Return whether a new module is made for a case."""
    values = case.init.values() if isinstance(case.init, Mapping) else case.init
    # subtle: two different tensors can print alike.
    return case.fresh or not all(type(value) in (bool, int, float, str, type(None)) for value in values)


def _floats(value: object) -> Iterator[torch.Tensor]:
    return (tensor for tensor in tensors_in(value) if tensor.is_floating_point())


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """Yield the tensors within an argument, including the weights of modules."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Module):
        yield from tensors_in(value.weights)
    elif isinstance(value, (tuple, list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from tensors_in(item)
