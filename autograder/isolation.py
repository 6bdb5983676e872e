"""Runs other people's code and leaves this process as it was; also gives names to private functions of
PyTorch.

quiet         drops prints and warnings; quiet_libraries drops those of libraries written in C
undisturbed   restores random number generators, modes and settings
reproducible  makes a program give the same results each time
"""

import builtins
import contextlib
import io
import os
import random
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler import profile
from torch.overrides import TorchFunctionMode

from autograder.faults import trust_boundary
from autograder.files import folder_is_gone

# subtle: torch.manual_seed does the same, but records a traceback for missing GPUs, which takes 1 ms.
seed = torch.default_generator.manual_seed

# In this context, a subclass of Tensor computes like a plain Tensor.
without_subclasses = torch._C.DisableTorchFunctionSubclass

# Inside torch.vmap, tensors are batched wrappers without concrete storage.
is_vmap_wrapper = torch._C._functorch.is_functorch_wrapped_tensor
unwrapped = torch._C._functorch.get_unwrapped

# subtle: checks change settings of the whole process (random streams, default type, prints), and graders and
# notebooks may check in several threads.
ONE_AT_A_TIME = threading.RLock()

# subtle: torch.use_deterministic_algorithms does the same but imports the compiler, which takes over a
# second.
_set_deterministic = torch._C._set_deterministic_algorithms


class _Sink(io.TextIOBase):
    """A text stream that discards everything, so that even endless prints take no memory."""

    def write(self, text: str) -> int:
        return len(text)

    def writable(self) -> bool:
        return True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discard what the block prints and its warnings, make `input` raise an error, and keep `exit()` from
    ending a notebook's kernel. Outside the main thread, do nothing, because all threads share one standard
    output.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    sink, asks = _Sink(), builtins.input
    builtins.input = _nobody
    try:
        with (
            contextlib.redirect_stdout(sink),
            contextlib.redirect_stderr(sink),
            warnings.catch_warnings(),
            _kernel_goes_on(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        builtins.input = asks


@trust_boundary
def _nobody(prompt: object = "") -> str:
    """Raise EOFError. This replaces `input` while an answer runs, because nobody is there to type."""
    raise EOFError("input() waits for someone at the keyboard, and nobody can answer here")


@contextlib.contextmanager
def _kernel_goes_on() -> Iterator[None]:
    """Make `exit()` raise SystemExit, as in a script, instead of ending the notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        yield
        return
    before = shell.ask_exit
    shell.ask_exit = _end
    try:
        yield
    finally:
        shell.ask_exit = before


@trust_boundary
def _end() -> None:
    raise SystemExit("exit() ends Python")


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Discard what libraries written in C print to the standard error of the process."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Restore the random number generators, the gradient mode, the default dtype and the recursion limit
    after the block. Inside the block, functions compiled with torch.compile run as written.
    """
    python_state, numpy_state = random.getstate(), np.random.get_state()
    default_type, recursion_limit = torch.get_default_dtype(), sys.getrecursionlimit()
    gpus = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(gpus), torch.set_grad_enabled(torch.is_grad_enabled()), _uncompiled():
            yield
    finally:
        torch.set_default_dtype(default_type)
        sys.setrecursionlimit(recursion_limit)
        random.setstate(python_state)
        np.random.set_state(numpy_state)


@contextlib.contextmanager
def in_a_folder() -> Iterator[None]:
    """Run the block in the current folder or, if that was deleted, in the root folder. Afterwards, return to
    the folder that was current before.

    subtle: in a folder that was deleted, MKL finds none of its libraries and ends the process.
    """
    if not hasattr(os, "fchdir"):  # Windows, where nobody can delete the folder of a process
        with contextlib.chdir(os.getcwd()):
            yield
        return
    before = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))
    try:
        if folder_is_gone():
            os.chdir(os.sep)
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def _uncompiled() -> AbstractContextManager:
    """Return a context in which compiled functions run as written, so that no C++ compiler is needed and
    their operations are visible.
    """
    try:
        # subtle: set_stance imports the compiler (2 s); if nothing has imported it, nothing is compiled.
        return (
            torch.compiler.set_stance("force_eager")
            if "torch._dynamo" in sys.modules
            else contextlib.nullcontext()
        )
    except RuntimeError:  # within a function that is being compiled
        return contextlib.nullcontext()


@contextlib.contextmanager
def plain_settings() -> Iterator[None]:
    """Run the block with PyTorch's initial default dtype, device and modes, even if the learner has changed
    them, and in a folder that exists. Only one thread at a time may run such a block, because all threads
    share the default dtype and the current folder.
    """
    device = torch.device("cpu") if _makes_elsewhere() else contextlib.nullcontext()
    with ONE_AT_A_TIME, in_a_folder(), device, _plain_modes():
        dtype = torch.get_default_dtype()
        try:
            torch.set_default_dtype(torch.float32)
            yield
        finally:
            torch.set_default_dtype(dtype)


@contextlib.contextmanager
def _plain_modes() -> Iterator[None]:
    """Run the block with gradients on, and with inference mode, autocast and anomaly detection off. (Anomaly
    detection would change which operations are recorded.)
    """
    autocast, anomalies = torch.autocast("cpu", enabled=False), torch.autograd.set_detect_anomaly(False)
    with torch.inference_mode(False), torch.enable_grad(), autocast, anomalies:
        yield


def _makes_elsewhere() -> bool:
    """Return whether the default device for new tensors is not the CPU."""
    try:
        return torch.get_default_device().type != "cpu"
    except (AssertionError, RuntimeError):  # a device that this machine does not have
        return True


class OwnRandomNumbers(TorchFunctionMode):
    """A context whose own generator supplies all random numbers that are drawn without an explicit generator."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(0)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, draws = kwargs or {}, getattr(function, "__name__", "") in RANDOM
        # subtle: PyTorch calls no mode inside the functions of torch.nn.init, so the generator that they pass
        # on (None by default) is set here.
        if kwargs.get("generator", None if draws else "takes none") is None:
            kwargs = kwargs | {"generator": self.generator}
        return function(*args, **kwargs)


RANDOM = {"uniform_", "normal_", "rand", "randn", "randint", "randperm", "bernoulli_", "exponential_"}


@contextlib.contextmanager
def reproducible() -> Iterator[None]:
    """Make a program give the same results each time: use deterministic algorithms where PyTorch has them,
    fill uninitialised tensors with NaN (they might hold zeros by chance), and turn off flash attention, which
    does not check its shapes.
    """
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    flash = torch._C._get_flash_sdp_enabled()
    try:
        _set_deterministic(True, warn_only=True)
        # subtle: if there are fewer values than keys, the flash kernel reads past the end of the values.
        torch._C._set_sdp_use_flash(False)
        yield
    finally:
        torch._C._set_sdp_use_flash(flash)
        _set_deterministic(was[0], warn_only=was[1])


def profiled_in_all_threads() -> profile:
    """Return PyTorch's profiler, set to record the kernels of every thread."""
    return profile(experimental_config=_ExperimentalConfig(profile_all_threads=True))
