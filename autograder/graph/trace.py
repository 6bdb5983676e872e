"""Runs a computation once and writes down every PyTorch operation on the way.

The tracer is PyTorch's own hook for this, `torch.overrides.TorchFunctionMode`. torchview (0.2.7) was
measured first. On the course's answers it draws no output where rows are written (`out[i] = ...`), loses a
mask that is filled in place, shows no parameters and no constants, keeps `nn.MultiheadAttention` shut, and
gives nothing at all where forward fails. Meanwhile it replaces `nn.Module.__call__` and 28 functions of
torch for the whole process, and it moves the model to a GPU where there is one. A mode sees every call of
its own thread, also on plain tensors, and what ran before a failure stays.
"""

import sys
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from autograder.graph import opened, operations

MAX_STEPS = 6_000
_CALL = nn.Module._call_impl.__code__
# Not computing, though a tensor may come back.
_SILENT = {"set", "grad", "register_hook"}
# Ways out of PyTorch into plain numbers, and back in.
_LEAVES = {"item", "tolist", "numpy", "float", "int", "array"}
_RETURNS = {"tensor", "as_tensor", "asarray", "from_numpy", "full"}
_MOST_LEFT = 400


class TooLong(BaseException):
    """Ends a computation of too many steps; no `except Exception` of a student stops it."""


@dataclass(eq=False)
class Step:
    """One operation that ran, or a tensor that was there before."""

    index: int
    kind: str
    op: str
    name: str = ""
    detail: str = ""
    parents: list = field(default_factory=list)  # of (Step, position, shape)
    shape: tuple | None = None
    box: str = ""
    number: float | None = None  # the scalar operand of x * 2
    reverse: bool = False  # 2 / x rather than x / 2
    value: float | None = None  # of a constant with one element
    dim: int | None = None  # counted from the end
    boolean: bool = False
    blocks: bool = False  # a float mask: zeros, and large negative numbers
    constant: bool = False  # depends on no input and no parameter
    failed: bool = False
    met: tuple = ()  # the shapes of the tensors that went in


