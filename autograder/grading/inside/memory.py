"""The memory of the warm process, made cheap to fork.

A fork copies the table of pages, and later every page that it writes to. In large pages the table is short; and
what Python's garbage collector must not look at, it does not write to.
"""

import ctypes
import gc

HUGE = 2 * 1024 * 1024
MADV_HUGEPAGE, MADV_COLLAPSE = 14, 25


def settle() -> None:
    """Called once, after the imports. Where the kernel has no large pages, forks only take longer."""
    gc.collect()
    gc.freeze()
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for first, last in _anonymous_memory():
        first, last = -(-first // HUGE) * HUGE, last // HUGE * HUGE
        if first < last:
            for advice in (MADV_HUGEPAGE, MADV_COLLAPSE):
                libc.madvise(first, last - first, advice)


def _anonymous_memory() -> list[tuple[int, int]]:
    """The address ranges of what this process has allocated."""
    ranges = []
    with open("/proc/self/maps") as maps:
        for line in maps:
            where, rights, _, _, _, *name = line.split()
            if rights == "rw-p" and name in ([], ["[heap]"]):
                ranges.append(tuple(int(end, 16) for end in where.split("-")))
    return ranges
