"""Functions of the C library, whose failures are never ignored."""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments) -> int:
    """Calls a function of the C library. Raises OSError if it returns -1."""
    result = getattr(LIBC, name)(*arguments)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result
