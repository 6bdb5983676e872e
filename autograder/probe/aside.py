"""Distinguishes the operations that a result needs from asides such as a print, a plot or an assert.

The graded call is repeated twice. The first repetition traces every operation (autograder.probe.traced). If a
number that leaves PyTorch depends on a suspected operation, the number is multiplied by 1.5: a result that
depends on this number then changes, but if the number is only printed, the result stays the same. Where loops
are forbidden, every number that leaves PyTorch is multiplied, so that a loop counts only if its numbers flow
back into the result.

The second repetition skips the operations that the result does not need, and returns their results from the
first repetition instead. If both repetitions give the result of the graded call, the result needs only the
operations that the second one ran.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.probe.observe import TORCH_NN, Usage, observed
from autograder.probe.traced import LOOP, Trace
from autograder.values.compare import same_value
from autograder.values.encode import encode


class _Kernels(TorchDispatchMode):
    """Detects kernels that run outside an `expected` block, that is, in operations that the function mode did
    not see.
    """

    def __init__(self) -> None:
        super().__init__()
        self.are_expected = self.others = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # skipping would import the compiler, which takes more than a second

    @contextmanager
    def expected(self) -> Iterator[None]:
        self.are_expected = True
        try:
            yield
        finally:
            self.are_expected = False

    def __torch_dispatch__(self, kernel: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.others |= not self.are_expected
        return kernel(*args, **(kwargs or {}))


class _Replay(TorchFunctionMode):
    """Runs the needed operations; for all others it returns the results in the trace."""

    def __init__(self, trace: Trace, needed: set[int]):
        super().__init__()
        self.trace, self.needed, self.number = trace, needed, 0
        self.kernels = _Kernels()
        self.within: set[str] = set()  # the parts of torch.nn in which something needed runs,
        self.beside: set[str] = set()  # and in which something else does

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        number, self.number = self.number, self.number + 1
        if number in self.needed or number >= len(self.trace.results):
            self.within |= _parts_of_nn()
            with self.kernels.expected():
                return function(*args, **(kwargs or {}))
        self.beside |= _parts_of_nn()
        return self.trace.results[number]

    def without_asides(self, usage: Usage) -> dict[str, Any]:
        """Return the usage of the call as plain data, without the parts of torch.nn in which no needed
        operation ran. Where loops are forbidden, the number of lines is 0, because the lines of unneeded
        iterations would count too.
        """
        parts = self.beside - self.within
        # subtle: PyTorch's modules are noted when they are called, whether or not anything in them is needed.
        usage.names = {name for name in usage.names if not _is_one_of(parts, name)}
        return usage.as_data() | ({"lines": 0} if LOOP in self.trace.suspects else {})


def aside(
    calls: Iterator[Callable[[], Any]], result: Any, suspects: tuple[str, ...], used: set[str], closely: bool
) -> dict[str, Any]:
    """Return which operations the result of the graded call needs, as a dict.

    "needed" is the usage of these operations, or None if it is unknown. "beside" holds the lines of the
    suspects, and of the loops, that the result does not need; "within" holds the lines of all other suspects.
    Each item of `calls` repeats the graded call; `result` is the encoded result of the graded call, and
    `used` holds the names of the operations that the graded call used.
    """
    trace, usage = Trace(suspects), Usage(in_all_threads=closely)
    needed: set[int] = set()
    replay = _Replay(trace, needed)
    try:
        with trace:
            again = next(calls)()
        if same_value(encode(again), result):
            needed |= trace.needed(again)
            with observed(usage, closely), replay.kernels, replay:
                again = next(calls)()
        is_told = bool(needed) and same_value(encode(again), result) and not replay.kernels.others
        # If a repetition skips a suspect of the graded call, it may have replayed a cached result.
        wanted = {
            name.partition(" ")[0] for name in used if name.startswith("torch:") and name.startswith(suspects)
        }
        is_told &= wanted <= {*trace.names}
    except Exception:  # if the repetition fails, for whatever reason, nothing is known
        is_told = False
    within = {line for number, line in trace.suspected.items() if number in needed or not is_told}
    beside = {*trace.suspected.values()} - within | (trace.turns(needed) if is_told else set())
    return {
        "needed": replay.without_asides(usage) if is_told else None,
        "beside": sorted(beside - {0}),
        "within": sorted(within - {0}),
    }


NOTHING_TOLD: dict[str, Any] = {"needed": None, "beside": [], "within": []}


def _parts_of_nn() -> set[str]:
    """Return the names of the classes and functions of torch.nn that are running."""
    frame, found = sys._getframe(2), set()
    while frame is not None:
        if TORCH_NN in frame.f_code.co_filename:
            found.add(frame.f_code.co_qualname.partition(".")[0])
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _is_one_of(parts: set[str], name: str) -> bool:
    """Return whether a name in a usage belongs to one of `parts`, which are names of classes and functions of
    torch.nn.
    """
    if name.startswith("nn:"):
        return name.removeprefix("nn:").partition(".")[0] in parts
    return name.startswith("torch.nn.") and name.rpartition(".")[2] in parts
