"""What came out, as plain data.

A recorded value is a dict with a "kind" and, for numbers, a plain copy of them. Nothing of the answer's own
types survives: a tensor subclass becomes its class's name and its raw numbers.
"""

from itertools import islice

import torch

LARGEST_TENSOR = 2_000_000
MOST_ITEMS = 1_000
LONGEST_TEXT = 300
DEEPEST = 5


def encode(value, depth: int = 0) -> dict:
    """`value` as plain data: tensors, numbers, None, text, and tuples, lists and dicts of these."""
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        return _encode_tensor(value)
    if value is None or kind in (bool, int, float, str):
        return _encode_plain(value)
    if depth < DEEPEST and issubclass(kind, (tuple, list)):
        # subtle: a subclass may say that it is endless; only the items it really holds count.
        base, word = (tuple, "tuple") if issubclass(kind, tuple) else (list, "list")
        items = list(islice(base.__iter__(value), MOST_ITEMS))
        return {"kind": word, "items": [encode(item, depth + 1) for item in items]}
    if depth < DEEPEST and kind is dict:
        items = list(value.items())[:MOST_ITEMS]
        return {
            "kind": "dict",
            "keys": [str(key)[:LONGEST_TEXT] for key, _ in items],
            "items": [encode(item, depth + 1) for _, item in items],
        }
    return {"kind": "other", "class": _class_name(kind)}


def _encode_plain(value) -> dict:
    if value is None:
        return {"kind": "None"}
    if type(value) is str:
        value = value[:LONGEST_TEXT]
    if type(value) is int and value.bit_length() > 4096:
        return {"kind": "other", "class": "int of more than 4096 bits"}
    return {"kind": type(value).__name__, "value": value}


def _encode_tensor(value) -> dict:
    name = _class_name(type(value))
    # subtle: a subclass may answer every method call with a lie; without it, only the numbers speak.
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        plain = torch.Tensor.detach(value)
        if plain.layout is not torch.strided or plain.is_quantized or plain.device.type == "meta":
            return {"kind": "other", "class": f"{plain.layout} tensor on {plain.device}"}
        shape = list(plain.shape)
        if plain.numel() > LARGEST_TENSOR:
            return {"kind": "other", "class": f"tensor of shape {shape}, too large to compare"}
        data = torch.empty(shape, dtype=plain.dtype)
        data.copy_(plain)
        return {"kind": "tensor", "class": name, "device": plain.device.type, "data": data}


def _class_name(kind: type) -> str:
    return str(getattr(kind, "__qualname__", "?"))[:LONGEST_TEXT]
