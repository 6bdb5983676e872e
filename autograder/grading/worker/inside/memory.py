"""The memory of the fork server, made cheap to fork.

A fork copies the page table, and later every page that it writes to. With large pages the table is short; and Python's
garbage collector writes to no object that it need not look at.
"""

import ctypes
import gc
import sys

HUGE = 2 * 1024 * 1024
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25


def freeze_memory() -> None:
    """Called once, after the imports. If the kernel has no large pages, forks only take longer."""
    gc.collect()
    gc.freeze()
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for first, last in _anonymous_memory():
        first, last = -(-first // HUGE) * HUGE, last // HUGE * HUGE
        if first < last:
            for advice in (MADV_HUGEPAGE, MADV_COLLAPSE):
                libc.madvise(first, last - first, advice)


def _anonymous_memory() -> list[tuple[int, int]]:
    """The address ranges of the memory that this process has allocated."""
    ranges = []
    with open("/proc/self/maps") as maps:
        for line in maps:
            addresses, rights, _, _, _, *name = line.split()
            if rights == "rw-p" and name in ([], ["[heap]"]):
                first, last = addresses.split("-")
                ranges.append((int(first, 16), int(last, 16)))
    return ranges
