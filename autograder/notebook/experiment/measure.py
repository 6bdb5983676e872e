"""Measures the time and memory of a call, on a CPU or a GPU."""

import math
import os
import time
from collections.abc import Callable
from itertools import accumulate

import torch

from autograder.notebook.experiment.training import limited_threads


def seconds(call: Callable, *args, threads: int | None = 1) -> float:
    """Return the time of call(*args) in seconds: the shortest of several runs (at least three, for at least a
    tenth of a second in all), so that other work on the machine counts little.

    threads: how many threads PyTorch may use; None leaves the number as it is
    """
    best, runs, until = math.inf, 0, time.perf_counter() + 0.1
    with limited_threads(threads):
        while runs < 3 or time.perf_counter() < until:
            _finish()
            start = time.perf_counter()
            call(*args)
            _finish()
            best, runs = min(best, time.perf_counter() - start), runs + 1
    return best


def peak_memory(call: Callable, *args) -> int:
    """Return the peak memory of call(*args) in bytes: the most that its tensors take up at one time, with its
    result but without its arguments.

    On a CPU, every allocation and release by PyTorch is counted. If an argument is on a GPU, the call is made
    twice, and PyTorch's own statistics for the GPU are read in the second call.
    """
    if any(isinstance(value, torch.Tensor) and value.is_cuda for value in args):
        return _peak_on_gpu(call, args)
    from torch.profiler import ProfilerActivity, profile

    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # otherwise the profiler writes to stderr
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        result = call(*args)
    del result
    # subtle: the profiler's sums per operation would count memory that a custom function frees only at the
    # function's end.
    events = [event for event in record.profiler.kineto_results.events() if event.name() == "[memory]"]
    changes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    return max(accumulate(changes, initial=0))


def _peak_on_gpu(call: Callable, args: tuple) -> int:
    # The first matrix product in a thread (autograd has its own) also allocates a workspace that stays.
    leaves = [value for value in args if isinstance(value, torch.Tensor) and value.is_leaf]
    gradients = [leaf.grad for leaf in leaves]
    call(*args)
    for leaf, gradient in zip(leaves, gradients, strict=True):
        leaf.grad = gradient  # so that the second call allocates gradients as well
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call(*args)
    return torch.cuda.max_memory_allocated() - before


def _finish() -> None:
    """Wait until a GPU has finished: calls return before the GPU is done."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
