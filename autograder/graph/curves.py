"""What becomes of one number, step by step: how an activation is known that was written out by hand.

Steps that treat every number by itself are run on a few points too. 0.5 * u * (1 + erf(u / sqrt(2))) gives GELU's
values there, so it is GELU, however it was written; with a factor left out it is not.
"""

import torch
from torch.nn import functional as F

from autograder.graph.steps import tensors_in

_POINTS = torch.linspace(-3, 3, 25, dtype=torch.float64)
OWN = "own"  # none that has a name
_EACH = {
    "mul", "div", "add", "sub", "pow", "neg", "square", "sqrt", "rsqrt", "reciprocal", "abs", "sign", "exp", "exp2",
    "expm1", "log", "log1p", "erf", "erfc", "special_erf", "special_ndtr", "special_log_ndtr", "tanh", "sigmoid",
    "special_expit", "relu", "relu6", "gelu", "silu", "elu", "selu", "celu", "mish", "softplus", "leaky_relu",
    "hardswish", "hardtanh", "logsigmoid", "clamp", "maximum", "minimum", "where", "gt", "ge", "lt", "le", "sin", "cos",
}  # fmt: skip
_KNOWN = {
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "elu": F.elu,
}


def carried(op, function, args, kwargs, known):
    """(id of the tensor at the start, values at the points) after a step; None where it does more than that.

    `known(tensor)` gives the same for an argument; a tensor of which nothing is known is a start itself.
    """
    given = [tensor for tensor in tensors_in([args, kwargs]) if tensor.numel() != 1]
    if op not in _EACH or not given or "out" in kwargs:
        return None
    found = {id(tensor): known(tensor) or (id(tensor), _POINTS) for tensor in given}
    if len({start for start, _ in found.values()}) != 1:
        return None

    def on_points(value):
        return found[id(value)][1].clone() if id(value) in found else value

    values = function(*map(on_points, args), **{name: on_points(value) for name, value in kwargs.items()})
    return (next(iter(found.values()))[0], values) if values.shape == _POINTS.shape else None


def named(values):
    """The activation that has these values, OWN for a curve that is none of them, "" for a straight line."""
    if not values.is_floating_point():
        return ""
    values = values.to(torch.float64)
    if bool((values.diff().diff().abs() < 1e-6).all()):
        return ""
    return next((name for name, curve in _KNOWN.items() if torch.allclose(curve(_POINTS), values, atol=1e-5)), OWN)
