"""Tracks data flow in a call: for every storage, the operations that it depends on.

Numbers that leave PyTorch are multiplied by 1.5 if they leave through an operation that a rule forbids, or
depend on one. Where loops are forbidden, all numbers that leave PyTorch are multiplied.
autograder.probe.aside explains why.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from autograder.probe.guard import is_students
from autograder.probe.observe import QUERIES

# Suspected only if they return more than one number: a dot product of two vectors is one step of a loop.
PRODUCTS = tuple(
    f"torch:{name}"
    for name in (
        "matmul",
        "__matmul__",
        "__rmatmul__",
        "mm",
        "bmm",
        "addmm",
        "baddbmm",
        "einsum",
        "tensordot",
        "linear",
        "inner",
    )
)
OUT_OF_PYTORCH = {
    f"torch:{name}" for name in ("item", "tolist", "numpy", "__array__", "__float__", "__int__")
}
LOOP = "a Python loop"  # among the suspects where loops are forbidden
MOST_OPERATIONS = 20_000


class _TooMany(Exception):
    pass


class Trace(TorchFunctionMode):
    """Traces the operations of a call and numbers them in order. An operation is a suspect if its name begins
    with one of `suspects`.
    """

    def __init__(self, suspects: tuple[str, ...]):
        super().__init__()
        self.suspects = suspects
        self.names: list[str] = []
        self.results: list[Any] = []  # also keeps every storage alive, so that no address is used twice
        self.sources: dict[int, set[int]] = {}  # storage address -> operations
        self.views: dict[int, set[int]] = {}  # id of a view -> operations that created the view
        self.suspected: dict[int, int] = {}  # suspect -> the student's line
        self.lines: list[int] = []  # the student's line for each operation, if loops are suspected
        self.escaped: set[int] = set()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        number, name = len(self.names), f"torch:{getattr(function, '__name__', '?')}"
        if number >= MOST_OPERATIONS:
            raise _TooMany
        self.names.append(name)
        given = [*_tensors((*args, *kwargs.values()))]
        sources = {number}.union(*map(self._of, given))
        made = function(*args, **kwargs)
        if name.startswith(self.suspects) and not (name.startswith(PRODUCTS) and _is_number(made)):
            self.suspected[number] = _line()
        if LOOP in self.suspects:
            self.lines.append(0 if name.removeprefix("torch:") in QUERIES else _line())
        if name in OUT_OF_PYTORCH:
            if LOOP not in self.suspects and sources.isdisjoint(self.suspected):
                self.escaped |= sources
            else:
                made = _larger(made)
        self.results.append(made)
        changed = [args[0]] if args and _writes(name) else [kwargs.get("out")]
        read = {*map(_memory, given)}.difference(map(_memory, _tensors(changed)))
        for one in _tensors((made, *changed)):
            # subtle: reading through a view depends on the view; its base storage does not.
            owner, key = (self.views, id(one)) if _memory(one) in read else (self.sources, _memory(one))
            owner.setdefault(key, set()).update(sources)
        return made

    def _of(self, tensor: torch.Tensor) -> set[int]:
        return self.sources.get(_memory(tensor), set()) | self.views.get(id(tensor), set())

    def needed(self, result: Any) -> set[int]:
        """Return the numbers of the operations that contributed to the result or to a value that left PyTorch
        without being multiplied.
        """
        return self.escaped.union(*(self._of(one) for one in _tensors(result)))

    def turns(self, needed: set[int]) -> set[int]:
        """Return the lines that ran more than one unneeded operation, typically because they are in a loop."""
        counts = Counter(line for number, line in enumerate(self.lines) if number not in needed)
        return {line for line, count in counts.items() if count > 1}


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _tensors(one)


def _memory(tensor: torch.Tensor) -> int:
    try:
        # subtle: a subclass may have a method of its own that lies.
        return torch.Tensor.untyped_storage(tensor)._cdata
    except NotImplementedError:  # a sparse tensor has no storage
        return id(tensor)


def _is_number(made: Any) -> bool:
    return isinstance(made, torch.Tensor) and made.numel() == 1


def _writes(name: str) -> bool:
    """Return whether an operation of this name writes into its first argument."""
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place or name == "torch:__setitem__" or name.startswith("torch:__i")


def _larger(value: Any) -> Any:
    """Return the numbers multiplied by 1.5, to see whether the result depends on them. Zeros and single
    Booleans stay as they are, and Boolean arrays are inverted.
    """
    if isinstance(value, (list, tuple)):
        return [_larger(one) for one in value]
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return ~value
    return (
        value * 1.5 if isinstance(value, (int, float, np.ndarray)) and not isinstance(value, bool) else value
    )


def _line() -> int:
    """Return the student's line that is running, or 0 if it is unknown."""
    frame = sys._getframe(2)
    while frame is not None and not is_students(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno if frame is not None else 0
