"""Records every PyTorch operation of a computation while it runs.

The tracer is a `torch.overrides.TorchFunctionMode`, PyTorch's own hook for this. A mode sees every call in
its own thread, even on plain tensors; no part of PyTorch is replaced; and the steps before a failure are
kept.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from autograder.faults import trust_boundary
from autograder.graph import opened, operations
from autograder.graph.propagation import Provenance
from autograder.graph.steps import Link, Step, describe, fills_mask, storage_of, tensors_in
from autograder.isolation import is_vmap_wrapper

MAX_STEPS = 6_000
_CALL = nn.Module._call_impl.__code__
# These compute nothing, although they may return a tensor.
_SILENT = {"set", "grad", "register_hook"}
# Calls that lead out of PyTorch into plain numbers, and back.
_LEAVES = {"item", "tolist", "numpy", "float", "int", "array"}
_RETURNS = {"tensor", "as_tensor", "asarray", "from_numpy", "full"}
_MOST_ESCAPED = 400


class TooLong(BaseException):
    """Raised to end a computation with too many steps. It is a BaseException, so that `except Exception` in a
    student's code does not catch it.
    """


class Tracer(TorchFunctionMode):
    """Collects steps. `names` holds the names of the tensors and modules that come from outside the
    computation, keyed by id.
    """

    def __init__(self, names: dict[int, str]):
        super().__init__()
        self.names = names
        self.steps: list[Step] = []
        self.failures: list[tuple[Exception, Step]] = []  # (error, step)
        self.broken: Exception | None = None  # an error of the tracer itself
        self._known = Provenance()
        self._escaped: dict[Step, None] = {}  # steps whose results .item(), .tolist() or .numpy() read out

    @trust_boundary
    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        op = operations.name_of(function)
        try:
            result = function(*args, **kwargs)
        except Exception as error:  # any error of the traced code is recorded and raised again
            self._recorded(self._fail, function, op, args, kwargs, error)
            raise
        if op not in _SILENT:
            self._recorded(self._note, function, op, args, kwargs, result)
        return result

    def _recorded(self, record: Callable, *what: Any) -> None:
        """Call `record` with the arguments `what`.

        subtle: an error of the tracer must not look like an error of the traced code. So it is stored in
        `broken`, and reported afterwards.
        """
        try:
            record(*what)
        except Exception as error:  # ours, reported when the run is over
            self.broken = self.broken or error

    def leaf(self, tensor: torch.Tensor, kind: str, name: str) -> Step:
        """Record a step of its own for a tensor that comes from outside the computation, and return the step."""
        step = self._new(kind, "", tensor, name=name, constant=kind == "constant")
        _look_at_values(step, tensor)
        self._known.settle(tensor, (step,))
        return step

    def sources(self, tensor: torch.Tensor) -> tuple[Step, ...]:
        """Return the steps whose results the tensor now holds, including steps that wrote to it through other
        views.
        """
        if tensor not in self._known:
            self._unknown(tensor)
        return self._known.of(tensor)

    def is_strange(self, tensor: torch.Tensor) -> bool:
        """Return whether the origin of the tensor is unknown: no step made it, it has no name and is not a
        parameter, and it cannot have been made from values that were read out as plain numbers.
        """
        known = tensor in self._known or id(tensor) in self.names or self._known.owner(tensor)
        return not known and not self._escaped and not isinstance(tensor, nn.Parameter)

    def _note(self, function: Callable, op: str, args: tuple, kwargs: dict, result: Any) -> None:
        written = args[0] if op == "setitem" else kwargs.get("out")
        tensors = list(tensors_in(result)) if written is None else [written]
        if not tensors and op in _LEAVES and len(self._escaped) < _MOST_ESCAPED:
            self._escaped.update(dict.fromkeys(step for a in tensors_in(args) for step in self.sources(a)))
        if not tensors or not isinstance(tensors[0], torch.Tensor):
            return
        source = next(tensors_in(args), None)
        if op in operations.THROUGH and source is not None:
            self._known.pass_on(source, tensors[0])
            self._known.settle(tensors[0], self.sources(source))
            return
        if opened.is_fused(function) and self._open(function, args, kwargs, tensors):
            return
        step = self._operation(function, op, args, kwargs, tensors[0])
        in_place = written is not None or any(tensors[0] is a for a in args)
        for tensor in tensors:
            self._known.settle(tensor, (step,), wrote=step if in_place else None)
        if not any(is_vmap_wrapper(tensor) or tensor.is_meta for tensor in tensors):
            self._known.follow(step, function, args, kwargs, tensors, in_place)

    def _operation(
        self, function: Callable, op: str, args: tuple, kwargs: dict, result: torch.Tensor
    ) -> Step:
        # Some operations take only a shape from their tensors, or from the second one.
        taken = () if op in operations.CREATE else args[:1] if op in operations.LIKE else args
        parents = self._parents(taken, {} if op in operations.CREATE else kwargs)
        if op in _RETURNS or (op == "setitem" and isinstance(args[2], float)):
            parents += [(step, 2) for step in self._escaped]
        if op in ("setitem", "index_put") and fills_mask(args):
            op = "masked_fill"
        box, part = self._box()
        step = self._new("operation", op, result, parents=parents, box=box, part=part)
        step.constant = all(parent.constant for parent, _ in parents)
        describe(step, function, args, kwargs)
        if op in ("getitem", "setitem"):
            step.memory = storage_of(args[0])
        if all(parent.constant or parent.is_mask for parent, _ in parents):
            step.is_mask |= bool(parents) and not step.constant
            _look_at_values(step, result)
        return step

    def _parents(self, args: tuple, kwargs: dict) -> list[Link]:
        found = []
        for position, value in [*enumerate(args), *kwargs.items()]:
            for tensor in tensors_in(value):
                found += [(step, position) for step in self.sources(tensor)]
        return found

    def _open(self, function: Callable, args: tuple, kwargs: dict, results: list[torch.Tensor]) -> bool:
        """Record a fused function as its separate operations and return True; if `opened.expand` does not
        cover it, record nothing and return False.
        """
        mark = len(self.steps)
        try:
            with torch.random.fork_rng(devices=[]), self:
                meant = opened.expand(function, args, kwargs, self._name_parameter)
        except (opened.NotCovered, TypeError, RuntimeError):  # options and shapes beyond the tables
            del self.steps[mark:]
            return False
        for real, tensor in zip(results, meant):
            self._known.settle(real, self.sources(tensor))
            self._known.pass_on(tensor, real)
        return True

    def _name_parameter(self, packed: torch.Tensor, tensor: torch.Tensor, name: str) -> None:
        part = self.names.get(id(packed), "").rpartition(".")[0]
        self.leaf(tensor, "parameter", f"{part}.{name}" if part else name)

    def _fail(self, function: Callable, op: str, args: tuple, kwargs: dict, error: Exception) -> None:
        step = self._new(
            "operation", op, parents=self._parents(args, kwargs), box=self._box()[0], failed=True
        )
        # Leave parameters out if there are at least two other tensors.
        given = list(tensors_in([args, kwargs]))
        others = [tensor for tensor in given if not isinstance(tensor, nn.Parameter)]
        step.met = [tuple(tensor.shape) for tensor in (others if len(others) > 1 else given)]
        self.failures.append((error, step))

    def _new(self, kind: str, op: str, result: torch.Tensor | None = None, **fields: Any) -> Step:
        if len(self.steps) >= MAX_STEPS:
            raise TooLong
        if result is not None:
            boolean = result.dtype == torch.bool
            fields |= {"shape": tuple(result.shape), "boolean": boolean, "is_mask": boolean}
        self.steps.append(Step(len(self.steps), kind, op, **fields))
        return self.steps[-1]

    def _unknown(self, tensor: torch.Tensor) -> None:
        """Record a tensor that no step made: a parameter, a buffer, a captured constant, a tensor made from
        values that were read out (for instance into NumPy), or a view of known storage.
        """
        owner = self._known.owner(tensor)
        named = id(tensor) in self.names or isinstance(tensor, nn.Parameter)
        if self._escaped and owner is None and not named:
            back = [(step, 0) for step in self._escaped]
            self._known.settle(tensor, (self._new("operation", "tensor", tensor, parents=back),))
        elif named or owner is None:
            kind = "parameter" if isinstance(tensor, nn.Parameter) else "constant"
            self.leaf(tensor, kind, self.names.get(id(tensor), ""))
        else:
            self._known.settle(tensor, (owner,))

    def _box(self) -> tuple[str, str]:
        """Return the name and the class name of the module that is running, or two empty strings. Both names
        are read from the call stack, so that nothing in PyTorch has to be replaced.
        """
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            if frame.f_code is _CALL:
                part = frame.f_locals["self"]
                return self.names.get(id(part), ""), type(part).__name__
            frame = frame.f_back
        return "", ""


def _look_at_values(step: Step, tensor: torch.Tensor) -> None:
    """Record in `step` the tensor's value, if it is a constant with one element, and whether the tensor holds
    large negative numbers, as a mask does.
    """
    if (
        is_vmap_wrapper(tensor)
        or tensor.is_meta
        or tensor.is_complex()
        or not 0 < tensor.numel() <= 1_000_000
    ):
        return
    if tensor.numel() == 1 and step.constant:
        step.value = float(tensor)
    if tensor.is_floating_point():
        step.is_mask |= bool((tensor <= -1e4).any())
