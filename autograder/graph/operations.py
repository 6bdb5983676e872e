"""Names PyTorch's functions as a picture shows them, and lists those that get no box.

A name is the one used in the code (`matmul`, `softmax`), without underscores: `a @ b`, `torch.matmul` and
`Tensor.__rmatmul__` are one operation.
"""

from collections.abc import Callable
from typing import Any

from torch.overrides import resolve_name

_SAME = {
    "rmatmul": "matmul",
    "truediv": "div",
    "true_divide": "div",
    "divide": "div",
    "rtruediv": "div",
    "rdiv": "div",
    "multiply": "mul",
    "rmul": "mul",
    "radd": "add",
    "rsub": "sub",
    "subtract": "sub",
    "negative": "neg",
    "power": "pow",
    "rpow": "pow",
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "itruediv": "div",
    "idiv": "div",
    "bitwise_not": "invert",
    "logical_not": "invert",
    "concat": "cat",
    "concatenate": "cat",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "movedim": "permute",
    "moveaxis": "permute",
    "t": "T",
    "H": "T",
    "mH": "mT",
    "adjoint": "mT",
    "bitwise_and": "and",
    "logical_and": "and",
    "bitwise_or": "or",
    "logical_or": "or",
    "clamp_min": "clamp",
    "clamp_max": "clamp",
    "absolute": "abs",
    "special_softmax": "softmax",
}
# Reflected operators: __rtruediv__(x, 1) is 1 / x.
REVERSED = {"__rtruediv__", "__rdiv__", "__rsub__", "__rpow__", "rsub"}

# The value passes unchanged: no box.
THROUGH = {
    "detach",
    "contiguous",
    "clone",
    "data",
    "requires_grad",
    "to",
    "type",
    "type_as",
    "float",
    "double",
    "half",
    "bfloat16",
    "cpu",
    "cuda",
    "alias",
    "positive",
    "resolve_conj",
    "resolve_neg",
    "retain_grad",
    "as_subclass",
    "pos",
    "lift_fresh",
    "from_numpy",
    "asarray",
    "as_tensor",
    "real",
}
# New tensors: their values do not depend on the tensor that provides their shape or type.
CREATE = {
    "zeros",
    "ones",
    "empty",
    "full",
    "eye",
    "arange",
    "range",
    "linspace",
    "logspace",
    "rand",
    "randn",
    "randint",
    "randperm",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "rand_like",
    "randn_like",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
    "tril_indices",
    "triu_indices",
}
BLANK = {"zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty"}
# Only the arrangement changes, not the numbers: drawn small.
LAYOUT = {
    "view",
    "reshape",
    "transpose",
    "permute",
    "T",
    "mT",
    "unflatten",
    "flatten",
    "squeeze",
    "unsqueeze",
    "expand",
    "expand_as",
    "view_as",
    "reshape_as",
    "repeat",
    "repeat_interleave",
    "tile",
    "broadcast_to",
    "chunk",
    "split",
    "unbind",
    "narrow",
    "select",
    "getitem",
    "stack",
    "cat",
    "hstack",
    "vstack",
    "row_stack",
    "column_stack",
    "setitem",
    "index_select",
    "split_with_sizes",
    "tensor_split",
    "tensor",
    "copy",
    "flip",
    "roll",
    "atleast_2d",
    "diagonal",
    "ravel",
    "unfold",
    "broadcast_tensors",
    "dstack",
    "hsplit",
    "vsplit",
    "take_along_dim",
}
LIKE = {"expand_as", "view_as", "reshape_as"}  # the second tensor provides only its shape
# Operations that reduce an axis and take it as `dim`.
REDUCTIONS = {"mean", "sum", "amax", "max", "median"}
# Each entry of the result combines several entries. A product, softmax or norm by hand uses at least one of
# these.
SUMS = {"sum", "mean", "cumsum", "var", "std", "var_mean", "norm", "vector_norm"}
PRODUCT = {
    "matmul",
    "mm",
    "bmm",
    "mv",
    "dot",
    "inner",
    "einsum",
    "tensordot",
    "linear",
    "addmm",
    "baddbmm",
    "vdot",
    "outer",
    "conv1d",
    "ger",
    "kron",
    "chain_matmul",
    "multi_dot",
    "vecdot",
}
SOFTMAX = {"softmax", "log_softmax", "softmin", "logsumexp"}
MASK = {"masked_fill", "where", "masked_scatter", "index_fill"}
NORM = {"layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm", "normalize"}
ACTIVATION = {
    "relu",
    "gelu",
    "silu",
    "tanh",
    "sigmoid",
    "elu",
    "leaky_relu",
    "mish",
    "softplus",
    "hardtanh",
    "relu6",
    "selu",
    "celu",
    "hardswish",
    "prelu",
    "logsigmoid",
    "threshold",
}
# Successive loop steps with similar terms may be folded: a running sum is one sum.
RUNNING = {"add", "setitem", "maximum", "minimum", "max", "cat", "and", "or", "mul", "index_put", "copy"}


