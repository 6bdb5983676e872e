"""Records which operations a call uses, however it reaches them.

Two hooks observe every call whose result counts: PyTorch's function mode (it sees the functions called, under
any name, and how much each reads and makes) and a hook on every module that is called. For a call that is
observed `closely` there are two more: the dispatch mode (it sees the kernels reached, including those reached
from scripted code or `torch.ops`) and a line tracer on the student's own code. One of these calls also runs
in PyTorch's profiler, which sees every thread and what runs while the modes are switched off, but takes
longest.
"""

import contextlib
import functools
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.faults import is_students, trust_boundary
from autograder.isolation import profiled_in_all_threads

MATRIX_PRODUCTS = {
    "aten::mm",
    "aten::bmm",
    "aten::addmm",
    "aten::baddbmm",
    "aten::_int_mm",
    "aten::addbmm",
    "aten::_weight_norm_interface",
    "aten::_trilinear",
    "aten::_cdist_forward",
}
TORCH = f"{os.sep}torch{os.sep}"
TORCH_NN, TORCH_OPTIM = (f"{TORCH}{part}{os.sep}" for part in ("nn", "optim"))
MOST_SIZES = 400  # distinct (operation, sizes) kept of one call; a right answer has a few dozen
LARGEST_POWER = 63  # no tensor has 2**63 entries
# Copies are not counted as work, so that growing a tensor row by row costs nothing.
_COPIES = "cat stack clone copy_ _to_copy index_put index_put_ slice_scatter select_scatter constant_pad_nd"
COPIES = {f"aten::{name}" for name in _COPIES.split()}
# The wrapper of a compiled function calls these at every call, even where the function runs as written.
ASKED_BY_COMPILER = {"is_fx_symbolic_tracing", "is_fx_tracing"}
# Functions of PyTorch, written in Python, that compute with shapes and conditions only.
WITHOUT_NUMBERS = {"broadcast_shapes", "_check_with"}
QUERIES = (
    "__get__",
    "size",
    "dim",
    "numel",
    "stride",
    "is_floating_point",
    "__len__",
)  # these compute nothing


