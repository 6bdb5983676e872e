"""A limit on the time that a block takes, on every system.

In the main thread the system's own timers keep it, where there are any. On Windows, which has none, and in other
threads, a thread beside the block watches the time and raises in the block's thread. That works between two steps of
Python: a single call into C, such as `time.sleep`, ends first.
"""

import contextlib
import ctypes
import signal
import threading
import time

# subtle: signal.signal does the same, but first asks whether the handler is one of its enums, at 10 µs a time.
from _signal import signal as set_handler
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import FrameType

HAS_TIMERS = all(hasattr(signal, name) for name in ("setitimer", "SIGPROF", "SIGALRM"))


class OutOfTime(BaseException):
    """The call took longer than its limit. Not an Exception, so that `except Exception` lets it through."""


def time_limit(seconds: float, waiting: float | None = None) -> AbstractContextManager[None]:
    """Raises OutOfTime in the block after `waiting` seconds (default: `seconds`), or when this process has computed
    for `seconds`; and again every tenth of that if it is swallowed."""
    in_main = threading.current_thread() is threading.main_thread()
    limit = _by_timers if HAS_TIMERS and in_main else _by_watching
    return limit(seconds, seconds if waiting is None else waiting)


@contextlib.contextmanager
def _by_timers(seconds: float, waiting: float) -> Iterator[None]:
    def ring(signum: int, frame: FrameType | None) -> None:
        raise OutOfTime()

    timers = (signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, waiting)
    before = [set_handler(number, ring) for number, _, _ in timers]
    for _, timer, limit in timers:
        signal.setitimer(timer, limit, limit / 10)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            set_handler(number, handler)


@contextlib.contextmanager
def _by_watching(seconds: float, waiting: float) -> Iterator[None]:
    over, rings, block = threading.Event(), threading.Lock(), ctypes.c_ulong(threading.get_ident())

    def watch() -> None:
        computed, began = time.process_time(), time.monotonic()
        while not over.wait(seconds / 10):
            late = time.process_time() - computed >= seconds or time.monotonic() - began >= waiting
            with rings:
                if late and not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(block, ctypes.py_object(OutOfTime))

    try:
        threading.Thread(target=watch, daemon=True).start()
        yield
    finally:
        # subtle: it may ring until `over` is set. A ring on its way comes at the latest when `set` is entered.
        while True:
            try:
                with rings:
                    over.set()
                    break
            except OutOfTime:
                continue
