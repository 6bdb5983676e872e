"""Calls what is to be drawn, once, and gives everything a name that a learner knows.

Whatever the code raises becomes part of the trace.
"""

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import nn

from autograder.errors import UserError
from autograder.graph.steps import Step, tensors_in
from autograder.graph.trace import TooLong, Tracer
from autograder.graph.untouched import as_written, copied, undisturbed


class BadUse(UserError):
    """draw or compare was called in a way that cannot work; a notebook shows the sentence alone."""

    def _render_traceback_(self):
        return [str(self)]


@dataclass
class Trace:
    """All steps in order, what they gave, and what went wrong."""

    title: str
    steps: list[Step]
    outputs: list = field(default_factory=list)  # of (steps, shape); empty where no tensor came back
    returned: str = ""  # what came back instead
    error: BaseException | None = None
    failed: Step | None = None
    too_long: bool = False
    unseen: bool = False  # a result came from nowhere
    broken: Exception | None = None  # an error of the tracer


def trace(target: Callable, inputs: tuple, named: dict) -> Trace:
    """Runs `target(*inputs, **named)` and returns its Trace."""
    memo: dict = {}
    names: dict = {}
    target = as_written(target)
    target_name = title_of(target)
    target = copied(target, memo)
    values = {name: copied(value, memo) for name, value in named_arguments(target, inputs, named)}
    bare = _without_partial(target, names)
    owner = getattr(bare, "__self__", bare)
    parts = _name_surroundings(bare, owner, names)
    tracer = Tracer(names)
    leaves: dict = {}
    for name, value in values.items():
        if isinstance(value, nn.Module):
            _name_parts(value, name, names)
            parts[name] = value
        found = list(tensors_in(value))
        leaves |= {name if len(found) == 1 else f"{name}[{i}]": tensor for i, tensor in enumerate(found)}
    tracer.classes = _classes_of_parts([owner, *parts.values()], names)
    for name, tensor in leaves.items():
        tracer.leaf(tensor, "input", name)
    result = Trace(target_name, tracer.steps)
    arguments = list(values.values())
    with undisturbed(parts.values()):
        _call(target, arguments[: len(inputs)], dict(zip(named, arguments[len(inputs) :])), tracer, result)
    return result


def _name_surroundings(function, owner, names):
    """Names what is used beside the arguments; returns the modules that a plain function uses, by name."""
    if isinstance(owner, nn.Module):
        _name_parts(owner, "", names)
    reached = _reached(function)
    parts = {name: value for name, value in reached.items() if isinstance(value, nn.Module)}
    for name, value in reached.items():
        if name in parts:
            _name_parts(value, "" if len(parts) == 1 else name, names)
        else:
            names.setdefault(id(value), name)
    return parts


def _classes_of_parts(owners, names):
    modules = [module for owner in owners if isinstance(owner, nn.Module) for module in owner.modules()]
    return {names[id(module)]: type(module).__name__ for module in modules if id(module) in names}


def _call(target, inputs, named, tracer, result):
    try:
        with torch.no_grad(), tracer:
            value = target(*inputs, **named)
        found = list(tensors_in(value))
        result.unseen = bool(tracer.steps) and any(tracer.is_strange(tensor) for tensor in found[:8])
        result.outputs = [(tracer.sources(tensor), tuple(tensor.shape)) for tensor in found[:8]]
        result.returned = "" if found else ("None" if value is None else f"a value of type {type(value).__name__}")
    except TooLong:
        result.too_long = True
    except (Exception, SystemExit) as error:
        result.error = error.with_traceback(None)
        causes = {id(error), id(error.__cause__), id(error.__context__)}
        result.failed = next(
            (step for found, step in reversed(tracer.failures) if id(found) in causes), None
        )
    result.broken = tracer.broken


def title_of(target: object) -> str:
    """What the thing is called: attention, SelfAttention, MultiheadSelfAttention.split_heads."""
    if isinstance(target, nn.Module):
        return type(target).__name__
    if inspect.isbuiltin(target):
        return target.__name__
    name = getattr(target, "__qualname__", None) or type(getattr(target, "func", target)).__name__
    if hasattr(target, "func"):
        return title_of(target.func)
    return name.split("<locals>.")[-1].replace("<lambda>", "lambda")


def named_arguments(target: Callable, inputs: tuple, named: dict) -> list[tuple[str, object]]:
    """(name, value) of each argument; positional ones are named as in the signature."""
    names: list[str] = []
    for parameter in _parameters(target):
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(len(inputs) - len(names))]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            names.append(parameter.name)
    names += [f"input {i + 1}" for i in range(len(names), len(inputs))]
    return [*zip(names, inputs), *named.items()]


def _parameters(target):
    """The parameters that are left to be given; none where nothing says what they are called."""
    function = target.forward if isinstance(target, nn.Module) else target
    if isinstance(target, functools.partial) and isinstance(target.func, nn.Module):
        function = functools.partial(target.func.forward, *target.args, **target.keywords)
    with suppress(TypeError, ValueError):
        # PyTorch's functions in C say nothing themselves; there is a table.
        function = torch.overrides.get_testing_overrides().get(function, function)
    with suppress(TypeError, ValueError):
        return inspect.signature(function).parameters.values()
    return ()


def _without_partial(target, names):
    """The function or module in `functools.partial`; tensors that are given by name there are called so."""
    while isinstance(target, functools.partial):
        names.update({id(value): name for name, value in target.keywords.items()})
        target = target.func
    return target


def _reached(function):
    """Modules and tensors that a plain function uses from around it: name -> value."""
    try:
        found = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return {}
    around = {**found.globals, **found.nonlocals}
    return {name: value for name, value in around.items() if isinstance(value, nn.Module | torch.Tensor)}


def _name_parts(module, prefix, names):
    for kind in (module.named_modules, module.named_parameters, module.named_buffers):
        for name, part in kind(remove_duplicate=True):
            names[id(part)] = ".".join(word for word in (prefix, name) if word)


def must_be_callable(name: str, target: object, inputs: tuple, named: dict, depth: object = None) -> None:
    """Raises `BadUse`, one clear sentence, if the call cannot work."""
    if depth is not None and (type(depth) is not int or depth < 0):
        raise BadUse(f"{name}: depth counts how many levels of parts are opened: 0, 1, 2 ...; this is {depth!r:.40}.")
    if inspect.isclass(target):
        raise BadUse(
            f"{name}: {target.__name__} is a class; make one first, for instance "
            f"{name}({target.__name__}(...), x)."
        )
    if not callable(target):
        raise BadUse(
            f"{name} takes a function or a module and its inputs, for instance {name}(attention, q, k, v); "
            f"this is of type {type(target).__name__}."
        )
    if isinstance(target, nn.Module) and not inputs and not named:
        raise BadUse(f"{name} needs the inputs too, for instance {name}(model, x).")
