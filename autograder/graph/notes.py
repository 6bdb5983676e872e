"""What is noted of tensors while a computation runs: letters of axes, where numbers went, which way a weight lies.

Everything is kept by the id of a tensor; the tracer keeps the tensors alive, so an id means one tensor.
"""

import math
from contextlib import suppress

import torch

from autograder.graph import axes, carry, curves, operations, patterns, sides
from autograder.graph.steps import tensors_in

_LIKE = {"expand_as", "view_as", "reshape_as"}  # the second tensor gives its shape alone


class Notes:
    """Three dictionaries that travel through the operations together."""

    def __init__(self):
        self.sizes = axes.Sizes()  # heads and widths, where they are known
        self.letters = {}  # id of tensor -> letters of its axes
        self._places = {}  # id of tensor -> (id and shape of the one it was rearranged from, places)
        self._sides = {}  # id of tensor -> numbers of a weight's axes
        self._curves = {}  # id of tensor -> (id of the tensor at the start, values at some points)

    def letters_of(self, tensor):
        return self.letters.get(id(tensor)) or ("",) * tensor.dim()

    def parameter(self, tensor, name):
        """A parameter that is met for the first time."""
        self.letters[id(tensor)] = axes.of_parameter(name, tensor.dim())
        if tensor.dim() == 2:
            self._sides[id(tensor)] = ("0", "1")

    def pass_on(self, source, target):
        """The same numbers in the same places."""
        self.letters[id(target)] = self.letters_of(source)
        for kept in (self._places, self._sides, self._curves):
            if id(source) in kept:
                kept[id(target)] = kept[id(source)]

    def came(self, args, result):
        """(shape, places) of scores that stand elsewhere than where they were computed; None where they do not."""
        for tensor in tensors_in(args):
            _, shape, places = self._places.get(id(tensor), (0, (), None))
            whole = places is not None and places.numel() == math.prod(shape) == len(places.unique())
            if whole and tensor.shape == result.shape and tensor.dtype != torch.bool:
                return shape, places
        return None

    def take(self, step, function, op, args, kwargs, tensors, in_place):
        """Notes what becomes of all this in one operation, in the step and for its results."""
        # subtle: an error here must not become an error of the code that is traced.
        with suppress(Exception):
            self._axes(step, function, op, args, kwargs, tensors)
        side, curve = (), None
        with suppress(Exception):
            step.side = sides.met(function, op, args, self._side_of)
            side = sides.followed(function, op, args, kwargs, tensors[0], self._side_of)
        with suppress(Exception):
            curve = curves.carried(op, function, args, kwargs, lambda tensor: self._curves.get(id(tensor)))
            step.does = curves.named(curve[1]) if curve else ""
        self._sides[id(tensors[0])], self._curves[id(tensors[0])] = side, curve
        if in_place:
            self._places.pop(id(tensors[0]), None)
        elif op in operations.LAYOUT | operations.POOLING:
            with suppress(Exception):
                self._moves(step, function, op, args, kwargs, tensors)

    def _side_of(self, value):
        return self._sides.get(id(value), ())

    def _axes(self, step, function, op, args, kwargs, tensors):
        owner = next((p.name.split(".")[-2] for p, _, _ in step.parents if p.name.endswith(".weight")), "")
        owner = owner or step.box.rpartition(".")[2]
        found = carry.carried(function, op, args, kwargs, tensors[0], self.letters_of, self.sizes, owner)
        step.axes = found
        for tensor in tensors:
            alike = tensor.shape == tensors[0].shape and found != ()
            self.letters[id(tensor)] = found if alike else ("",) * tensor.dim()

    def _moves(self, step, function, op, args, kwargs, tensors):
        """Follows the numbers of one tensor through its rearrangements, and through a mean or sum of groups.

        Pieces of one tensor that are put together again are a rearrangement of it as well.
        """
        given = [args[0]] if op in _LIKE else list(tensors_in([args, kwargs]))
        if not given or sum(tensor.numel() for tensor in given) > patterns.MOST:
            return
        known = {id(t): self._places.get(id(t)) or (id(t), t.shape, patterns.places(t)) for t in given}
        root, shape, before = known[id(given[0])]
        if any(other != root for other, _, _ in known.values()):
            return
        if op in operations.POOLING:
            after = [patterns.pooled(function, args, kwargs, given[0], before)]
        else:
            after = patterns.moved(function, args, kwargs, {key: found[-1] for key, found in known.items()})
        if [getattr(found, "shape", None) for found in after or ()] != [tensor.shape for tensor in tensors]:
            return
        for tensor, found in zip(tensors, after):
            self._places[id(tensor)] = (root, shape, found.contiguous())
        step.moved = patterns.told(shape, after[0]) if len(after) == 1 else ""
