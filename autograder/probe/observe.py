"""Which operations a call really used, however they were reached.

Four witnesses watch one call: torch's function mode (the Python functions called, by whatever name), torch's
dispatch mode (the kernels reached, also from scripted code or `torch.ops`), a hook on every module called, and
a line tracer on the student's own code, which counts the lines run. A fifth, PyTorch's profiler, watches another
call: it sees every thread, and what runs while the modes are switched off.
"""

import os
import sys
from collections import Counter

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler import profile
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.probe.guard import is_students

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
MOST_PROFILED = 200  # calls; the profiler takes 0.1 ms for each. In a longer call fewer operations are no loop.


class Usage:
    """What one call used.

    names     functions, kernels and module classes reached, by full name
    calls     number of torch operations dispatched
    lines     number of lines of the student's code run
    products  whether a product of two matrices was among the operations (all three sizes more than 1)
    """

    def __init__(self):
        self.names = Counter()
        self.calls = 0
        self.lines = 0
        self.products = False

    def as_data(self) -> dict:
        return {
            "names": sorted(self.names),
            "calls": self.calls,
            "lines": self.lines,
            "products": self.products,
        }


class _Functions(TorchFunctionMode):
    def __init__(self, usage):
        super().__init__()
        self.usage = usage

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.usage.names[_name(function)] += 1
        if kwargs.get("enable_gqa"):
            self.usage.names["enable_gqa"] += 1
        return function(*args, **kwargs)


class _Kernels(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls):
        return False  # skipping would import the compiler, which takes more than a second

    def __init__(self, usage):
        super().__init__()
        self.usage = usage

    def __torch_dispatch__(self, kernel, types, args=(), kwargs=None):
        name = kernel.name().partition(".")[0]
        self.usage.names[name] += 1
        self.usage.calls += 1
        if name in MATRIX_PRODUCTS and _is_matrix_product([a.shape for a in args if isinstance(a, torch.Tensor)]):
            self.usage.products = True
        return kernel(*args, **(kwargs or {}))


def _is_matrix_product(shapes) -> bool:
    # subtle: a vector times a matrix may arrive as a matrix of one row, an outer product as one that sums over
    # a single entry; only where all three sizes are above 1 it is a product of two matrices.
    factors = [shape for shape in shapes if len(shape) >= 2][-2:]
    return len(factors) == 2 and min(*factors[0][-2:], factors[1][-1]) > 1


def _name(function) -> str:
    return f"torch:{getattr(function, '__name__', None) or getattr(function, '_opname', '?')}"


def observe(call) -> dict:
    """Runs `call()` and returns its Usage as data; whatever it raises passes through."""
    usage = Usage()

    def seen(module, args):
        for kind in type(module).__mro__:
            if kind.__module__.startswith("torch."):
                usage.names[f"{kind.__module__}.{kind.__qualname__}"] += 1
        if isinstance(module, torch.jit.ScriptModule):
            # The name alone may be a student's own class.
            kind = str(module._c._type().qualified_name())
            if "torch.nn.modules." in kind:
                usage.names[f"scripted {module.original_name}"] += 1

    hook = torch.nn.modules.module.register_module_forward_pre_hook(seen)
    tracer = sys.gettrace()
    try:
        with _Functions(usage), _Kernels(usage):
            sys.settrace(_line_counter(usage))
            call()
    finally:
        sys.settrace(tracer)
        hook.remove()
    if usage.calls <= MOST_PROFILED:
        _profile(call, usage)
    return usage.as_data()


def _profile(call, usage) -> None:
    """Adds the kernels that the profiler sees in another call."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # else it writes two lines to the screen each time
    everywhere = _ExperimentalConfig(profile_all_threads=True)
    with profile(record_shapes=True, experimental_config=everywhere) as seen:
        call()
    for event in seen.kineto_results.events():
        usage.names[event.name()] += 1
        if event.name() in MATRIX_PRODUCTS and _is_matrix_product(event.shapes()):
            usage.products = True


def _line_counter(usage):
    def count(frame, event, arg):
        if event == "line":
            usage.lines += 1
        return count

    def enter(frame, event, arg):
        if not is_students(frame.f_code.co_filename):
            if f"{os.sep}torch{os.sep}nn{os.sep}" in frame.f_code.co_filename:
                usage.names[f"nn:{frame.f_code.co_qualname}"] += (
                    1  # a forward called without its module's hooks
                )
            return None
        usage.lines += 1
        return count

    return enter
