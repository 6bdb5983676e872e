"""The resources that one submission may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """The limits of one submission: CPU seconds for a cell and for a probe, seconds by the clock for the
    whole, bytes of memory, and processes, counting each of their threads. `again` is the limit for code that
    needs an answer that did not return before (judging/patience.py), and `again_call` the limit for each call
    of such an answer.

    By the clock, a cell or a probe may take PATIENCE (probe/limit.py) times its CPU seconds.
    """

    cell: float = 60.0
    probe: float = 60.0
    again: float = 5.0
    again_call: float = 1.0
    whole: float = 600.0
    memory: int = 6 * 1024**3
    processes: int = 128


USUAL = Allowance()
