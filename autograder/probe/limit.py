"""Limits the time that a block takes, on every system.

In the main thread, the system's timers enforce the limit, if the system has timers. On Windows, which has
none, and in other threads, a separate thread watches the time and raises OutOfTime in the block's thread. An
error raised from another thread takes effect only between two steps of Python: a single call into C, such as
`time.sleep`, finishes first.
"""

import ctypes
import importlib._bootstrap
import signal
import sys
import threading
import time
import weakref

# subtle: signal.signal does the same, but first asks whether the handler is one of its enums, at 10 µs a
# time.
from _signal import signal as set_handler
from contextlib import AbstractContextManager
from types import FrameType

IMPORTS = importlib._bootstrap._find_and_load.__code__  # type: ignore[attr-defined]
PATIENCE = 4  # on the clock, a block may take this many times as long as it may compute
HAS_TIMERS = all(hasattr(signal, name) for name in ("setitimer", "SIGPROF", "SIGALRM"))


class OutOfTime(BaseException):
    """Raised if a call takes longer than its limit. It is not an Exception, so that `except Exception` does
    not catch it.
    """


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Raise OutOfTime in the block when this process has computed for `seconds`, or when PATIENCE times as
    many seconds have passed on the clock. If the block catches the error, raise it again after each further
    tenth of the limit.

    An import in the block is completed first: a half-imported module could not be used again in this process.
    """
    # subtle: on a busy machine a right answer waits for the processor, and must not run out of time for that.
    in_main = threading.current_thread() is threading.main_thread()
    limit = _ByTimers if HAS_TIMERS and in_main else _ByWatching
    return limit(seconds, PATIENCE * seconds)


# subtle: both are classes, not generators. contextlib's own code would run at the end of the block, and an
# OutOfTime within that would leave the limit in place for ever.


class _ByTimers(AbstractContextManager[None]):
    def __init__(self, seconds: float, waiting: float):
        self._imports = _imports_in(sys._getframe())
        self._timers = (
            (signal.SIGPROF, signal.ITIMER_PROF, seconds),
            (signal.SIGALRM, signal.ITIMER_REAL, waiting),
        )

    def __enter__(self) -> None:
        self._before = []
        for number, timer, limit in self._timers:
            self._before.append(set_handler(number, self._ring))
            signal.setitimer(timer, limit, limit / 10)

    def __exit__(self, *_: object) -> None:
        for (number, timer, _limit), handler in zip(self._timers, self._before, strict=True):
            signal.setitimer(timer, 0)
            set_handler(number, handler)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        """Raise OutOfTime, but not while the limit is being set or removed, nor during an import, which must
        not be interrupted halfway.
        """
        whole = (_ByTimers.__enter__.__code__, _ByTimers.__exit__.__code__)
        ours = (_ByTimers._ring.__code__, _imports_in.__code__)
        while frame is not None and frame.f_code in ours:
            frame = frame.f_back  # a frame of the other timer's handler, which this one interrupts
        if frame is None or (frame.f_code not in whole and _imports_in(frame) <= self._imports):
            raise OutOfTime()


class _ByWatching(AbstractContextManager[None]):
    def __init__(self, seconds: float, waiting: float):
        self._imports = _imports_in(sys._getframe())
        self._seconds, self._waiting = seconds, waiting
        self._over, self._rings = threading.Event(), threading.Lock()
        self._block = ctypes.c_ulong(threading.get_ident())

    def __enter__(self) -> None:
        threading.Thread(
            target=_watch, args=(weakref.ref(self), self._over, self._seconds / 10), daemon=True
        ).start()

    def ring_if_late(self, computed: float, waited: float) -> None:
        """Raise OutOfTime in the block if the block has taken too long, is not over and is not importing a
        module.
        """
        with self._rings:
            is_late = computed >= self._seconds or waited >= self._waiting
            if is_late and not self._over.is_set() and not self._is_importing():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._block, ctypes.py_object(OutOfTime))

    def _is_importing(self) -> bool:
        return _imports_in(sys._current_frames().get(self._block.value)) > self._imports

    def __exit__(self, *_: object) -> None:
        # subtle: OutOfTime may be raised until `_over` is set. One that is pending is raised when `set` is
        # entered, if not earlier.
        while True:
            try:
                with self._rings:
                    self._over.set()
                    break
            except OutOfTime:
                continue


def _watch(limit: "weakref.ref[_ByWatching]", over: threading.Event, tick: float) -> None:
    """Watch the time until the block is over or the `limit` object no longer exists. The object is checked
    because an error that is raised before `__exit__` begins would leave `over` unset.
    """
    computed, began = time.process_time(), time.monotonic()
    while not over.wait(tick) and (watched := limit()) is not None:
        watched.ring_if_late(time.process_time() - computed, time.monotonic() - began)
        del watched


def _imports_in(frame: FrameType | None) -> int:
    """Return how many imports are under way in this frame and its callers."""
    count = 0
    while frame is not None:
        count += frame.f_code is IMPORTS
        frame = frame.f_back
    return count
