"""Decides whether two encoded values (see autograder.values.encode) agree, and finds where they differ.

Tensors and floats are compared with a tolerance, everything else exactly. Types must be the same: True is not
1, and 1 is not 1.0. A case can ask for a different comparison with a `Match`.

Why the tolerance is 1e-4: a right float32 answer differs from the float64 reference only by rounding. With
unit-size inputs and the short sums of the cases, the rounding error is about 1e-6. With large scores it is
about 1e-7 of their size; the cases keep it small by using inputs that are exact in float32. The smallest
error that must be rejected is about 5e-4: that of the tanh form of GELU. 1e-4 lies well above the rounding
errors and below this error.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from autograder.values import Encoded
from autograder.values.encode import items_of, length_of

ABSOLUTE = 1e-4
RELATIVE = 1e-4
SMALLEST, LARGEST = (
    1e-3,
    10.0,
)  # root mean square of weights that can learn; nn.Linear and torch.randn lie well between
TENSORS = ("Tensor", "Parameter")
WAYS = ("close", "exact", "same set", "same rows", "one of", "random", "same")


@dataclass(frozen=True)
class Match:
    """A way to compare a result, with a factor `scale` for the tolerance. `how` is one of these:

    "close"      equal within the tolerance
    "exact"      equal
    "same set"   the items of a list, or the rows of a tensor, are the same in any order
    "same rows"  the rows of each tensor, alone or in a list, are the same in any order; all axes but the last
                 are flattened into one axis of rows
    "one of"     the reference gives a list of right results, and the answer must give one of them
    "random"     the parameters of two new modules have reasonable sizes, and no two of them are alike
    "same"       two values from students' code, neither of them a reference, are the same: tensors may be of
                 any class, the tolerance follows the largest entry, and errors are compared by type
    """

    how: str = "close"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise ValueError(f"there is no way to compare called {self.how!r}")


CLOSE, EXACT, SAME_SET, SAME_ROWS = Match("close"), Match("exact"), Match("same set"), Match("same rows")
ONE_OF, RANDOM = Match("one of"), Match("random")


def close(scale: float) -> Match:
    """Return a Match with `scale` times the tolerance."""
    return Match("close", scale)


@dataclass(frozen=True)
class Difference:
    """The first place where two values differ.

    what    "kind", "class", "length", "keys", "shape", "kind of number", "value", "not finite", "dtype",
            "any" (no match among several), "constant", "alike", "size" (the last three: of random parameters)
    path    the indices and keys that lead to this place through lists and dicts
    index   the index of the tensor entry that is furthest off
    """

    what: str
    expected: Encoded
    actual: Encoded
    path: tuple = ()
    index: tuple[int, ...] = ()
    expected_type: torch.dtype | None = None


def difference(
    expected: Encoded,
    actual: Encoded,
    match: Match = CLOSE,
    float_type: torch.dtype | None = None,
    path: tuple = (),
) -> Difference | None:
    """Return the first Difference, looking at kinds and shapes before numbers, or None if the values agree.

    With `float_type`, float tensors must have this dtype, whatever the dtype of the expected value (a
    reference runs in float64).
    """
    if match.how in SPECIAL:
        return SPECIAL[match.how](expected, actual, match, float_type, path)
    if match.how == "same rows" and expected["kind"] == actual["kind"] == "tensor":
        return _same_set(_rows(expected), _rows(actual), match, float_type, path)
    kind = expected["kind"]
    # subtle: a value that cannot be compared is never right, even if the expected one cannot be compared
    # either.
    if actual["kind"] != kind or kind == "other":
        return Difference("kind", expected, actual, path)
    if kind == "tensor":
        return _tensors(expected, actual, match, float_type, path)
    if kind in ("list", "tuple"):
        return _sequences(expected, actual, match, float_type, path)
    if kind in ("dict", "sketch"):
        return _dicts(expected, actual, match, float_type, path)
    if kind == "error":
        agree = match.how == "same" and expected["type"] == actual["type"]
    elif kind == "float" and match.how != "exact":
        agree = _close_floats(expected["value"], actual["value"], match.scale)
    else:
        agree = kind == "None" or expected["value"] == actual["value"]
    return None if agree else Difference("value", expected, actual, path)


def same_value(a: Encoded | None, b: Encoded | None, scale: float = 1.0) -> bool:
    """Return whether two answers gave the same value, right or wrong."""
    if a is None or b is None:
        return a is b
    return difference(a, b, Match("same", scale)) is None


def _random(
    expected: Encoded, actual: Encoded, match: Match, float_type: torch.dtype | None, path: tuple
) -> Difference | None:
    """Return a Difference unless the weights of two modules (dicts by name) have the expected shapes and look
    like random numbers: none constant, no two alike, and none much smaller or larger than a layer needs in
    order to learn.
    """
    if difference(_shapes_of(expected), _shapes_of(actual)) is not None:
        return difference(expected, actual, CLOSE, float_type, path)
    pairs = [(one["keys"], one["items"]) for one in actual["items"]]
    weights = [(key, item) for keys, items in pairs for key, item in zip(keys, items, strict=True)]
    weights = [(key, item) for key, item in weights if item["data"].dim() > 1 and item["data"].numel() > 1]
    for key, item in weights:
        data = item["data"].double()
        if bool((data == data.flatten()[0]).all()):
            return Difference("constant", expected, item, (*path, key))
        if not bool(data.isfinite().all()) or not SMALLEST <= float(data.square().mean().sqrt()) <= LARGEST:
            return Difference("size", expected, item, (*path, key))
    for (key, one), (name, other) in combinations(weights, 2):
        if one["data"].shape == other["data"].shape and torch.equal(one["data"], other["data"]):
            return Difference("alike", one, other, (*path, key, name))
    return None


def _shapes_of(value: Encoded) -> Encoded:
    if "keys" in value:
        return {"kind": "dict", "keys": value["keys"], "items": [_shapes_of(item) for item in value["items"]]}
    return {"kind": "str", "value": str(tuple(value["data"].shape))} if "data" in value else value


def _one_of(
    expected: Encoded, actual: Encoded, match: Match, float_type: torch.dtype | None, path: tuple
) -> Difference | None:
    plain = close(match.scale)
    agrees = any(difference(one, actual, plain, float_type) is None for one in items_of(expected))
    return None if agrees else Difference("any", expected, actual, path)


def _same_set(
    expected: Encoded, actual: Encoded, match: Match, float_type: torch.dtype | None, path: tuple
) -> Difference | None:
    plain, kind = close(match.scale), expected["kind"]
    if actual["kind"] != kind or kind not in ("list", "tuple", "tensor"):
        return difference(expected, actual, plain, float_type, path)
    if kind == "tensor":
        if expected["data"].shape != actual["data"].shape or expected["data"].dim() == 0:
            return difference(expected, actual, plain, float_type, path)
        items, left = ([one | {"data": row} for row in one["data"]] for one in (expected, actual))
    else:
        items, left = list(items_of(expected)), list(items_of(actual))
    if len(items) != len(left):
        return Difference("length", expected, actual, path)
    for item in items:
        match_at = next(
            (i for i, one in enumerate(left) if difference(item, one, plain, float_type) is None), None
        )
        if match_at is None:
            return Difference("any", item, actual, path)
        left.pop(match_at)
    return None


SPECIAL = {"one of": _one_of, "same set": _same_set, "random": _random}


def _rows(tensor: Encoded) -> Encoded:
    """Return the tensor as a matrix of its rows; a tensor with one axis becomes a single row."""
    data = tensor["data"]
    if data.dim() == 1:
        return tensor | {"data": data[None]}
    return tensor | {"data": data.flatten(0, -2)} if data.dim() > 2 else tensor


def _sequences(
    expected: Encoded, actual: Encoded, match: Match, float_type: torch.dtype | None, path: tuple
) -> Difference | None:
    if length_of(expected) != length_of(actual):
        return Difference("length", expected, actual, path)
    if "ints" in expected and "ints" in actual and torch.equal(expected["ints"], actual["ints"]):
        return None
    pairs = zip(items_of(expected), items_of(actual), strict=True)
    differences = (difference(*pair, match, float_type, (*path, i)) for i, pair in enumerate(pairs))
    return next((one for one in differences if one is not None), None)


def _dicts(
    expected: Encoded, actual: Encoded, match: Match, float_type: torch.dtype | None, path: tuple
) -> Difference | None:
    found = {typed(key): item for key, item in zip(actual["keys"], actual["items"], strict=True)}
    pairs = list(zip(expected["keys"], expected["items"], strict=True))
    if found.keys() != {typed(key) for key, _ in pairs}:
        return Difference("keys", expected, actual, path)
    differences = (
        difference(item, found[typed(key)], match, float_type, (*path, key)) for key, item in pairs
    )
    return next((one for one in differences if one is not None), None)


def typed(key: object) -> Hashable:
    """Return a dict's key together with its type, so that 1, 1.0 and True are three different keys."""
    return (tuple, *map(typed, key)) if isinstance(key, tuple) else (type(key), key)


