"""Separates plain data into JSON and tensors, for messages and files.

a tensor         {"tensor": the result of `place`}, and its strides if it is not contiguous
list             a list
tuple            {"tuple": [...]}
dict             {"map": {...}} if all keys are strings, else {"dict": [keys, items]}
bytes, inf, nan  {"bytes": base64}, {"float": "inf"}
a spec           {"spec": [name of its class, fields]}, for a data class such as autograder.schema.case.Module
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import torch

# Of a dict whose keys are not all strings. subtle: a student can choose numbers with equal hashes, and a dict of a
# million such keys takes hours; only the hashes of texts are random.
MOST_KEYS = 1_000


def flatten(value: Any, place: Callable[[torch.Tensor], Any], specs: tuple[type[Any], ...] = ()) -> Any:
    """Return `value` as data that can be written as JSON; `place` stores a tensor and returns a key for it.
    Raises TypeError if `value` is not plain data.
    """
    if isinstance(value, torch.Tensor):
        return {"tensor": place(value)} | _strides(value)
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if value - value == 0 else {"float": str(value)}
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [flatten(item, place, specs) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [flatten(item, place, specs) for item in value]}
    if isinstance(value, dict):
        if all(type(key) is str for key in value):
            return {"map": {key: flatten(item, place, specs) for key, item in value.items()}}
        return {
            "dict": [[flatten(one, place, specs) for one in part] for part in (value.keys(), value.values())]
        }
    if isinstance(value, specs):
        given = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"spec": [type(value).__name__, flatten(given, place, specs)]}
    raise TypeError(f"{type(value).__name__} is not plain data")


def restore(data: Any, take: Callable[[Any], torch.Tensor], specs: tuple[type[Any], ...] = ()) -> Any:
    """Return the value that `flatten` turned into `data`; `take` returns the tensor for a key.

    No matter who wrote the data, only the types listed at the top of this file are built, and only specs of
    the given classes.
    """
    if isinstance(data, list):
        return [restore(item, take, specs) for item in data]
    if not isinstance(data, dict):
        return data
    if "tensor" in data:
        tensor = take(data["tensor"])
        # subtle: strides can ask for any amount of memory; only our own data, which has specs, holds them.
        return with_strides(tensor, data["strides"]) if "strides" in data and specs else tensor
    [(kind, held)] = data.items()
    if kind == "map":
        return {key: restore(item, take, specs) for key, item in held.items()}
    if kind == "tuple":
        return tuple(restore(item, take, specs) for item in held)
    if kind == "dict":
        keys, items = restore(held, take, specs)
        if len(keys) > MOST_KEYS and not specs:  # only our own data has specs
            raise ValueError(f"a dict of more than {MOST_KEYS} keys")
        return dict(zip(keys, items, strict=True))
    if kind == "float":
        return {"inf": torch.inf, "-inf": -torch.inf, "nan": torch.nan}[held]
    if kind == "bytes":
        return base64.b64decode(held, validate=True)
    name, given = held
    return {spec.__name__: spec for spec in specs}[name](**restore(given, take, specs))


def _strides(tensor: torch.Tensor) -> dict[str, list[int]]:
    """Return {"strides": ...} for a tensor that is neither contiguous nor expanded, and an empty dict for any
    other tensor.
    """
    return {} if tensor.is_contiguous() or 0 in tensor.stride() else {"strides": list(tensor.stride())}


def with_strides(numbers: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """Return a copy of `numbers` with these strides, so that a transposed input stays transposed. If one of
    them is 0, the strides are ignored.
    """
    if 0 in strides:
        return numbers.clone()
    return torch.empty_strided(numbers.shape, strides, dtype=numbers.dtype).copy_(numbers)
