"""Defines the tracer's record, with one Step for each operation, and the mathematical role of a step:

product      matmul, einsum, linear, ...
scale        multiplied or divided by a number
mask         masked_fill, where, or a mask that is added or multiplied
softmax, norm, activation, layout
add          a sum of two results          bias   a parameter added
times        an elementwise product of two results
plain        none of these: exp, sum, max, ...
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import torch

from autograder.graph import operations as ops
from autograder.isolation import is_vmap_wrapper, unwrapped

ROLES = (
    "product",
    "scale",
    "mask",
    "softmax",
    "norm",
    "activation",
    "layout",
    "add",
    "bias",
    "times",
    "plain",
)


@dataclass(eq=False)
class Step:
    """One operation that ran, or one tensor that comes from outside the computation."""

    index: int
    kind: str
    op: str
    name: str = ""
    detail: str = ""
    parents: list["Link"] = field(default_factory=list)
    shape: tuple | None = None
    box: str = ""
    part: str = ""  # the class of the part that ran it
    number: float | None = None  # the scalar operand of x * 2
    reverse: bool = False  # 2 / x rather than x / 2
    value: float | None = None  # of a constant with one element
    dim: int | None = None  # counted from the end
    boolean: bool = False
    is_mask: bool = False  # Boolean, or with large negative numbers, or made only of masks and constants
    constant: bool = False  # depends on no input and no parameter
    failed: bool = False
    memory: int | None = None  # the storage that it reads or writes in part
    met: list = field(default_factory=list)  # if it failed: the shapes of its input tensors
    blocked: str = ""  # these two: see propagation.py
    order: str = ""

    @property
    def is_auxiliary(self) -> bool:
        """True if the step is a parameter, a constant or a mask. Pictures draw such steps small."""
        return self.kind in ("parameter", "constant") or self.is_mask

    @property
    def factor(self) -> float | None:
        """The number that a scale multiplies by; None if the step is not a scale."""
        if self.op == "neg":
            return -1.0
        if self.number is None or len(self.parents) != 1 or self.reverse or self.op not in ("mul", "div"):
            return None
        if self.op == "div":
            return 1 / self.number if self.number else None
        return self.number

    @property
    def role(self) -> str:
        """The mathematical role of an operation, however it was written; empty for data."""
        parents = [parent for parent, _ in self.parents]
        if self.kind != "operation":
            return ""
        if self.op in ops.MASK:
            return "mask"
        if (
            self.op in ("add", "sub", "mul")
            and len(parents) > 1
            and any(parent.is_mask for parent in parents)
        ):
            return "mask"
        if self.factor is not None:
            return "scale"
        if self.op in ("add", "sub") and any(parent.kind == "parameter" for parent in parents):
            return "bias"
        if self.op in ("add", "mul") and len(parents) > 1:
            return "add" if self.op == "add" else "times"
        return ops.category(self.op)


Link = tuple[Step, int | str]  # where an argument comes from, and its position or name
Outputs = list[tuple[tuple[Step, ...], tuple]]  # for each output, the steps that it comes from, and its shape


def describe(step: Step, function: Callable, args: tuple, kwargs: dict) -> None:
    """Set the fields of the step that depend on the call's arguments: detail, number, reverse and dim. A
    dropout that drops nothing also gets the name "off".
    """
    op = step.op
    step.detail = ops.detail_of(op, function, args, kwargs)
    numbers = [a for a in args if isinstance(a, (int, float)) and not isinstance(a, bool)]
    if op in ("mul", "div", "add", "sub", "pow") and numbers:
        step.number = float(numbers[0])
        step.reverse = ops.is_reversed(function)
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if op in ops.SOFTMAX | ops.REDUCTIONS and type(dim) is int and isinstance(args[0], torch.Tensor):
        step.dim = dim if dim < 0 else dim - args[0].dim()
    if op == "layer_norm":
        step.dim = -len(args[1] if len(args) > 1 else kwargs["normalized_shape"])
    if op == "dropout":
        given = args[1:3]
        p, training = given + (0.5, True)[len(given) :]
        drops = kwargs.get("p", p) and kwargs.get("training", training)
        step.name = "" if drops else "off"


def fills_mask(args: tuple) -> bool:
    """Return whether an assignment with these arguments writes a mask, as scores[~allowed] = -inf does."""
    return (
        len(args) > 2
        and isinstance(args[2], (int, float))
        and args[2] <= -1e3
        and any(tensor.dtype == torch.bool for tensor in tensors_in(args[1]))
    )


def uses_of(steps: Iterable[Step], outputs: Outputs) -> Counter[Step]:
    """Count how often each step is used, as an input or as an output."""
    taken = Counter(parent for step in steps for parent, _ in step.parents)
    return taken + Counter(step for found, _ in outputs for step in found)


def tensors_in(value: object, depth: int = 0) -> Iterator[torch.Tensor]:
    """Yield all tensors in nested lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 6 and isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part, depth + 1)
    elif depth < 6 and isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part, depth + 1)


def storage_of(tensor: torch.Tensor) -> int | None:
    """Return the address of the tensor's storage, which all views share; inside `torch.vmap`, return the
    address for the whole batch. Return None if the tensor has no storage.
    """
    try:
        while is_vmap_wrapper(tensor):
            tensor = unwrapped(tensor)
        return tensor.untyped_storage().data_ptr() or None
    except (RuntimeError, NotImplementedError):  # sparse and similar tensors have none
        return None