def _close_floats(expected: float, actual: float, scale: float) -> bool:
    if expected == actual or (math.isnan(expected) and math.isnan(actual)):
        return True
    return abs(expected - actual) <= scale * (ABSOLUTE + RELATIVE * abs(expected)) < math.inf


def _tensors(
    expected: Encoded, actual: Encoded, match: Match, float_type: torch.dtype | None, path: tuple
) -> Difference | None:
    if match.how != "same" and actual["class"] not in TENSORS:
        return Difference("class", expected, actual, path)
    numbers, given = expected["data"], actual["data"]
    if numbers.shape != given.shape:
        return Difference("shape", expected, actual, path)
    dtype = float_type if float_type is not None and numbers.is_floating_point() else numbers.dtype
    if kind_of_number(numbers) != kind_of_number(given):
        return Difference("kind of number", expected, actual, path, expected_type=dtype)
    if given.dtype == dtype == numbers.dtype and torch.equal(numbers, given):
        return None
    if match.how == "exact" or not (numbers.is_floating_point() or numbers.is_complex()):
        far = _unequal(numbers, given)
    else:
        far = excess(numbers, given, match.scale * (_largest(numbers) if match.how == "same" else 1.0))
    if not bool((far <= 0).all()):
        index = worst(far)
        finite = bool(given[index].isfinite()) or not bool(numbers[index].isfinite())
        return Difference("value" if finite else "not finite", expected, actual, path, index, dtype)
    return None if given.dtype == dtype else Difference("dtype", expected, actual, path, expected_type=dtype)