class Usage:
    """The operations that the calls of one case use.

    names     functions, kernels and module classes reached, by full name
    calls     the largest number of torch functions that one call uses
    kernels   how many kernels ran, in all calls that are observed closely
    lines     how many lines of the student's code ran, in all calls that are observed closely
    products  whether one of the kernels multiplied two matrices (all three sizes more than 1), or too many
              different sizes occurred to tell
    largest   the number of entries of the largest tensor that a kernel makes (observed closely); views do not
              count
    work      how many entries the kernels of one call read and make in all (observed closely), as a list:
              item i is for kernels that make 2**i to 2**(i+1) - 1 entries. Views and mere copies do not count
    sizes     (name, number of tensors read, entries read, entries made) of every function and kernel that
              makes more than one entry

    With `in_all_threads`, calls that are observed closely run in the profiler as well.
    """

    def __init__(self, in_all_threads: bool = False):
        self.in_all_threads = in_all_threads
        self.names: set[str] = set()
        self.calls = self.kernels = self.lines = self.largest = 0
        self.products = False
        self.within: _Functions | None = None  # while PyTorch runs a function that this hook has seen
        self.dispatched: Counter[str] = Counter()  # the kernels of MATRIX_PRODUCTS that the dispatch mode saw
        self.sizes: set[tuple[str, int, int, int]] = set()
        self.work = [0] * LARGEST_POWER

    def note(self, name: str, args: Iterable, kwargs: Mapping, made: int) -> None:
        """Record the sizes of one operation. If MOST_SIZES of them are recorded already, any further one may
        be a matrix product, and counts as one.
        """
        values = (*args, *kwargs.values())
        read = _sizes_of(values)
        # subtle: a text argument says what `scatter` does; with "multiply" it is another operation.
        name = " ".join((name, *(value for value in values if type(value) is str)))
        size = name, len(read), sum(read), made
        if len(self.sizes) < MOST_SIZES:
            self.sizes.add(size)
        elif size not in self.sizes:
            self.products = True

    def as_data(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return {
            "names": sorted(self.names),
            "calls": self.calls,
            "kernels": self.kernels,
            "lines": self.lines,
            "largest": self.largest,
            "products": self.products,
            "work": list(self.work),
            "sizes": [list(size) for size in sorted(self.sizes)],
        }


def _sizes_of(values: Iterable) -> list[int]:
    """Return the number of entries of each tensor that has several entries, including tensors in lists."""
    found: list[int] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            if (size := value.numel()) > 1:
                found.append(size)
        elif isinstance(value, (list, tuple)):
            found += _sizes_of(value)
    return found


def _entries(made: object) -> int:
    if isinstance(made, torch.Tensor):
        return made.numel()
    return sum(map(_entries, made)) if isinstance(made, (list, tuple)) else 0


# subtle: these hooks run at every operation of a student's loops, so that what they look up is cached.


class _Functions(TorchFunctionMode):
    def __init__(self, usage: Usage):
        super().__init__()
        self.usage = usage

    @trust_boundary
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, outer = kwargs or {}, self.usage.within
        self.usage.within = self
        try:
            made = function(*args, **kwargs)
        finally:
            self.usage.within = outer
        name, computes = _function(function)
        if computes:
            usage = self.usage
            usage.calls += 1
            usage.names.add(name)
            if kwargs.get("enable_gqa"):
                usage.names.add("enable_gqa")
            entries = _entries(made)
            if entries > 1 and not _is_view(name, args, kwargs, made):
                usage.note(name, args, kwargs, entries)
        return made


@functools.cache
def _function(function: Callable) -> tuple[str, bool]:
    """Return the name of a function, and whether it computes anything."""
    name = str(getattr(function, "__name__", None) or getattr(function, "_opname", "?"))
    return f"torch:{name}", name not in QUERIES


def _is_view(name: str, args: Sequence, kwargs: Mapping, made: object) -> bool:
    """Return whether a function returned only a view of its input."""
    if (
        type(made) is not torch.Tensor
        or made._base is None
        or not args
        or not isinstance(args[0], torch.Tensor)
    ):
        return False
    # subtle: numbers written into a view (`out=`, in place) are computed all the same.
    writes = name.endswith("_") or name.startswith("torch:__i") or "out" in kwargs
    return not writes and (made._base is args[0] or made._base is args[0]._base)


class _Kernels(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # skipping would import the compiler, which takes more than a second

    def __init__(self, usage: Usage):
        super().__init__()
        self.usage = usage

    @trust_boundary
    def __torch_dispatch__(self, kernel: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, usage, (name, gives_views) = kwargs or {}, self.usage, _kernel(kernel)
        usage.names.add(name)
        usage.kernels += 1
        if name in MATRIX_PRODUCTS:
            usage.dispatched[name] += 1
            if _is_matrix_product([a.shape for a in args if isinstance(a, torch.Tensor)]):
                usage.products = True
        made = kernel(*args, **kwargs)
        if not gives_views and (entries := _entries(made)) > 1:
            usage.note(name, args, kwargs, entries)
            usage.largest = max(usage.largest, entries)
            if name not in COPIES:
                usage.work[entries.bit_length() - 1] += entries + sum(_sizes_of((*args, *kwargs.values())))
        return made


def kernels_observed(usage: Usage) -> AbstractContextManager:
    """Return a context manager that adds the kernels of its block to `usage`, and nothing else."""
    return _Kernels(usage)


@functools.cache
def _kernel(kernel: Any) -> tuple[str, bool]:
    """Return the name of a kernel, and whether its results are views of its inputs."""
    aliases = [returned.alias_info for returned in kernel._schema.returns]
    return kernel.name().partition(".")[0], any(alias is not None and not alias.is_write for alias in aliases)


def _is_matrix_product(shapes: Sequence[Sequence[int]]) -> bool:
    # subtle: a vector times a matrix may arrive as a matrix of one row, an outer product as one that sums
    # over a single entry; it is a product of two matrices only if all three sizes are above 1.
    factors = [shape for shape in shapes if len(shape) >= 2][-2:]
    return len(factors) == 2 and min(*factors[0][-2:], factors[1][-1]) > 1


@contextlib.contextmanager
def observed(usage: Usage, closely: bool = False) -> Iterator[None]:
    """Add the operations of the block to `usage`."""
    with contextlib.ExitStack() as stack:
        if closely and usage.in_all_threads:
            stack.enter_context(_profiled(usage))
        if closely:
            stack.enter_context(_lines_counted(usage))
        stack.callback(torch.nn.modules.module.register_module_forward_pre_hook(_module_hook(usage)).remove)
        stack.enter_context(_Functions(usage))
        if closely:
            stack.enter_context(_Kernels(usage))
        stack.enter_context(_largest_of_calls(usage))
        yield


@contextlib.contextmanager
def _largest_of_calls(usage: Usage) -> Iterator[None]:
    """Count the calls and the work of the block separately, then keep the larger of the old and the new
    counts.
    """
    calls, work = usage.calls, usage.work
    usage.calls, usage.work = 0, [0] * LARGEST_POWER
    try:
        yield
    finally:  # also if the call raises
        usage.calls, usage.work = max(calls, usage.calls), list(map(max, work, usage.work))


def _module_hook(usage: Usage) -> Callable[[nn.Module, Any], None]:
    def hook(module: nn.Module, args: Any) -> None:
        for kind in type(module).__mro__:
            if kind.__module__.startswith("torch."):
                usage.names.add(f"{kind.__module__}.{kind.__qualname__}")
        if isinstance(module, torch.jit.ScriptModule):
            # By its name alone it might be a student's own class.
            qualified = str(module._c._type().qualified_name())
            if "torch.nn.modules." in qualified:
                usage.names.add(f"scripted {module.original_name}")

    return hook


@contextlib.contextmanager
def _profiled(usage: Usage) -> Iterator[None]:
    """Add the kernels of all threads to `usage`. A matrix product that only the profiler saw counts
    regardless of its sizes, because a profiler that recorded sizes would take three times as long.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # else it writes two lines to the screen each time
    with profiled_in_all_threads() as profiler:
        yield
    run = Counter(event.name() for event in profiler.kineto_results.events())
    usage.names.update(run)
    # subtle: the profiler sees a kernel that goes through the dispatch mode twice, once on its way there.
    if any(run[name] > 2 * usage.dispatched[name] for name in MATRIX_PRODUCTS):
        usage.products = True


@contextlib.contextmanager
def _lines_counted(usage: Usage) -> Iterator[None]:
    tracer = sys.gettrace()
    sys.settrace(_line_counter(usage))
    try:
        yield
    finally:
        sys.settrace(tracer)


def _line_counter(usage: Usage) -> Callable[[FrameType, str, Any], Callable | None]:
    def count(frame: FrameType, event: str, arg: Any) -> Callable:
        if event == "line":
            usage.lines += 1
        return count

    def seen_again(functions: _Functions) -> Callable:
        """Switch on the hook on functions until the frame that is entered returns or yields."""
        functions.__enter__()
        usage.within = None

        def leave(frame: FrameType, event: str, arg: Any) -> Callable:
            if event == "return":
                functions.__exit__(None, None, None)
                usage.within = functions
            count(frame, event, arg)
            return leave

        return leave

    def enter(frame: FrameType, event: str, arg: Any) -> Callable | None:
        file = frame.f_code.co_filename
        if not is_students(file):
            if TORCH_NN in file:
                # A forward called without its module's hooks.
                usage.names.add(f"nn:{frame.f_code.co_qualname}")
            elif TORCH_OPTIM in file:
                usage.names.add(f"optim:{frame.f_code.co_qualname}")
            elif TORCH in file and not usage.within and frame.f_code.co_name not in ASKED_BY_COMPILER:
                # Some parts of PyTorch reimplement its operations in Python. Within a function that the hook
                # has seen they are PyTorch's own steps (as in torch.addr under torch.vmap).
                part = file.rpartition(TORCH)[2].partition(os.sep)[0].removesuffix(".py")
                if f"python:{part}" not in usage.names and not _computes_nothing(frame):
                    usage.names.add(f"python:{part}")
            return None
        usage.lines += 1
        return seen_again(usage.within) if usage.within else count

    return enter


def _computes_nothing(frame: FrameType | None) -> bool:
    """Return whether the frame runs as part of an import (PyTorch loads some of its parts only when they are
    first needed), or of one of PyTorch's functions in WITHOUT_NUMBERS.
    """
    while frame is not None and not is_students(frame.f_code.co_filename):
        code = frame.f_code
        if code.co_filename == "<frozen importlib._bootstrap>" or code.co_name in WITHOUT_NUMBERS:
            return True
        frame = frame.f_back
    return False
