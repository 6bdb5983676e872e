"""Finds out which operations of a call its result comes from, and which are an aside: a print, a plot, an assert.

The call is made twice more. The first time every operation is traced: the memory of its result comes from it, and from
all that the memory of its arguments comes from. Numbers that leave PyTorch by an operation that a rule forbids, or that
come from one, are given out half as large again: a print and an assert do not mind, a result would be another. The
second time the operations that the result does not come from are not run: what they gave is given again. If both calls
give the result of the call that counts, what the second one uses is all that the result needs.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from autograder.probe.guard import is_students
from autograder.probe.observe import Usage, observed
from autograder.values.compare import same_value
from autograder.values.encode import encode

# Suspected only if they make more than one number: a dot product of two vectors is a step of a loop.
PRODUCTS = tuple(f"torch:{name}" for name in (
    "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "baddbmm", "einsum", "tensordot", "linear", "inner",
))
OUT_OF_PYTORCH = {f"torch:{name}" for name in ("item", "tolist", "numpy", "__array__", "__float__", "__int__")}
MOST_OPERATIONS = 20_000


class _TooMany(Exception):
    pass


class _Trace(TorchFunctionMode):
    """Traces the operations of a call, numbered in their order. `suspects` are beginnings of names."""

    def __init__(self, suspects: tuple[str, ...]):
        super().__init__()
        self.suspects = suspects
        self.names: list[str] = []
        self.results: list[Any] = []  # also keeps every memory alive, so that no address is used twice
        self.sources: dict[int, set[int]] = {}  # by the address of a memory
        self.suspected: dict[int, int] = {}  # the student's line of each suspect
        self.escaped: set[int] = set()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        number, name = len(self.names), f"torch:{getattr(function, '__name__', '?')}"
        if number >= MOST_OPERATIONS:
            raise _TooMany
        self.names.append(name)
        sources = {number}.union(*(self._of(one) for one in _tensors((*args, *kwargs.values()))))
        made = function(*args, **kwargs)
        if name.startswith(self.suspects) and not (name.startswith(PRODUCTS) and _is_number(made)):
            self.suspected[number] = _line()
        if name in OUT_OF_PYTORCH:
            if sources.isdisjoint(self.suspected):
                self.escaped |= sources
            else:
                made = _larger(made)
        self.results.append(made)
        changed = [args[0]] if args and _writes(name) else [kwargs.get("out")]
        for one in _tensors((made, *changed)):
            self.sources.setdefault(_memory(one), set()).update(sources)
        return made

    def _of(self, tensor: torch.Tensor) -> set[int]:
        return self.sources.get(_memory(tensor), set())

    def needed(self, result: Any) -> set[int]:
        """The numbers of the operations that a result comes from."""
        return self.escaped.union(*(self._of(one) for one in _tensors(result)))


class _Replay(TorchFunctionMode):
    """Runs the operations that are needed; of the others it gives what the trace has."""

    def __init__(self, trace: _Trace, needed: set[int]):
        super().__init__()
        self.trace, self.needed, self.number = trace, needed, 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        number, self.number = self.number, self.number + 1
        if number in self.needed or number >= len(self.trace.results):
            return function(*args, **(kwargs or {}))
        return self.trace.results[number]


def aside(calls: Iterator[Callable[[], Any]], result: Any, suspects: tuple[str, ...], closely: bool) -> dict[str, Any]:
    """What the encoded `result` of a call needs ("needed", a usage or None if that cannot be told), and the lines of
    the suspects which it does not need ("lines"; of all suspects if that cannot be told). `calls` make the call again.
    """
    trace, usage, needed = _Trace(suspects), Usage(in_all_threads=closely), set()
    try:
        with trace:
            again = next(calls)()
        if same_value(encode(again), result):
            needed = trace.needed(again)
            with observed(usage, closely), _Replay(trace, needed):
                again = next(calls)()
        is_told = bool(needed) and same_value(encode(again), result)
    except Exception:
        is_told = False
    lines = {line for number, line in trace.suspected.items() if line and not (is_told and number in needed)}
    return {"needed": usage.as_data() if is_told else None, "lines": sorted(lines)}


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _tensors(one)


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided else id(tensor)


def _is_number(made: Any) -> bool:
    return isinstance(made, torch.Tensor) and made.numel() == 1


def _writes(name: str) -> bool:
    """Whether an operation of this name writes into its first argument."""
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name == "torch:__setitem__" or name.startswith("torch:__i")


def _larger(value: Any) -> Any:
    """Numbers that left PyTorch, half as large again; an exact zero stays one."""
    if isinstance(value, (list, tuple)):
        return [_larger(one) for one in value]
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return ~value
    return value * 1.5 if isinstance(value, (int, float, np.ndarray)) and not isinstance(value, bool) else value


def _line() -> int:
    """The line of the student's code that is running; 0 if it is not known."""
    frame = sys._getframe(2)
    while frame is not None and not is_students(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else 0
