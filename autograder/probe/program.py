"""What a call computes, as a program: the kernels that it runs, in order, with what each reads and makes.

`Recorder` writes the program of a call in the answer's own process. `run_program` runs it again elsewhere, on other
numbers of the same sizes. What comes out there is right only if the program computes it: a number from anywhere else
than the program's inputs and constants is not that of the new inputs.

A program is JSON, compressed: {"steps": [[kernel, arguments, results], ...], "output": ..., "backward": more steps,
"gradients": {...}}. Tensors have numbers, the inputs first; a constant is a step without a kernel.
"""

import contextlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.faults import door
from autograder.probe.observe import Usage, kernels_observed
from autograder.values import Encoded
from autograder.values.encode import encode

MOST_TENSORS = 30_000
FAST = 1  # zlib's
MOST_CONSTANTS = 100_000  # entries
# Settings of PyTorch that are an argument of a kernel, by the name of their type.
SETTINGS = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}
# Kernels that read files, or memory that is not a tensor's, or that other memory is put in the place of.
REFUSED = re.compile(r"from_file|set_|resize.*|.*pin_memory|.*unsafe_index.*|.*_storage.*")


class NoProgram(Exception):
    """The call does something that no program can hold, or too much of it."""


class Recorder(TorchDispatchMode):
    """Records the program of its block; the tensors `inputs` are the first numbers. Call `data` after it."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as in observe.py

    def __init__(self, inputs: Iterable[torch.Tensor]):
        super().__init__()
        self._steps: list[list] = []
        self._kept: list[torch.Tensor] = []  # subtle: while a tensor lives, no other has its id or its memory
        self._memory: list[int] = []  # where each lies
        self._by_id: dict[int, int] = {}
        self._by_place: dict[tuple, int] = {}
        self._constants = 0
        self._why_not = ""
        self._program: dict[str, Any] = {}
        for tensor in inputs:
            self._new(tensor)

    @door
    def __torch_dispatch__(self, kernel: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._why_not:
            return kernel(*args, **kwargs)
        read = self._plain([list(args), kwargs])
        made = kernel(*args, **kwargs)
        with self._safely():
            self._steps.append([kernel.name(), read, [self._made(one) for one in _tensors(made)]])
        if len(self._kept) > MOST_TENSORS:
            self._why_not = "too many tensors"
        return made

    @contextlib.contextmanager
    def _safely(self) -> Iterator[None]:
        """What cannot be recorded never disturbs the call."""
        try:
            yield
        except Exception as error:
            self._why_not = type(error).__name__

    def returned(self, output: object) -> None:
        """What the call returned; the steps from here on are those of the backward pass."""
        self._program = {"output": self._plain(output), "steps": self._steps}
        self._steps = []

    def data(self, gradients: Mapping[str, torch.Tensor | None]) -> bytes:
        """The program; nothing if there is none."""
        program = self._program | {"gradients": self._plain(dict(gradients)), "backward": self._steps}
        if self._why_not:
            return b""
        needed = self._memory_of([program["output"], program["gradients"]])
        for part in ("backward", "steps"):
            program[part] = self._needed(program[part], needed)
        return zlib.compress(json.dumps(program).encode(), FAST)

    def _needed(self, steps: list[list], needed: set[int]) -> list[list]:
        """The steps without those that no result needs; `needed` is the memory that the steps after them read."""
        kept = []
        for step in reversed(steps):
            _, read, made = step
            if any(self._memory[number] in needed for number in made):
                needed |= self._memory_of(read)
                kept.append(step)
        return kept[::-1]

    def _memory_of(self, value: Any) -> set[int]:
        """The memory of the tensors in plain data."""
        if isinstance(value, list):
            return set().union(*map(self._memory_of, value))
        if not isinstance(value, dict):
            return set()
        [(kind, held)] = value.items()
        if kind == "tensor":
            return {self._memory[held]}
        return self._memory_of(list(held.values()) if isinstance(held, dict) else held)

    def _made(self, tensor: torch.Tensor) -> int:
        number = self._by_id.get(id(tensor))
        return self._new(tensor) if number is None else number

    def _new(self, tensor: torch.Tensor) -> int:
        number, place = len(self._kept), _place(tensor)
        self._kept.append(tensor)
        self._memory.append(place[0])
        self._by_id[id(tensor)] = number
        self._by_place.setdefault(place, number)
        return number

    def _number(self, tensor: torch.Tensor) -> int:
        """subtle: what autograd keeps of a tensor for its backward pass is another object in the same place."""
        number = self._by_id.get(id(tensor))
        if number is None:
            number = self._by_place.get(_place(tensor))
        return self._constant(tensor) if number is None else number

    def _constant(self, tensor: torch.Tensor) -> int:
        self._constants += tensor.numel()
        if self._constants > MOST_CONSTANTS:
            self._why_not = "too many constants"
            return 0
        number, dtype = self._new(tensor), str(tensor.dtype).removeprefix("torch.")
        self._steps.append(["", [torch.Tensor.detach(tensor).tolist(), dtype, list(tensor.shape)], [number]])
        return number

    def _plain(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            with self._safely():
                return {"tensor": self._number(value)}
            return None
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, (list, tuple)):
            items = [self._plain(item) for item in value]
            return {"tuple": items} if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {"map": {str(key): self._plain(item) for key, item in value.items()}}
        for name, kind in SETTINGS.items():
            if isinstance(value, kind):
                return {name: str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return None
        self._why_not = f"an argument of {type(value).__name__}"
        return None


def _place(tensor: torch.Tensor) -> tuple:
    storage = tensor.untyped_storage()
    return storage.data_ptr(), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def _tensors(made: Any) -> Iterator[torch.Tensor]:
    if isinstance(made, torch.Tensor):
        yield made
    elif isinstance(made, (list, tuple)):
        for item in made:
            yield from _tensors(item)


def run_program(data: bytes, inputs: Iterable[torch.Tensor], usage: Usage) -> dict[str, Encoded]:
    """The output and the gradients of a program on these inputs; its operations are added to `usage`, those of the
    backward pass by their names alone.

    Raises NoProgram, or whatever a kernel raises, if the data is no program for them.
    """
    program = json.loads(zlib.decompress(data))
    tensors, backward = dict(enumerate(inputs)), Usage()
    with torch.no_grad():
        with kernels_observed(usage):
            _run(program["steps"], tensors)
        output = encode(_live(program["output"], tensors))
        with kernels_observed(backward):
            _run(program["backward"], tensors)
    usage.names |= backward.names
    return {"output": output, "gradients": encode(_live(program["gradients"], tensors))}


def _run(steps: list[list], tensors: dict[int, torch.Tensor]) -> None:
    for name, read, made in steps:
        if name:
            args, kwargs = _live(read, tensors)
            result = list(_tensors(_kernel(name)(*args, **kwargs)))
        else:
            numbers, dtype, shape = read
            result = [torch.tensor(numbers, dtype=_setting("dtype", dtype)).reshape(shape)]
        tensors.update(zip(made, result, strict=True))


def _kernel(name: str) -> Any:
    namespace, _, kernel = name.partition("::")
    kernel, _, overload = kernel.partition(".")
    if namespace != "aten" or REFUSED.fullmatch(kernel):
        raise NoProgram(name)
    return getattr(getattr(torch.ops.aten, kernel), overload or "default")


def _setting(kind: str, name: str) -> Any:
    found = getattr(torch, name)
    if not isinstance(found, SETTINGS[kind]):
        raise NoProgram(name)
    return found


def _live(value: Any, tensors: Mapping[int, torch.Tensor]) -> Any:
    if isinstance(value, list):
        return [_live(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    [(kind, held)] = value.items()
    if kind == "tensor":
        return tensors[held]
    if kind == "tuple":
        return tuple(_live(item, tensors) for item in held)
    if kind == "map":
        return {name: _live(item, tensors) for name, item in held.items()}
    return _setting(kind, held)
