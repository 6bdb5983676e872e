"""Tracks, while a computation runs, which steps a tensor comes from and where its entries move.

order      where rearrangements moved the entries of a tensor: the shapes before and after, and a digest of
           the positions: "2x5x8>2x2x5x4:3f0c..."
blocked    which entries of a softmax, or of an exponential, are zero, as a shape and a digest: "5x5:77de..."
"""

import hashlib
from collections.abc import Callable
from typing import Any

import torch

from autograder.graph import operations
from autograder.graph.steps import Step, storage_of, tensors_in

MOST = 4096  # entries
SAME = "same"
# Errors that PyTorch raises when a function cannot be run on positions.
_REFUSED = (RuntimeError, TypeError, ValueError, IndexError, AttributeError)


class Provenance:
    """The origins of tensors, keyed by the tensors' ids. The tensors are kept alive, so that no later tensor
    gets the same id.
    """

    def __init__(self) -> None:
        self._origin: dict[int, tuple[tuple[Step, ...], int]] = {}  # id of tensor -> (steps, time)
        # storage -> [(time, step)]: writes through any view
        self._writes: dict[int | None, list[tuple[int, Step]]] = {}
        self._owner: dict[int | None, Step] = {}  # storage -> step whose result it held first
        # id of tensor -> (tensor at the start, its shape, where each entry comes from)
        self._places: dict[int, tuple[int, tuple, torch.Tensor]] = {}
        self._alive: list[torch.Tensor] = []

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return id(tensor) in self._origin

    def settle(self, tensor: torch.Tensor, steps: tuple[Step, ...], wrote: Step | None = None) -> None:
        """Record that the tensor holds the results of these steps from now on; `wrote` is a step that wrote
        in place.
        """
        self._alive.append(tensor)
        now, storage = len(self._alive), storage_of(tensor)
        self._origin[id(tensor)] = (steps, now)
        if storage is not None:
            self._owner.setdefault(storage, steps[0])
            if wrote is not None:
                self._writes.setdefault(storage, []).append((now, wrote))

    def of(self, tensor: torch.Tensor) -> tuple[Step, ...]:
        """Return the steps whose results a known tensor holds now."""
        steps, time = self._origin[id(tensor)]
        later = [step for moment, step in self._writes.get(storage_of(tensor), ()) if moment > time]
        return tuple(dict.fromkeys((*steps, *later)))

    def owner(self, tensor: torch.Tensor) -> Step | None:
        """Return the step whose result the tensor's storage held first, even if the tensor is only a view, or
        None if no such step is known.
        """
        return self._owner.get(storage_of(tensor))

    def pass_on(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """Record that `target` has the same entries as `source`, in the same positions."""
        if id(source) in self._places:
            self._places[id(target)] = self._places[id(source)]

    def follow(
        self, step: Step, function: Callable, args: tuple, kwargs: dict, tensors: list, in_place: bool
    ) -> None:
        """Record two things in a step: where a rearrangement moved the entries (`order`), and which entries
        of a softmax or an exponential are zero (`blocked`).
        """
        for tensor in tensors:
            self._places.pop(id(tensor), None)
        if step.op in operations.LAYOUT and not in_place:
            self._rearrange(step, function, args, kwargs, tensors)
        if step.op in ("softmax", "exp") and tensors[0].numel() <= MOST:
            step.blocked = _blocked(~(tensors[0] > 0))

    def _rearrange(
        self, step: Step, function: Callable, args: tuple, kwargs: dict, tensors: list[torch.Tensor]
    ) -> None:
        """Run a rearrangement on the positions of the entries instead of their values, and record the result.
        The rearrangement may have several inputs, as `cat` does, if all are pieces of one tensor.
        """
        given = [args[0]] if step.op in operations.LIKE else list(tensors_in([args, kwargs]))
        if not given or sum(tensor.numel() for tensor in given) > MOST:
            return
        known = {
            id(tensor): self._places.get(id(tensor))
            or (id(tensor), tensor.shape, torch.arange(tensor.numel()).reshape(tensor.shape))
            for tensor in given
        }
        if len({start for start, _, _ in known.values()}) != 1:
            return
        places = {number: found for number, (_, _, found) in known.items()}
        try:
            after = function(*_replaced(args, places), **_replaced(kwargs, places))
        except _REFUSED:
            return
        after = list(tensors_in(after))
        if [found.shape for found in after] != [tensor.shape for tensor in tensors]:
            return
        start, shape, _ = next(iter(known.values()))
        for tensor, found in zip(tensors, after):
            self._places[id(tensor)] = start, shape, found
        if len(after) == 1:
            step.order = _order(shape, after[0])


def _replaced(value: Any, places: dict[int, torch.Tensor]) -> Any:
    """Return nested arguments in which each tensor in `places` is replaced by its entries' positions."""
    if isinstance(value, torch.Tensor):
        return places.get(id(value), value)
    if isinstance(value, dict):
        return {name: _replaced(part, places) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_replaced(part, places) for part in value)
    return value


def _order(shape: tuple, places: torch.Tensor) -> str:
    before, after = ("x".join(str(size) for size in sizes if size != 1) for sizes in (shape, places.shape))
    same = before == after and torch.equal(places.flatten(), torch.arange(places.numel()))
    return f"{before}>{after}:{SAME if same else _digest(places)}"


def _digest(numbers: torch.Tensor) -> str:
    return hashlib.sha1(repr(numbers.flatten().tolist()).encode()).hexdigest()[:12]


def is_unmoved(order: str) -> bool:
    """Return whether a rearrangement left every entry where it was. (Axes of size one do not count.)"""
    return order.endswith(f":{SAME}")


def _blocked(zero: torch.Tensor) -> str:
    """Return which entries are zero, as a shape and a digest; "" if none is.

    Leading axes along which nothing changes are left out: a causal mask of (2, 4, 5, 5) weights is
    "5x5:77de...".
    """
    while zero.dim() > 2 and bool((zero == zero[:1]).all()):
        zero = zero[0]
    return "x".join(str(size) for size in zero.shape) + f":{_digest(zero)}" if zero.any() else ""
