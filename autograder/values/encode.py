"""Turns the result of a call into plain data: a dict with a "kind" and the value.

    {"kind": "tensor", "class": name of its type, "device": "cpu", "data": a plain copy of its numbers}
    {"kind": "None"}
    {"kind": "bool" | "int" | "float" | "str" | "bytes", "value": the value}
    {"kind": "list" | "tuple", "items": encoded values}, or with "ints": an int64 tensor, for many integers
    {"kind": "dict", "keys": plain keys, "items": encoded values}
    {"kind": "other", "class": its type, or why it cannot be encoded}

No type that the answer defines survives: a subclass of Tensor becomes the name of its class and its raw
numbers, and a subclass of list, dict or float becomes a plain list, dict or float. Values that are too large
are not truncated, because the part that is left might look right.
"""

from typing import Any

import numpy as np
import torch

from autograder.faults import trust_boundary
from autograder.isolation import without_subclasses
from autograder.untrusted import require
from autograder.values import Encoded
from autograder.values.plain import MOST_KEYS

LARGEST_TENSOR = 2_000_000  # entries
MOST_ITEMS = 10_000
MOST_INTS = 1_000_000
LONGEST_TEXT = 1_000_000  # characters, or bytes
LARGEST_INT = 4096  # bits
DEEPEST = 8
LONGEST_NAME = 300
MANY = 64
INT64 = 1 << 63
PLAIN = {bool: "bool", int: "int", float: "float", str: "str", bytes: "bytes"}
DTYPES = {
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
}


def encode(value: Any, depth: int = 0) -> Encoded:
    """Return `value` as plain data."""
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        return _encode_tensor(value)
    if value is None:
        return {"kind": "None"}
    if kind in PLAIN:
        why = _why_not(value)
        return _other(why) if why else {"kind": PLAIN[kind], "value": value}
    if issubclass(kind, float):
        # NumPy's float64 is a float. subtle: only the number itself is read, by no method of the subclass.
        return {"kind": "float", "value": float.__float__(value)}
    if depth < DEEPEST and issubclass(kind, (tuple, list)):
        return _encode_items(value, depth)
    if depth < DEEPEST and issubclass(kind, dict):
        return _encode_dict(value, depth)
    return _other(f"numpy.{class_name(kind)}" if issubclass(kind, np.generic) else class_name(kind))


def _other(why: str) -> Encoded:
    """Return a placeholder for a value that cannot be encoded."""
    return {"kind": "other", "class": why}


def items_of(value: Encoded) -> list[Encoded]:
    """Return the items of an encoded list, tuple or dict."""
    if "ints" in value:
        return [{"kind": "int", "value": number} for number in value["ints"].tolist()]
    return value.get("items", [])


def length_of(value: Encoded) -> int:
    """Return the number of items of an encoded list, tuple or dict."""
    return len(value["ints"] if "ints" in value else value["items"])


def _why_not(value: object) -> str | None:
    """Return the reason why a plain value cannot be encoded, or None if it can."""
    if isinstance(value, (str, bytes)) and len(value) > LONGEST_TEXT:
        return f"{type(value).__name__} of more than {LONGEST_TEXT} characters"
    if isinstance(value, int) and value.bit_length() > LARGEST_INT:
        return f"int of more than {LARGEST_INT} bits"
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return "str that is not valid Unicode"
    return None


def _encode_items(value: Any, depth: int) -> Encoded:
    # subtle: a subclass may report any length; count only the items that it really holds.
    base: Any = tuple if isinstance(value, tuple) else list
    size = base.__len__(value)
    if size > MOST_INTS:
        return _other(f"{base.__name__} of more than {MOST_INTS} items")
    items = list(base.__iter__(value))
    if size >= MANY and all(type(item) is int and -INT64 <= item < INT64 for item in items):
        return {"kind": base.__name__, "ints": torch.tensor(items, dtype=torch.int64)}
    if size > MOST_ITEMS:
        return _other(f"{base.__name__} of more than {MOST_ITEMS} items")
    return {"kind": base.__name__, "items": [encode(item, depth + 1) for item in items]}