def category(op: str) -> str:
    """Return the mathematical category of an operation, which decides its colour in a picture."""
    for name, group in (
        ("product", PRODUCT),
        ("softmax", SOFTMAX),
        ("mask", MASK),
        ("norm", NORM),
        ("activation", ACTIVATION),
        ("layout", LAYOUT | {"identity"}),
    ):
        if op in group:
            return name
    return "plain"


def name_of(function: Callable) -> str:
    """Return the plain name of a called function: Tensor.__matmul__ -> "matmul", Tensor.T -> "T",
    aten.mm.default -> "mm".
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    if name == "__get__":
        name = (resolve_name(function) or "").split(".")[-2:][0]
    elif name == "__set__":
        return "set"
    bare = name.partition(".")[0].strip("_") or name
    return _SAME.get(bare, bare)


def is_reversed(function: Callable) -> bool:
    return getattr(function, "__name__", "") in REVERSED


def number_text(value: object) -> str:
    """Return a number as it appears on a box: 2.828, 5, -inf."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return str(int(value)) if value == value and abs(value) < 1e6 and value == int(value) else f"{value:.4g}"


SIGNS = {"matmul": "@", "add": "+", "sub": "\u2212", "mul": "\u00d7", "div": "\u00f7", "pow": "to the power"}
_WITH_DIM = (
    SOFTMAX
    | REDUCTIONS
    | {
        "min",
        "amin",
        "argmax",
        "argmin",
        "cumsum",
        "cat",
        "stack",
        "unsqueeze",
        "squeeze",
        "norm",
        "var",
        "std",
        "prod",
        "topk",
        "unbind",
    }
)


def operand_text(op: str, number: float, reverse: bool) -> str:
    """Return an arithmetic operation with a number as text: "÷ 2" for x / 2, "2 ÷" for 2 / x."""
    return " ".join((number_text(number), SIGNS[op]) if reverse else (SIGNS[op], number_text(number)))


def detail_of(op: str, function: Callable, args: tuple, kwargs: dict) -> str:
    """Return the arguments that matter, as text: "dim -1", "÷ 2.828", "-2, -1"."""
    numbers = [a for a in args if isinstance(a, (int, float))]
    if op in SIGNS and numbers:
        return operand_text(op, numbers[0], is_reversed(function))
    if op == "gelu":
        return "tanh form" if "tanh" in (*args[1:], kwargs.get("approximate")) else ""
    if op == "einsum":
        return next((a.replace(" ", "") for a in args if isinstance(a, str)), "")
    if op == "getitem":
        return f"[{', '.join(map(_part_text, _as_tuple(args[1])))}]" if len(args) > 1 else ""
    if op in MASK:
        fill = [a for a in (*args, *kwargs.values()) if type(a) in (int, float)]
        return number_text(fill[-1]) if fill else ""
    if op in _WITH_DIM:
        given = next((a for a in args[1:] if type(a) in (int, tuple, list)), ())
        dims = _as_tuple(kwargs.get("dim", kwargs.get("axis", given)))
        if not dims or any(type(d) is not int for d in dims):
            return "all" if op in ("sum", "mean") else ""
        return "dim " + ", ".join(str(d) for d in dims)
    if op in ("transpose", "permute", "tril", "triu"):
        rest = (*args[1:], *kwargs.values())
        return ", ".join(str(d) for a in rest for d in _as_tuple(a) if isinstance(d, int))
    return ""


def _as_tuple(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _part_text(part: object) -> str:
    """Return one part of an index as written in code (0, :, 1:3, ::2), or "index" for a tensor or a list."""
    if isinstance(part, slice):
        ends = part.start, part.stop, *(() if part.step is None else (part.step,))
        return ":".join("" if end is None else str(int(end)) for end in ends)
    if part is Ellipsis:
        return "\u2026"
    return str(part) if part is None or isinstance(part, (int, bool)) else "index"