def _largest(numbers: torch.Tensor) -> float:
    """Return the largest finite absolute value, or 1 if that is larger."""
    finite = numbers[numbers.isfinite()].abs()
    return max(1.0, float(finite.max())) if finite.numel() else 1.0


def _unequal(expected: torch.Tensor, actual: torch.Tensor) -> torch.Tensor:
    return ((expected != actual) & ~(expected.isnan() & actual.isnan())).to(torch.float64)


def kind_of_number(numbers: torch.Tensor) -> str:
    """Return the kind of numbers in a tensor: complex, bool, float or int."""
    if numbers.is_complex():
        return "complex"
    return "bool" if numbers.dtype is torch.bool else "float" if numbers.is_floating_point() else "int"


def worst(far: torch.Tensor) -> tuple[int, ...]:
    """Return the index of the entry that is furthest off."""
    # NumPy, because PyTorch's function imports SymPy, which takes as long as all the rest of a check.
    return tuple(int(i) for i in np.unravel_index(int(far.argmax()), far.shape))


def excess(expected: torch.Tensor, actual: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """Return by how much the error of each entry exceeds the tolerance, in float64: <= 0 means close enough.
    Where one number is NaN or infinite and the other differs from it, the result is inf; two NaNs count as
    equal.
    """
    double = torch.complex128 if expected.is_complex() or actual.is_complex() else torch.float64
    expected, actual = expected.to(double), actual.to(double)
    beyond = (expected - actual).abs() - scale * (ABSOLUTE + RELATIVE * expected.abs())
    if bool(beyond.isfinite().all()):
        return beyond
    same = (expected == actual) | (expected.isnan() & actual.isnan())
    return torch.where(same, -1.0, torch.where(beyond.isfinite(), beyond, torch.inf))


def is_close(expected: torch.Tensor, actual: torch.Tensor, scale: float = 1.0) -> bool:
    """Return whether two tensors have the same shape and agree everywhere within the tolerance."""
    return expected.shape == actual.shape and bool((excess(expected, actual, scale) <= 0).all())
