"""Plain data with tensors in it, in one safetensors file: read as data, nothing of it is run.

All tensors of one type lie in one long row, each different one once; the rest is JSON in the file's header, in
which {"tensor": [type, start, shape]} stands for a part of such a row. Beside the value a file holds a table of
numbered parts: what a thousand records have in common is written once, and read when it is asked for.
"""

import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from autograder.exercises.exercise import Module


class Writer:
    """Collects parts, and writes them with a value: numbers, text, None, tensors, modules as data, and lists,
    tuples and dicts of these."""

    def __init__(self):
        self._rows, self._ends, self._places = {}, {}, {}
        self._parts = {}

    def part(self, value) -> int:
        """The number of a part; equal parts have one number."""
        return self._parts.setdefault(_as_json(self._described(value)), len(self._parts))

    def write(self, path: Path, value) -> None:
        """Writes the value and all parts into a new file."""
        text = f'{{"value":{_as_json(self._described(value))},"parts":[{",".join(self._parts)}]}}'
        rows = {name: torch.cat(row) for name, row in self._rows.items()}
        save_file(rows or {"none": torch.zeros(0)}, path, metadata={"json": text})

    def _described(self, value):
        if isinstance(value, torch.Tensor):
            return {"tensor": self._place(value)} | _strides(value)
        if isinstance(value, Module):
            return {"module": [value.kind, self._described(dict(value.init)), self._described(dict(value.weights))]}
        if isinstance(value, dict):
            return {"dict": [[key, self._described(item)] for key, item in value.items()]}
        if isinstance(value, tuple):
            return {"tuple": [self._described(item) for item in value]}
        if isinstance(value, list):
            return [self._described(item) for item in value]
        if isinstance(value, float) and value - value != 0:
            return {"float": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"{type(value).__name__} is not plain data")

    def _place(self, tensor):
        row = tensor.detach().contiguous().flatten()
        name = str(tensor.dtype).removeprefix("torch.")
        key = name, row.view(torch.uint8).numpy().tobytes() if row.numel() else b""
        if key not in self._places:
            self._places[key] = self._ends.get(name, 0)
            self._ends[name] = self._places[key] + len(row)
            self._rows.setdefault(name, []).append(row)
        return [name, self._places[key], list(tensor.shape)]


def _as_json(value) -> str:
    return json.dumps(value, separators=(",", ":"))


def _strides(tensor) -> dict:
    """How it lies in memory, where that is not as usual."""
    return {} if tensor.is_contiguous() or 0 in tensor.stride() else {"strides": list(tensor.stride())}


class Stored:
    """A file that `Writer.write` wrote: its `value`, and its parts by number."""

    def __init__(self, path: Path):
        with safe_open(path, "pt") as file:
            told = json.loads(file.metadata()["json"])
            self._rows = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (a file is no dict)
        self.value = self._revived(told["value"])
        self._parts, self._read = told["parts"], {}

    def part(self, number: int):
        """A part; asked for again, it is the same object."""
        if number not in self._read:
            self._read[number] = self._revived(self._parts[number])
        return self._read[number]

    def _revived(self, value):
        if isinstance(value, list):
            return [self._revived(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "tensor" in value:
            return self._tensor(*value["tensor"], value.get("strides"))
        if "module" in value:
            kind, init, weights = value["module"]
            return Module(kind, self._revived(init), self._revived(weights))
        if "dict" in value:
            return {key: self._revived(item) for key, item in value["dict"]}
        return float(value["float"]) if "float" in value else tuple(self._revived(item) for item in value["tuple"])

    def _tensor(self, name, start, shape, strides):
        count = torch.Size(shape).numel()
        row = self._rows[name][start : start + count] if count else torch.empty(0, dtype=getattr(torch, name))
        found = row.view(shape)
        if strides is None:
            return found.clone()
        return torch.empty_strided(shape, strides, dtype=found.dtype).copy_(found)