class Tracer(TorchFunctionMode):
    """Collects steps. `names` says what tensors and modules from outside are called, by id."""

    def __init__(self, names):
        super().__init__()
        self.names = names
        self.steps = []
        self.failures = []  # (error, step)
        self._origin = {}  # id of tensor -> (steps, time)
        self._writes = {}  # storage -> [(time, step)]: what was written through any view
        self._owner = {}  # storage -> step that first had it
        self._left = {}  # steps whose values became plain numbers
        self._alive = []  # ids stay unique while the tensors live

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        op = operations.name_of(function)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            self._fail(function, op, args, kwargs, error)
            raise
        if op not in _SILENT:
            # subtle: an error of the tracer must not become an error of the code that is traced.
            with suppress(Exception):
                self._note(function, op, args, kwargs, result)
        return result

    def leaf(self, tensor, kind, name):
        """Makes a tensor that comes from outside known."""
        step = self._new(
            kind,
            "",
            name=name,
            shape=tuple(tensor.shape),
            boolean=tensor.dtype == torch.bool,
            constant=kind == "constant",
        )
        self._value(step, tensor)
        self._settle(tensor, (step,))
        return step

    def sources(self, tensor):
        """The steps whose results the tensor holds now, writes through other views included."""
        if id(tensor) not in self._origin:
            self._unknown(tensor)
        steps, time = self._origin[id(tensor)]
        later = [step for moment, step in self._writes.get(_storage(tensor), ()) if moment > time]
        return tuple(dict.fromkeys((*steps, *later)))

    def alias(self, tensor, step):
        """From now on the tensor counts as the result of that step."""
        self._settle(tensor, (step,))

    def _note(self, function, op, args, kwargs, result):
        written = args[0] if op == "setitem" else kwargs.get("out")
        tensors = list(_tensors(result)) if written is None else [written]
        if not tensors and op in _LEAVES and len(self._left) < _MOST_LEFT:
            self._left.update(dict.fromkeys(step for a in _tensors(args) for step in self.sources(a)))
        if not tensors or not isinstance(tensors[0], torch.Tensor):
            return
        if op in operations.THROUGH and any(True for _ in _tensors(args)):
            source = next(_tensors(args))
            return self._settle(tensors[0], self.sources(source))
        if opened.is_fused(function) and self._open(function, args, kwargs, tensors):
            return
        step = self._operation(function, op, args, kwargs, tensors[0])
        in_place = written is not None or any(tensors[0] is a for a in args)
        for tensor in tensors:
            self._settle(tensor, (step,), wrote=step if in_place else None)

    def _operation(self, function, op, args, kwargs, result):
        parents = [] if op in operations.CREATE else self._parents(args, kwargs)
        if op in _RETURNS or (op == "setitem" and isinstance(args[2], float)):
            parents += [(step, 2, step.shape) for step in self._left]
        if op in ("setitem", "index_put") and _fills_mask(args):
            op = "masked_fill"
        step = self._new(
            "operation",
            op,
            parents=parents,
            shape=tuple(result.shape),
            box=self._box(),
            boolean=result.dtype == torch.bool,
        )
        step.met = tuple(shape for _, _, shape in parents)
        step.constant = all(parent.constant for parent, _, _ in parents)
        _describe(step, function, op, args, kwargs)
        if all(parent.constant or parent.boolean or parent.blocks for parent, _, _ in parents):
            self._value(step, result)
        return step

    def _parents(self, args, kwargs):
        found = []
        for position, value in [*enumerate(args), *kwargs.items()]:
            for tensor in _tensors(value):
                found += [(step, position, tuple(tensor.shape)) for step in self.sources(tensor)]
        return found

    def _open(self, function, args, kwargs, results):
        """Writes a fused function down as the mathematics that it does, where that is known."""
        mark = len(self.steps)
        try:
            with torch.random.fork_rng(devices=[]), self:
                meant = opened.expand(function, args, kwargs, self)
        except Exception:
            del self.steps[mark:]
            return False
        for real, tensor in zip(results, meant):
            self._settle(real, self.sources(tensor))
        return True

    def _fail(self, function, op, args, kwargs, error):
        try:
            step = self._new(
                "operation", op, parents=self._parents(args, kwargs), box=self._box(), failed=True
            )
            step.met = tuple(tuple(t.shape) for t in _tensors([args, kwargs]))
            _describe(step, function, op, args, kwargs)
            self.failures.append((error, step))
        except Exception:
            return

    def _new(self, kind, op, **fields):
        if len(self.steps) >= MAX_STEPS:
            raise TooLong
        self.steps.append(Step(len(self.steps), kind, op, **fields))
        return self.steps[-1]

    def _unknown(self, tensor):
        """A tensor that no step made: a parameter, a buffer, a captured constant, or a way round by NumPy."""
        owner = self._owner.get(_storage(tensor))
        named = id(tensor) in self.names or isinstance(tensor, nn.Parameter)
        if self._left and owner is None and not named:
            back = [(step, 0, step.shape) for step in self._left]
            self._settle(tensor, (self._new("operation", "tensor", parents=back, shape=tuple(tensor.shape)),))
        elif named or owner is None:
            kind = "parameter" if isinstance(tensor, nn.Parameter) else "constant"
            self.leaf(tensor, kind, self.names.get(id(tensor), ""))
        else:
            self._settle(tensor, (owner,))

    def _settle(self, tensor, steps, wrote=None):
        self._alive.append(tensor)
        now, storage = len(self._alive), _storage(tensor)
        self._origin[id(tensor)] = (steps, now)
        if storage is not None:
            self._owner.setdefault(storage, steps[0])
            if wrote is not None:
                self._writes.setdefault(storage, []).append((now, wrote))

    def _value(self, step, tensor):
        if tensor.is_complex() or tensor.numel() == 0 or tensor.numel() > 1_000_000:
            return
        if tensor.numel() == 1 and step.constant:
            step.value = float(tensor)
        if tensor.is_floating_point():
            step.blocks = bool((tensor <= -1e4).any())

    def _box(self):
        """The part of the model that is running: read off the call stack, so that nothing is replaced."""
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code is _CALL:
                part = frame.f_locals["self"]
                return self.names.get(id(part), "")
            frame = frame.f_back
        return ""


def _describe(step, function, op, args, kwargs):
    """The arguments, in words and as numbers. Strange arguments are not described."""
    try:
        step.detail = operations.detail_of(op, function, args, kwargs)
        numbers = [a for a in args if isinstance(a, (int, float)) and not isinstance(a, bool)]
        if op in ("mul", "div", "add", "sub", "pow") and numbers:
            step.number = float(numbers[0])
            step.reverse = operations.is_reversed(function)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if op in operations.SOFTMAX | {"sum"} and isinstance(dim, int):
            step.dim = dim if dim < 0 else dim - args[0].dim()
        if op == "dropout":
            p, training = (
                (*args[1:3], 0.5, True)[:2]
                if len(args) > 2
                else (kwargs.get("p", 0.5), kwargs.get("training"))
            )
            step.name = "off" if not p or not training else ""
    except Exception:
        return


def _fills_mask(args):
    """scores[~allowed] = -inf: a mask, written as an assignment."""
    return (
        len(args) > 2
        and isinstance(args[2], (int, float))
        and args[2] <= -1e3
        and any(tensor.dtype == torch.bool for tensor in _tensors(args[1]))
    )


def _tensors(value, depth=0):
    """All tensors in nested lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 6 and isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part, depth + 1)
    elif depth < 6 and isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part, depth + 1)


def _storage(tensor):
    try:
        return tensor.untyped_storage().data_ptr() or None
    except Exception:
        return None