def _encode_dict(value: dict, depth: int) -> Encoded:
    if dict.__len__(value) > MOST_ITEMS:
        return _other(f"dict of more than {MOST_ITEMS} items")
    pairs = list(dict.items(value))
    keys = [key for key, _ in pairs]
    if not all(map(_is_key, keys)):
        return _other("dict whose keys are not numbers, texts or tuples of these")
    if len(keys) > _most_keys(keys):
        return _other(f"dict of more than {MOST_KEYS} keys that are not strings")
    return {"kind": "dict", "keys": keys, "items": [encode(item, depth + 1) for _, item in pairs]}


def _most_keys(keys: list) -> int:
    """Return how many keys a dict with these keys may have."""
    return MOST_ITEMS if all(type(key) is str for key in keys) else MOST_KEYS


def _is_key(key: Any, depth: int = 0) -> bool:
    if type(key) is tuple:
        return depth < DEEPEST and len(key) <= MOST_ITEMS and all(_is_key(part, depth + 1) for part in key)
    return key is None or (type(key) in PLAIN and _why_not(key) is None)


def _encode_tensor(value: torch.Tensor) -> Encoded:
    name = class_name(type(value))
    # subtle: any method of a subclass may return something false; the methods of a plain tensor do not.
    with without_subclasses(), torch.no_grad():
        plain = torch.Tensor.detach(value)
        if plain.layout is not torch.strided or plain.is_quantized or plain.device.type == "meta":
            return _other(f"{plain.layout} tensor on {plain.device}")
        shape = list(plain.shape)
        if plain.numel() > LARGEST_TENSOR:
            return _other(f"tensor of shape {shape}, too large to compare")
        return {"kind": "tensor", "class": name, "device": plain.device.type, "data": _copied(plain)}


@trust_boundary
def _copied(tensor: torch.Tensor) -> torch.Tensor:
    data = torch.empty(tensor.shape, dtype=tensor.dtype)
    data.copy_(tensor)
    return data


def class_name(kind: type) -> str:
    """Return the name of a type, cut to LONGEST_NAME characters."""
    return str(getattr(kind, "__qualname__", "?"))[:LONGEST_NAME]


MOST_AXES = 64


def check(value: Any, depth: int = 0) -> None:
    """Raise Unreadable unless `value`, which came from another process, has a form that `encode` could have
    returned.
    """
    kind = value.get("kind") if type(value) is dict else None
    fields = set(value) - {"kind"} if type(value) is dict else set()
    if kind in ("list", "tuple") and fields == {"ints"}:
        require(_is_tensor(value["ints"]) and value["ints"].dtype == torch.int64 and value["ints"].dim() == 1)
        require(MANY <= len(value["ints"]) <= MOST_INTS)
    elif kind in ("list", "tuple", "dict"):
        require(depth < DEEPEST and fields == ({"keys", "items"} if kind == "dict" else {"items"}))
        require(type(value["items"]) is list and len(value["items"]) <= MOST_ITEMS)
        if kind == "dict":
            require(type(value["keys"]) is list and len(value["keys"]) == len(value["items"]))
            require(all(map(_is_key, value["keys"])))
            require(len(value["keys"]) <= _most_keys(value["keys"]))
        for item in value["items"]:
            check(item, depth + 1)
    elif kind == "tensor":
        require(fields == {"class", "device", "data"} and _is_tensor(value["data"]))
        require(_is_name(value["class"]) and _is_name(value["device"]))
    elif kind == "other":
        require(fields == {"class"} and _is_name(value["class"]))
    elif kind in PLAIN.values():
        require(
            fields == {"value"} and PLAIN.get(type(value["value"])) == kind and not _why_not(value["value"])
        )
    else:
        require(kind == "None" and fields == set())


def _is_tensor(value: Any) -> bool:
    known = type(value) is torch.Tensor and value.dtype in DTYPES
    return known and value.numel() <= LARGEST_TENSOR and value.dim() <= MOST_AXES


def _is_name(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST_NAME and not _why_not(value)
