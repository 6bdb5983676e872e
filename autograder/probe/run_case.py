"""Makes the call of a case, or the several calls of its script, and collects their results."""

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.faults import trust_boundary
from autograder.probe.build import by_name, state
from autograder.schema.case import CALLS_OF, Kept, Question


@trust_boundary
def run_case(case: Question, answer: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Return the result of a case: the value that the call returns or, if `case.returns_dict`, a dict.

    The dict holds the values that the script keeps (without a script, the returned value under "return"), the
    arguments that the answer must change, and the recorded calls.
    """
    if not case.returns_dict:
        return _masked(case, answer(*args, **kwargs), args, kwargs)
    with contextlib.ExitStack() as stack:
        args, kwargs, calls = _record_calls(case, answer, args, kwargs, stack)
        result = (
            _run_script(case, answer, args, kwargs) if case.script else {"return": answer(*args, **kwargs)}
        )
    given = by_name(args, kwargs)
    for name in case.changes:
        result[name] = {
            key.removeprefix(f"{name}."): value for key, value in state(given[name], name).items()
        }
    return result | {CALLS_OF + name: made for name, made in calls.items()}


@trust_boundary
def _run_script(case: Question, answer: Callable, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    known = {"answer": answer} | by_name(args, kwargs)
    result = {}
    for call in case.script:
        positional = [_resolve(arg, known) for arg in call.args]
        keywords = {name: _resolve(arg, known) for name, arg in call.kwargs.items()}
        value = known[call.to](*positional, **keywords)
        if call.keep is not None:
            known[call.keep] = value
        if call.keep is not None and call.shown:
            result[call.keep] = value
    return result


@trust_boundary
def _masked(case: Question, result: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Return the result with zeros where the case's `result_mask` is False, because these entries are not
    compared. If there is no mask, or its shape does not fit, return the result unchanged.
    """
    if case.result_mask is None:
        return result
    mask = by_name(args, kwargs)[case.result_mask]
    if not isinstance(result, torch.Tensor) or result.shape[: mask.dim()] != mask.shape:
        return result
    return torch.where(mask.reshape(*mask.shape, *[1] * (result.dim() - mask.dim())), result, 0)


@trust_boundary
def _resolve(arg: object, known: dict[str, Any]) -> Any:
    if not isinstance(arg, Kept):
        return arg
    return known[arg.name] if arg.item is None else known[arg.name][arg.item]


@trust_boundary
def _record_calls(
    case: Question, answer: Any, args: tuple, kwargs: dict[str, Any], stack: contextlib.ExitStack
) -> tuple[tuple, dict[str, Any], dict[str, list]]:
    """Return (args, kwargs, calls). In the arguments, every function whose calls are recorded is wrapped;
    `calls` maps each recorded name to the list of its calls. A part of a module gets a hook instead, which is
    removed when `stack` is closed.
    """
    positional, kwargs = list(args), dict(kwargs)
    calls: dict[str, list] = {name: [] for name in case.calls}
    for name, made in calls.items():
        if name.isdigit() and int(name) < len(positional):
            positional[int(name)] = _recording(positional[int(name)], made)
        elif name in kwargs:
            kwargs[name] = _recording(kwargs[name], made)
        else:
            part = nn.Module.get_submodule(answer, name)
            stack.callback(part.register_forward_pre_hook(_recording_hook(made)).remove)
    return tuple(positional), kwargs, calls


def _recording(function: Callable, calls: list) -> Callable:
    @trust_boundary
    def called(*args: Any, **kwargs: Any) -> Any:
        calls.append(_copies(args))
        return function(*args, **kwargs)

    return called


def _recording_hook(calls: list) -> Callable[[nn.Module, tuple], None]:
    return lambda module, args: calls.append(_copies(args))


@trust_boundary
def _copies(args: tuple) -> list:
    # subtle: an argument may be changed after the call; its value in the call is the one that counts.
    return [arg.detach().clone() if hasattr(arg, "detach") else arg for arg in args]
