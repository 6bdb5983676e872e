"""Builds live objects from a case's data: tensors that may be changed, modules with given weights,
optimisers.
"""

import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from autograder.faults import GIVEN, trust_boundary
from autograder.isolation import OwnRandomNumbers
from autograder.schema.case import Given, Module, Optimizer, Question, Seed
from autograder.values.plain import with_strides

# The last is the class of an nn.MultiheadAttention's `out_proj`.
PLAIN_MODULES = (nn.MultiheadAttention, nn.Linear, NonDynamicallyQuantizableLinear)
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
HOOKS_OF_STATES = (
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class WrongParts(Exception):
    """Raised if a module lacks a required part, has a part of the wrong shape, or has parts that it may not
    have.
    """

    def __init__(self, expected: dict[str, tuple], found: dict[str, tuple]):
        self.expected = expected
        self.found = found
        super().__init__("parts")


def arguments(
    case: Question,
    dtype: torch.dtype | None = None,
    requires_grad: bool = False,
    moved: Callable[[Any], Any] = lambda value: value,
) -> tuple[tuple, dict[str, Any]]:
    """Return new copies of a case's positional and keyword arguments, each passed through `moved`.
    Floating-point tensors get `requires_grad` and, if given, `dtype`.
    """
    args = tuple(moved(live(arg, dtype, requires_grad)) for arg in case.args)
    kwargs = {name: moved(live(arg, dtype, requires_grad)) for name, arg in case.kwargs.items()}
    made = by_name(args, kwargs)
    args = tuple(_optimizer(arg, made) if isinstance(arg, Optimizer) else arg for arg in args)
    return args, {
        k: _optimizer(arg, made) if isinstance(arg, Optimizer) else arg for k, arg in kwargs.items()
    }


def by_name(args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments in one dict; the key of a positional argument is its position, as a string."""
    return {str(position): arg for position, arg in enumerate(args)} | dict(kwargs)


@trust_boundary
def built(answer: Callable, init: tuple | Mapping, dtype: torch.dtype | None = None) -> Any:
    """Return the instance that a class returns when it is called with new copies of a case's `init`."""
    return built_of(answer, live_init(init, dtype))


def live_init(init: tuple | Mapping, dtype: torch.dtype | None = None) -> tuple | dict[str, Any]:
    """Return new copies of the constructor's arguments."""
    return live(dict(init) if isinstance(init, Mapping) else tuple(init), dtype)


@trust_boundary
def built_of(answer: Callable, init: tuple | dict[str, Any]) -> Any:
    """Return the instance that a class returns when it is called with the arguments in `init`."""
    return answer(**init) if isinstance(init, dict) else answer(*init)


TAKEN = "TakenName"  # the type of an error caused by using a name that is nn.Module's own


@trust_boundary
def taken_name(module: nn.Module) -> str:
    """Return a name that the module gives to an attribute although a method of nn.Module has it, or an empty
    string if there is none.
    """
    held = vars(module)
    names = (*held, *held["_modules"], *held["_parameters"], *held["_buffers"])
    return next((name for name in names if is_own_method(name)), "")


def is_own_method(name: str) -> bool:
    """Return whether nn.Module has a method of this name, other than `forward`."""
    return name.isidentifier() and name != "forward" and callable(getattr(nn.Module, name, None))


def live(value: Any, dtype: torch.dtype | None = None, requires_grad: bool = False) -> Any:
    """Return a live copy of one argument. An Optimizer is returned as it is, because it is built later, from
    its module.
    """
    if isinstance(value, torch.Tensor):
        copy = with_strides(value, value.stride())
        return (
            copy.to(dtype or copy.dtype).requires_grad_(requires_grad) if copy.is_floating_point() else copy
        )
    if isinstance(value, Module):
        return live_module(value, dtype)
    if isinstance(value, Seed):
        return torch.Generator().manual_seed(value.number)
    if isinstance(value, Given):
        return _defined(value.code, live(dict(value.values), dtype))[value.name]
    if isinstance(value, (tuple, list)):
        return type(value)(live(item, dtype, requires_grad) for item in value)
    if isinstance(value, dict):
        return {key: live(item, dtype, requires_grad) for key, item in value.items()}
    return value


def live_module(spec: Module, dtype: torch.dtype | None = None) -> nn.Module:
    """Return the module that `spec` describes, with its weights; they keep their dtype unless `dtype` is
    given.
    """
    kind = _defined(spec.code, {})[spec.kind] if spec.code else getattr(nn, spec.kind)
    # subtle: parameters that `weights` do not name are the same in every copy, whatever was drawn before and
    # whatever other threads draw.
    with OwnRandomNumbers():
        module = kind(**spec.init)
    load_weights(module, spec.weights, dtype or next((w.dtype for w in spec.weights.values()), None))
    return module


def _defined(code: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Run a piece of the course's code and return its global variables as a dict."""
    names = {"math": math, "torch": torch, "nn": nn, "F": F, "__name__": "given", **values}
    exec(_compiled(code), names)
    return names


@functools.cache
def _compiled(code: str) -> CodeType:
    return compile(code, GIVEN, "exec")


def _optimizer(spec: Optimizer, made: dict[str, Any]) -> torch.optim.Optimizer:
    """Return the optimiser that `spec` describes, with its parameters in two groups, so that code that reads
    only the first group misses some parameters.
    """
    first, *others = made[spec.of].parameters()
    groups = [{"params": params} for params in ([first], others) if params]
    return getattr(torch.optim, spec.kind)(groups, **spec.options)


@trust_boundary
def load_weights(
    module: nn.Module,
    weights: Mapping[str, torch.Tensor],
    dtype: torch.dtype | None = None,
    exact: bool = False,
) -> None:
    """Copy `weights` into the module's parameters by name. If `dtype` is given, the module is first converted
    to it.

    Raises WrongParts if a name is missing or its parameter has another shape. Other parameters are left
    alone; with `exact`, WrongParts is also raised if the state dict has names other than those in `weights`.
    """
    found = dict(nn.Module.named_parameters(module, remove_duplicate=False))
    if dtype is not None and any(value.dtype != dtype for value in (*found.values(), *module.buffers())):
        module.to(dtype)
        found = dict(nn.Module.named_parameters(module, remove_duplicate=False))
    shapes = {name: tuple(parameter.shape) for name, parameter in found.items()}
    expected = {name: tuple(value.shape) for name, value in weights.items()}
    if any(shapes.get(name) != shape for name, shape in expected.items()):
        raise WrongParts(expected, shapes)
    if exact:
        state = nn.Module.state_dict(module)
        held = shapes | {name: tuple(getattr(value, "shape", ())) for name, value in state.items()}
        if held.keys() != expected.keys():
            raise WrongParts(expected, held)
    with torch.no_grad():
        for name, value in weights.items():
            found[name].copy_(value)


def parameters_of(module: object, prefix: str = "") -> dict[str, Any]:
    """Return the parameters of a module by name, or an empty dict if its class is not one of PLAIN_MODULES. A
    part that has hooks or a replaced `forward` contributes none, because it no longer computes as its class
    does.

    subtle: no method of the module is called, because an answer may have replaced the methods so that they
    report parameters with which the module does not compute.
    """
    if type(module) not in PLAIN_MODULES:
        return {}
    held = object.__getattribute__(module, "__dict__")
    plain = type(held) is dict and all(type(held.get(one)) is dict for one in ("_modules", "_parameters"))
    if not plain or "forward" in held or any(held.get(hooks) for hooks in HOOKS):
        return {}
    found = {f"{prefix}{name}": value for name, value in held["_parameters"].items() if value is not None}
    for name, part in held["_modules"].items():
        found |= parameters_of(part, f"{prefix}{name}.")
    return found


def inputs_of(args: tuple, kwargs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return, by name, every tensor among the arguments that requires a gradient, including parameters of
    modules.
    """
    tensors = (pair for name, value in by_name(args, kwargs).items() for pair in _tensors(value, name))
    return {name: value for name, value in tensors if value.requires_grad}


@trust_boundary
def _tensors(value: object, name: str) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, nn.Module):
        yield from _parameters(value, f"{name}.").items()
    elif isinstance(value, (tuple, list, dict)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _tensors(item, f"{name}.{key}")


@trust_boundary
def inputs_of_program(args: tuple, kwargs: Mapping[str, Any], module: object, names: Iterable[str]) -> list:
    """Return the tensors that a call may read: those among its arguments, and the module's parameters with
    these names.
    """
    found = [value for name, arg in by_name(args, kwargs).items() for _, value in _tensors(arg, name)]
    if isinstance(module, nn.Module):
        parts = dict(nn.Module.named_parameters(module, remove_duplicate=False))
        found += [parts[name] for name in names]
    return found


RESEEDED, SETTINGS = "random numbers", "settings"  # keys in `states`


def states(
    case: Question, args: tuple, kwargs: Mapping[str, Any], reseeded: bool = False, reset: bool = False
) -> dict[str, Any]:
    """Return, by name, what a call must not change: the tensors, lists, tuples and dicts among a case's
    arguments, whether these tensors require gradients, and the parameters and traces (see `_traces`) of the
    modules among them. Two more entries say whether the process's random numbers were `reseeded` and whether
    its settings were `reset`.
    """
    found: dict[str, Any] = {}
    for name, value in by_name(args, kwargs).items():
        # subtle: a module with a hook no longer counts as plain, so the hook must be reported first.
        if isinstance(value, nn.Module) and (name not in case.changes or case.modes):
            found |= _traces(value, name, case.changes)
        if name not in case.changes:
            found |= state(value, name)
            if isinstance(value, torch.Tensor):
                found[f"{name}.requires_grad"] = value.requires_grad
    return found | {RESEEDED: reseeded, SETTINGS: reset}


def constructor_traces(case: Question, init: tuple | dict[str, Any]) -> dict[str, Any]:
    """Return the traces (see `_traces`) of the modules among the constructor's arguments. The keys begin with
    the kind of the first of these modules.

    The trace that says which parameters require gradients is left out, because some exercises ask for modules
    to be frozen.
    """
    specs = [spec for spec in _items(case.init) if isinstance(spec, Module)]
    modules = [value for value in _items(init) if isinstance(value, nn.Module)]
    found = _traces(nn.ModuleList(modules), specs[0].kind, ()) if specs else {}
    return {name: trace for name, trace in found.items() if not name.endswith(".requires_grad")}


def _items(value: Any) -> Iterator[Any]:
    """Yield the value itself or, for a list, tuple or mapping, the values in it, however deeply nested."""
    if isinstance(value, (tuple, list, Mapping)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _items(item)
    else:
        yield value


@trust_boundary
def _traces(module: nn.Module, name: str, changes: Collection[str]) -> dict[str, Any]:
    """Return what a call could change about a module apart from its parameters: its parts, buffers, hooks and
    modes, and which parameters require gradients. If the module is named in `changes`, return only its modes.
    """
    parts = dict(nn.Module.named_modules(module))
    # The mode of a linear layer changes nothing.
    with_modes = {path: part for path, part in parts.items() if type(part) not in PLAIN_MODULES}
    modes = {f"{name}.training": {path: part.training for path, part in with_modes.items()}}
    if name in changes:
        return modes
    parameters = dict(nn.Module.named_parameters(module))
    learns = {path: value.requires_grad for path, value in parameters.items()}
    kinds = {path: type(part).__name__ for path, part in parts.items()}
    kinds |= {path: "buffer" for path, _ in nn.Module.named_buffers(module)}
    hooks = {path: _hooks_on(part) for path, part in parts.items()}
    hooks |= {path: len(value._backward_hooks) for path, value in parameters.items() if value._backward_hooks}
    return {f"{name}.parts": kinds, f"{name}.hooks": hooks, f"{name}.requires_grad": learns} | modes


def _hooks_on(part: nn.Module) -> int:
    return sum(len(vars(part)[kind]) for kind in (*HOOKS, *HOOKS_OF_STATES))


def state(value: object, name: str) -> dict[str, Any]:
    """Return, by name, what a call can change in one argument: a module's parameters, or the tensor, list,
    tuple or dict itself.
    """
    if isinstance(value, nn.Module):
        return _parameters(value, f"{name}.")
    return {name: value} if isinstance(value, (torch.Tensor, list, tuple, dict)) else {}


@trust_boundary
def _parameters(module: nn.Module, prefix: str) -> dict[str, Any]:
    if type(module) in PLAIN_MODULES:
        return parameters_of(module, prefix)
    return {f"{prefix}{name}": value for name, value in nn.Module.named_parameters(module)}


def states_as_given(case: Question) -> dict[str, Any]:
    """Return the `states` of a case's arguments before any call, together with the traces of its
    constructor's arguments.
    """
    return states(case, *arguments(case)) | constructor_traces(case, live_init(case.init))
