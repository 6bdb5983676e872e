"""Prepares the fork server once, for all its forks: imports what they need, erases the command line and
environment with which it was started, and makes its memory cheap to fork.

A fork copies the page table, and later every page that it writes to. Three measures keep that cheap: large
pages make the table short; Python's garbage collector leaves the existing objects alone; and new memory is
taken from the end of the heap, not from holes all over it.
"""

import ctypes
import gc
import os
import random
import sys
from pathlib import Path

from autograder.grading.sandbox.inside.privileges import prepare
from autograder.grading.worker.inside.shell import Shell, make_shell
from autograder.grading.worker.inside.stubs import compile_nothing, silence_the_course

NAME = b"autograder"
ARGUMENTS, ENVIRONMENT = slice(45, 47), slice(47, 49)  # in /proc/self/stat, counted after the name
HUGE = 2 * 1024 * 1024
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25
LARGEST_HOLE, FITS_NO_HOLE = 2048, 65536  # bytes; malloc serves small blocks from the smallest free chunk
MOST_HOLES = 10_000  # of one size
# IPython imports parts of itself when it first runs a cell such as one of these.
FIRST_CELLS = ("0", "raise NotImplementedError", "%matplotlib inline")


def erase_start() -> None:
    """Overwrite the command line and the environment with which this process was started. Also overwrite the
    memory from which the kernel reads them, because students' code in the forks could otherwise read them
    through the kernel. `ps` then shows the process as "autograder".
    """
    os.environ.clear()
    sys.argv[:] = sys.orig_argv[:] = [NAME.decode()]
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).clearenv()  # because getenv(3) reads memory that is overwritten below
    places = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    for part, text in ((ARGUMENTS, NAME), (ENVIRONMENT, b"")):
        begin, end = map(int, places[part])
        ctypes.memset(begin, 0, end - begin)
        ctypes.memmove(begin, text, min(len(text), end - begin))


def warm_up(many: bool) -> Shell:
    """Import and prepare everything, and return the shell in which all submissions run. Unless there will be
    many forks, leave out what each of them would do for itself, if it needs it at all.
    """
    import numpy as np
    import torch

    torch.set_num_threads(1)
    if many:
        _use_pytorch()
    # Every submission draws the same random numbers, so that a second run gives the same grade.
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    silence_the_course()
    compile_nothing()
    prepare()
    shell = make_shell()
    for cell in FIRST_CELLS if many else ():
        shell.run_cell(cell, silent=True)
    gc.collect()
    gc.freeze()
    if many and sys.platform == "linux":
        _fill_holes()
        _take_large_pages()
    return shell


def _use_pytorch() -> None:
    """Run what makes PyTorch import and look up more of itself the first time."""
    import torch

    # subtle: the exercises hold the course's answers, and must never be imported here.
    from autograder.graph import draw
    from autograder.probe.observe import Usage
    from autograder.probe.program import Recorder, run_program

    weights = torch.ones(2, 2, requires_grad=True)
    torch.softmax(weights @ weights, dim=-1).sum().backward()
    # PyTorch imports some parts at the first drawing, and at the first padding (sympy: half a second).
    draw(lambda x: x + torch.nn.functional.linear(x, x), weights)
    layer, nothing = torch.nn.MultiheadAttention(2, 1, batch_first=True), torch.zeros(1, 2, dtype=torch.bool)
    layer(*[weights[None]] * 3, key_padding_mask=nothing)
    # PyTorch looks up each kernel the first time that it is called by name, and its modes import further modules
    # the first time that they are entered.
    with torch.no_grad(), Recorder([weights]) as recorder:
        scores = (weights[0] @ weights.T / 2.0 - weights.amax(-1, keepdim=True)).exp()
        made = torch.stack([(scores * row).sum() for row in weights]) / scores.sum(-1)
    run_program(recorder.data(made), [weights], Usage())


def _fill_holes() -> None:
    """Allocate the holes between used blocks in the heap, and never release them, so that forks take new
    memory from the end of the heap. Measured: a process that runs one cell and one check takes 26 ms of CPU
    time instead of 30, with 3,480 page faults instead of 3,960.
    """
    malloc = ctypes.CDLL(None).malloc
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    end = malloc(FITS_NO_HOLE) or 0
    for size in range(LARGEST_HOLE, 0, -16):
        for _ in range(MOST_HOLES):
            if (malloc(size) or end) >= end:
                break


def _take_large_pages() -> None:
    """Ask the kernel for large pages. If it has none, forks still work but take longer. Measured: a fork
    takes 2 ms of CPU time instead of 5, and each submission needs four forks.
    """
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, _, _, _, *name = line.split()
        if rights == "rw-p" and name in ([], ["[heap]"]):  # memory that this process has allocated
            first, last = (int(address, 16) for address in addresses.split("-"))
            first, last = -(-first // HUGE) * HUGE, last // HUGE * HUGE
            for advice in (MADV_HUGEPAGE, MADV_COLLAPSE) if first < last else ():
                libc.madvise(first, last - first, advice)
