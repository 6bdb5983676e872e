"""Records the computation of a call as a program: its kernels, in order, with what each reads and makes.

`Recorder` writes the program of a call in the answer's own process. `run_program` runs it again in another
process, on other numbers of the same sizes. The new output is right only if the recorded kernels really
compute it from the inputs: a number from anywhere else is a constant in the program, and would not fit the
new inputs.

A program is JSON, compressed: {"steps": [[kernel, arguments, results], ...], "output": ...}. Tensors are
numbered, inputs first; a constant is a step without a kernel. The backward pass is not recorded, because that
would take three times as long.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.faults import trust_boundary
from autograder.probe.observe import Usage, kernels_observed
from autograder.values import Encoded
from autograder.values.encode import encode

MOST_TENSORS = 30_000
FAST = 1  # zlib's
MOST_CONSTANTS = 100_000  # entries
# PyTorch's settings that kernels take as arguments, by the name of their type.
SETTINGS = {"dtype": torch.dtype, "layout": torch.layout, "memory_format": torch.memory_format}
# subtle: what the recorder itself asks a tensor must not count among the functions that the answer uses.
unobserved = torch._C.DisableTorchFunction
# Kernels that read files or foreign memory, or swap a tensor's storage.
REFUSED = re.compile(r"from_file|set_|resize.*|.*pin_memory|.*unsafe_index.*|.*_storage.*")


class NoProgram(Exception):
    """Raised if a call does something that a program cannot hold, or does too much."""


class Recorder(TorchDispatchMode):
    """A context manager that records the program of its block. The tensors in `inputs` get the first numbers.
    Call `data` after the block.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as in observe.py

    def __init__(self, inputs: Iterable[torch.Tensor]):
        super().__init__()
        self._steps: list[list] = []
        self._reads: list[list[int]] = []  # the tensors that each step reads
        self._reading: list[int] = []
        self._kept: list[
            torch.Tensor
        ] = []  # subtle: while a tensor is alive, no other has its id or its storage
        self._memory: list[int] = []  # the storage address of each
        self._by_id: dict[int, int] = {}
        self._by_place: dict[tuple, int] = {}
        self._constants = 0
        self._why_not = ""
        for tensor in inputs:
            self._new(tensor)

    @trust_boundary
    def __torch_dispatch__(self, kernel: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._why_not:
            return kernel(*args, **kwargs)
        self._reading = []
        read = self._recorded([list(args), kwargs])
        made = kernel(*args, **kwargs)
        try:
            self._step(kernel.name(), read, [self._made(one) for one in _tensors(made)])
        except Exception as error:  # recording must not disturb the call
            self._why_not = type(error).__name__
        return made

    def _recorded(self, value: object) -> Any:
        """Encode a value as `_plain` does, but note a failure instead of raising it, so that the call is not
        disturbed.
        """
        try:
            return self._plain(value)
        except Exception as error:  # recording must not disturb the call
            self._why_not = type(error).__name__
            return None

    def _step(self, name: str, read: Any, made: list[int]) -> None:
        self._steps.append([name, read, made])
        self._reads.append(self._reading)
        if len(self._kept) > MOST_TENSORS:
            self._why_not = "too many tensors"

    def data(self, output: object) -> bytes:
        """Return the program of a call that returned `output`; empty if it could not be recorded."""
        self._reading = []
        returned = self._recorded(output)
        if self._why_not:
            return b""
        return zlib.compress(json.dumps({"steps": self._needed(), "output": returned}).encode(), FAST)

    def _needed(self) -> list[list]:
        """Return only the steps that the output needs, in order."""
        memory, kept = self._memory, []
        needed = {memory[number] for number in self._reading}
        for step, read in zip(reversed(self._steps), reversed(self._reads), strict=True):
            if any(memory[number] in needed for number in step[2]):
                needed.update([memory[number] for number in read])
                kept.append(step)
        return kept[::-1]

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
        """Return the number of a tensor; a tensor without a number becomes a constant.

        subtle: a tensor that autograd saves for the backward pass is a new object with the same storage, so
        the storage is looked up as well.
        """
        number = self._by_id.get(id(tensor))
        if number is None:
            number = self._by_place.get(_place(tensor))
        if number is None:
            number = self._constant(tensor)
        self._reading.append(number)
        return number

    def _constant(self, tensor: torch.Tensor) -> int:
        self._constants += tensor.numel()
        if self._constants > MOST_CONSTANTS:
            raise NoProgram("too many constants")
        number, dtype = self._new(tensor), str(tensor.dtype).removeprefix("torch.")
        reading, self._reading = self._reading, []
        with unobserved():
            numbers = torch.Tensor.detach(tensor).tolist()
        self._step("", [numbers, dtype, list(tensor.shape)], [number])
        self._reading = reading
        return number

    def _plain(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return {"tensor": self._number(value)}
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
        raise NoProgram(type(value).__name__)


def _place(tensor: torch.Tensor) -> tuple:
    with unobserved():
        storage = tensor.untyped_storage()
        return storage.data_ptr(), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def _tensors(made: Any) -> Iterator[torch.Tensor]:
    if isinstance(made, torch.Tensor):
        yield made
    elif isinstance(made, (list, tuple)):
        for item in made:
            yield from _tensors(item)


def run_program(data: bytes, inputs: Iterable[torch.Tensor], usage: Usage) -> Encoded:
    """Return the output of a program on these inputs, and add its operations to `usage`.

    Raises NoProgram, or any error that a kernel raises, if the data is not a program for these inputs.
    """
    program = json.loads(zlib.decompress(data))
    tensors = dict(enumerate(inputs))
    with torch.no_grad(), kernels_observed(usage):
        _run(program["steps"], tensors)
    return encode(_live(program["output"], tensors))


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
