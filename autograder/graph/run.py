"""Runs the function or module to be drawn, once, and names tensors and modules as the learner's code does.

An exception raised by that code becomes part of the trace.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import nn

from autograder.errors import OUR_ERROR, place_of
from autograder.faults import is_own_fault, trust_boundary
from autograder.graph.model import plain_text, shape_text
from autograder.graph.operations import SIGNS
from autograder.graph.steps import Outputs, Step, tensors_in
from autograder.graph.trace import TooLong, Tracer
from autograder.graph.untouched import copied, undisturbed

_UNSEEN = (
    "The steps to its result cannot be seen: they are not PyTorch calls made here "
    "(TorchScript, another thread, or a cached result)."
)


@dataclass
class Trace:
    """A recorded computation: all steps in order, the outputs, and what went wrong."""

    title: str
    steps: list[Step]
    outputs: Outputs = field(default_factory=list)  # empty if no tensor was returned
    returned: str = ""  # what was returned instead
    error: BaseException | None = None
    failed: Step | None = None
    unseen: bool = False  # some result comes from no observed step
    broken: Exception | None = None  # an error of the tracer

    @property
    def stopped(self) -> str:
        """A sentence that says where and why the recording ended early, or why steps are missing; empty if
        every step was recorded.
        """
        error, step = self.error, self.failed
        if isinstance(error, TooLong):
            return "This takes more steps than can be drawn: try a shorter input."
        if self.broken is not None:
            return f"Not every step could be recorded: this is {OUR_ERROR} ({place_of(self.broken)})."
        if error is None:
            return _UNSEEN if self.unseen else ""
        reason = ": ".join(filter(None, (type(error).__name__, _message(error))))
        if reason == "NotImplementedError":
            return "Stopped by NotImplementedError: not written yet."
        if step is None:
            return plain_text(f"Stopped by {reason}", 260)
        if step.op in ("backward", "grad"):
            return f"Stopped at {step.op}: no gradients are computed while a graph is drawn."
        sign = f" ({SIGNS[step.op]})" if step.op in SIGNS else ""
        where = f" in {step.box}" if step.box else ""
        shapes = " and ".join(shape_text(shape) for shape in step.met)
        met = f", where {shapes} met" if len(step.met) > 1 else f", given {shapes}" if step.met else ""
        return plain_text(f"Stopped at {step.op}{sign}{where}{met}. {reason}", 320)


def _message(error: BaseException) -> str:
    """Return the first line of an error's text; "" if `__str__`, which may be the student's, fails."""
    try:
        text = "" if isinstance(error, SystemExit) and error.code is None else str(error)
    except Exception:  # `__str__` may be the student's
        return ""
    return plain_text(text.strip().split("\n")[0], 160)


def trace(target: Callable, inputs: tuple, named: dict) -> Trace:
    """Run a copy of `target` on copies of the arguments, and return the Trace."""
    memo: dict = {}
    names: dict = {}
    target = copied(target, memo)
    values = {name: copied(value, memo) for name, value in named_arguments(target, inputs, named)}
    parts = _name_surroundings(target, names)
    tracer = Tracer(names)
    for name, value in values.items():
        if isinstance(value, nn.Module):
            _name_parts(value, name, names)
            parts[name] = value
        found = list(_named_tensors(value, name))
        for label, tensor in found:
            tracer.leaf(tensor, "input", name if len(found) == 1 else label)
    result = Trace(title_of(target), tracer.steps)
    arguments = list(values.values())
    with undisturbed(parts.values()):
        _call(target, arguments[: len(inputs)], dict(zip(named, arguments[len(inputs) :])), tracer, result)
    return result


def _named_tensors(value: object, name: str, depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (expression, tensor) for each tensor in nested lists, tuples and dicts; an expression is, for
    instance, x[0] or batch['mask'].
    """
    if isinstance(value, torch.Tensor):
        yield name, value
    elif depth < 6 and isinstance(value, (list, tuple, dict)):
        parts: Iterable[tuple] = value.items() if isinstance(value, dict) else enumerate(value)
        for number, (key, part) in enumerate(parts):
            # For any other key, repr runs the class's own code, and the text may be long.
            label = repr(key) if type(key) in (str, int) else number
            yield from _named_tensors(part, f"{name}[{label}]", depth + 1)


def _name_surroundings(function: Callable, names: dict[int, str]) -> dict[str, nn.Module]:
    """Name the modules and tensors that a function uses besides its arguments. Return a dict of the modules
    that the function takes from globals or from an enclosing function, keyed by name.
    """
    owner = getattr(function, "__self__", function)
    if isinstance(owner, nn.Module):
        _name_parts(owner, "", names)
    try:
        found = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return {}
    around = {**found.globals, **found.nonlocals}
    parts = {name: value for name, value in around.items() if isinstance(value, nn.Module)}
    for name, value in around.items():
        if name in parts:
            _name_parts(value, "" if len(parts) == 1 else name, names)
        elif isinstance(value, torch.Tensor):
            names.setdefault(id(value), name)
    return parts


@trust_boundary
def _call(target: Callable, inputs: list, named: dict, tracer: Tracer, result: Trace) -> None:
    try:
        with torch.no_grad(), tracer:
            value = target(*inputs, **named)
        found = list(tensors_in(value))
        result.unseen = bool(tracer.steps) and any(tracer.is_strange(tensor) for tensor in found[:8])
        result.outputs = [(tracer.sources(tensor), tuple(tensor.shape)) for tensor in found[:8]]
        result.returned = (
            "" if found else ("None" if value is None else f"a value of type {type(value).__name__}")
        )
    except (Exception, SystemExit, TooLong) as error:
        if not isinstance(error, TooLong) and is_own_fault(error):
            raise
        result.error = error.with_traceback(None)
        causes = {id(error), id(error.__cause__), id(error.__context__)}
        result.failed = next((step for found, step in reversed(tracer.failures) if id(found) in causes), None)
    result.broken = tracer.broken


def title_of(target: object) -> str:
    """Return the name of a callable: attention, SelfAttention, MultiheadSelfAttention.split_heads."""
    if isinstance(target, nn.Module):
        return type(target).__name__
    if hasattr(target, "func"):
        return title_of(target.func)
    if inspect.isbuiltin(target):
        return target.__name__
    name = getattr(target, "__qualname__", type(target).__name__)
    return name.split("<locals>.")[-1].replace("<lambda>", "lambda")


def named_arguments(target: Callable, inputs: tuple, named: dict) -> list[tuple[str, object]]:
    """Return (name, value) for each argument; positional ones are named as in the signature."""
    names: list[str] = []
    for parameter in _parameters(target):
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(len(inputs) - len(names))]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            names.append(parameter.name)
    names += [f"input {i + 1}" for i in range(len(names), len(inputs))]
    return [*zip(names, inputs), *named.items()]


def _parameters(target: Callable) -> Iterable[inspect.Parameter]:
    """Return the parameters of a function, or of a module's `forward`; none if it has no signature."""
    function = target.forward if isinstance(target, nn.Module) else target
    with suppress(TypeError, ValueError):
        # PyTorch's functions in C have no signature. This table maps each to a Python function that takes the
        # same arguments.
        function = torch.overrides.get_testing_overrides().get(function, function)
    with suppress(TypeError, ValueError):
        return inspect.signature(function).parameters.values()
    return ()


def _name_parts(module: nn.Module, prefix: str, names: dict[int, str]) -> None:
    for kind in (module.named_modules, module.named_parameters, module.named_buffers):
        for name, part in kind(remove_duplicate=True):
            names[id(part)] = ".".join(word for word in (prefix, name) if word)
