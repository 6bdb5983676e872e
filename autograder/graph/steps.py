"""What the tracer writes down: one Step for each operation, and how its arguments are read."""

from dataclasses import dataclass, field

import torch

from autograder.graph import operations

_REDUCE = {"sum", "max", "amax", "mean"}


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
    of_masks: bool = False  # made of masks and constants alone
    constant: bool = False  # depends on no input and no parameter
    failed: bool = False
    memory: int | None = None  # where the tensor lies that it picks from or writes to
    met: tuple = ()  # the shapes of the tensors that went in
    axes: tuple = ()  # letters of the result's axes, see axes.py
    blocked: str = ""  # what a mask forbids, see patterns.py
    moved: str = ""  # where a rearrangement puts each number, see patterns.py
    fill: float | None = None  # what a mask writes
    does: str = ""  # the activation that it and the steps before it amount to, see curves.py
    side: str = ""  # which axis of its weight a learned product sums over, see sides.py
    part: str = ""  # the class of the part that ran it


def describe(step, function, op, args, kwargs):
    """The arguments, in words and as numbers. Strange arguments are not described."""
    try:
        step.detail = operations.detail_of(op, function, args, kwargs)
        numbers = [a for a in args if isinstance(a, (int, float)) and not isinstance(a, bool)]
        if op in ("mul", "div", "add", "sub", "pow") and numbers:
            step.number = float(numbers[0])
            step.reverse = operations.is_reversed(function)
        if op in operations.MASK:
            step.fill = _fill(op, args, kwargs)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if op in operations.SOFTMAX | _REDUCE and isinstance(dim, int):
            step.dim = dim if dim < 0 else dim - args[0].dim()
        if op == "layer_norm":
            step.dim = -len(args[1] if len(args) > 1 else kwargs["normalized_shape"])
        if op == "dropout":
            p, training = (
                (*args[1:3], 0.5, True)[:2]
                if len(args) > 2
                else (kwargs.get("p", 0.5), kwargs.get("training"))
            )
            step.name = "off" if not p or not training else ""
    except Exception:
        return


def _fill(op, args, kwargs):
    """The number that a mask writes, given as a number or as a tensor of one."""
    values = [*args[1:], *kwargs.values()]
    for value in reversed(values):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, torch.Tensor) and value.numel() == 1 and value.dtype != torch.bool:
            return float(value)
    return None


def fills_mask(args):
    """scores[~allowed] = -inf: a mask, written as an assignment."""
    return (
        len(args) > 2
        and isinstance(args[2], (int, float))
        and args[2] <= -1e3
        and any(tensor.dtype == torch.bool for tensor in tensors_in(args[1]))
    )


def tensors_in(value, depth=0):
    """All tensors in nested lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth < 6 and isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part, depth + 1)
    elif depth < 6 and isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part, depth + 1)


def storage_of(tensor):
    """Where the numbers lie, the same for all views of them; inside `torch.vmap` that of the whole batch."""
    try:
        while is_one_of_many(tensor):
            tensor = torch._C._functorch.get_unwrapped(tensor)
        return tensor.untyped_storage().data_ptr() or None
    except Exception:
        return None


def is_one_of_many(tensor):
    """Does it stand for each of many tensors, as inside `torch.vmap`? Then it has no numbers of its own."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)
