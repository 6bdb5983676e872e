"""Checks whether an answer computes on the device of its inputs, by calling it with inputs on a device other
than the CPU.

The device stands in for a GPU, which this machine may lack. Its tensors report the device "meta" but hold
numbers, so that an answer can read them. Like tensors on a GPU, they refuse to be combined with tensors on
the CPU.
"""

import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.faults import GIVEN, is_students, trust_boundary

DEVICE = torch.device("meta")
# These move numbers between devices, on a GPU as well; the indices of the last three may be on the CPU.
MOVES = ("aten::copy_", "aten::_to_copy", "aten::set_", "aten::index", "aten::index_put_", "aten::index_put")


OF_THE_CASE = -1  # instead of a line: the case itself made the tensor


class StaysBehind(Exception):
    """Raised if a tensor on the CPU is combined with a tensor on the device, or if the result is a tensor on
    the CPU. `line` is the student's line that made the CPU tensor, or 0 if it is unknown.
    """

    def __init__(self, line: int):
        super().__init__()
        self.line = line


class _There(torch.Tensor):
    """A tensor on the stand-in device; its numbers are in `held`, on the CPU."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> "_There":
        layout: dict[str, Any] = {"strides": held.stride(), "storage_offset": held.storage_offset()}
        made = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, held.shape, dtype=held.dtype, device=DEVICE, **layout
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # PyTorch calls it as a class method
        cls, kernel: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        with OtherDevice():
            return kernel(*args, **(kwargs or {}))

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as PyTorch advises

    def tolist(self) -> Any:
        return self.held.tolist()


class OtherDevice(TorchDispatchMode):
    """Runs each kernel on the CPU. Tensors on the stand-in device are replaced by the CPU tensors that they
    hold, and the results that belong on that device are put there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[
            int, tuple[torch.Tensor, int]
        ] = {}  # tensors on the CPU, and the lines that made them

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # skipping would import the compiler, which takes more than a second

    @trust_boundary
    def __torch_dispatch__(self, kernel: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [*_tensors((args, kwargs))]
        there = any(type(tensor) is _There for tensor in given)
        if there and kernel.name().partition(".")[0] not in MOVES:
            for tensor in given:
                # A single number on the CPU may be combined with a tensor on a GPU.
                if type(tensor) is not _There and tensor.dim():
                    raise StaysBehind(self.line_of(tensor))
        named = kwargs.get("device")
        if named is not None:
            # Everything that a case provides counts as being on the device of its arguments.
            there = named == DEVICE or (not given and _line() == OF_THE_CASE)
            kwargs = kwargs | {"device": torch.device("cpu") if there else named}
        elif given and kernel._schema.is_mutable:
            there = type(given[0]) is _There
        result = kernel(*_each(_here, args), **_each(_here, kwargs))
        if there:
            same = {id(tensor.held): tensor for tensor in given if type(tensor) is _There}
            return _each(lambda tensor: same[id(tensor)] if id(tensor) in same else _There(tensor), result)
        line = next((self.line_of(tensor) for tensor in given if id(tensor) in self.made), None) or _line()
        for tensor in _tensors(result):
            self.made[id(tensor)] = tensor, line
        return result

    def line_of(self, tensor: torch.Tensor) -> int:
        """Return the student's line that made a tensor on the CPU; if it is unknown, the student's line that
        is running.
        """
        return self.made[id(tensor)][1] if id(tensor) in self.made else _line()


class _Copied(TorchFunctionMode):
    """Makes `torch.tensor` and similar functions put their numbers on the device. PyTorch itself would make
    tensors there that hold no numbers.
    """

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        of_numbers = function in (torch.tensor, torch.as_tensor, torch.asarray)
        if of_numbers and kwargs.get("device", DEVICE if _line() == OF_THE_CASE else None) == DEVICE:
            return function(*args, **(kwargs | {"device": None})).to(DEVICE)
        return function(*args, **kwargs)


def moved(value: Any) -> Any:
    """Return a value with its tensors on the device. Modules, and the globals of the course's functions, are
    changed in place.
    """
    if isinstance(value, nn.Module):
        _move(value)
    elif isinstance(value, FunctionType):
        held = value.__globals__ if value.__code__.co_filename == GIVEN else {}
        tensors = {name: item for name, item in held.items() if isinstance(item, torch.Tensor)}
        held.update({name: moved(item) for name, item in tensors.items()})
    elif isinstance(value, torch.Tensor):
        return _There(value.detach()).requires_grad_(value.requires_grad)
    else:
        return _each(moved, value, (torch.Tensor, nn.Module, FunctionType))
    return value


def _move(module: nn.Module) -> None:
    there: dict[int, torch.Tensor] = {}
    for part in nn.Module.modules(module):
        for name, value in (*part._parameters.items(), *part._buffers.items()):
            if value is None:
                continue
            if id(value) not in there:
                copy = _There(value.detach())
                is_parameter = isinstance(value, nn.Parameter)
                there[id(value)] = nn.Parameter(copy, value.requires_grad) if is_parameter else copy
            tensors: dict[str, Any] = part._parameters if name in part._parameters else part._buffers
            tensors[name] = there[id(value)]


def stays_behind(call: Callable[[], Any]) -> int | None:
    """Return the student's line at which a call on the device leaves the device, or 0 if the line is unknown.
    Return None if the call stays on the device, fails there, or leaves it because of a tensor that the case
    made.
    """
    try:
        called_there(call)
    except StaysBehind as behind:
        return None if behind.line == OF_THE_CASE else behind.line
    except Exception:  # a call may fail on the stand-in where it would not on a real device
        return None
    return None


def called_there(call: Callable[[], Any]) -> Any:
    """Return the result of a call on the device. Raises StaysBehind if the call leaves the device."""
    device = OtherDevice()
    with device, _Copied():
        result = call()
    for tensor in _tensors(result):
        if type(tensor) is not _There:
            raise StaysBehind(device.line_of(tensor))
    return result


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def _each(change: Callable[[Any], Any], value: Any, kinds: Any = torch.Tensor) -> Any:
    """Return the value with `change` applied to every instance of `kinds` in it (by default, to every
    tensor).
    """
    if isinstance(value, kinds):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_each(change, item, kinds) for item in value)
    return (
        {key: _each(change, item, kinds) for key, item in value.items()} if isinstance(value, dict) else value
    )


def _here(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.held if type(tensor) is _There else tensor


def _line() -> int:
    """Return the student's line that is running, 0 if it is unknown, or OF_THE_CASE if code of the case is
    running.
    """
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == GIVEN:
            return OF_THE_CASE
        if is_students(frame.f_code.co_filename):
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0
