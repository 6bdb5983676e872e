"""Stores plain data with tensors in one safetensors file, which can be read without running code.

All tensors of one dtype are stored in one long row, and equal ones only once; [dtype, start, shape]
identifies a tensor. The rest is JSON in the file's header. Besides the value, a file holds a table of
numbered parts, so that data that many records share are written only once, and are read on demand.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from autograder.values.plain import flatten, restore


class Writer:
    """Collects parts, and writes them to a file together with a value. Besides plain data, the parts and the
    value may contain objects of the classes in `specs`.
    """

    def __init__(self, specs: tuple[type[Any], ...] = ()) -> None:
        self._specs = specs
        self._rows: dict[str, list[torch.Tensor]] = {}  # by type
        self._ends: dict[str, int] = {}
        self._places: dict[tuple[str, bytes], int] = {}  # where equal numbers start
        self._parts: dict[str, int] = {}

    def part(self, value: Any) -> int:
        """Add a part, and return its number; equal parts have the same number."""
        return self._parts.setdefault(_as_json(flatten(value, self._place, self._specs)), len(self._parts))

    def write(self, path: Path, value: Any) -> None:
        """Write the value and all parts into a new file."""
        text = f'{{"value":{_as_json(flatten(value, self._place, self._specs))},"parts":[{",".join(self._parts)}]}}'
        rows = {name: torch.cat(row) for name, row in self._rows.items()}
        save_file(rows or {"none": torch.zeros(0)}, path, metadata={"json": text})

    def _place(self, tensor: torch.Tensor) -> list:
        row = tensor.detach().contiguous().flatten()
        name = str(tensor.dtype).removeprefix("torch.")
        key = name, row.view(torch.uint8).numpy().tobytes() if row.numel() else b""
        if key not in self._places:
            self._places[key] = self._ends.get(name, 0)
            self._ends[name] = self._places[key] + len(row)
            self._rows.setdefault(name, []).append(row)
        return [name, self._places[key], list(tensor.shape)]


def _as_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


class Stored:
    """A file that a `Writer` with the same `specs` wrote: its `value`, and its parts by number."""

    def __init__(self, path: Path, specs: tuple[type[Any], ...] = ()):
        self._specs = specs
        with safe_open(path, "pt") as file:
            header = json.loads(file.metadata()["json"])
            self._rows = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (a file is not a dict)
        self.value = self._restored(header["value"])
        self._parts: list = header["parts"]
        self._read: dict[int, Any] = {}

    def part(self, number: int) -> Any:
        """Return the part with this number, as the same object each time."""
        if number not in self._read:
            self._read[number] = self._restored(self._parts[number])
        return self._read[number]

    def _restored(self, value: Any) -> Any:
        return restore(value, self._tensor, self._specs)

    def _tensor(self, place: list) -> torch.Tensor:
        name, start, shape = place
        count = torch.Size(shape).numel()
        row = self._rows[name][start : start + count] if count else torch.empty(0, dtype=getattr(torch, name))
        return row.view(shape).clone()
