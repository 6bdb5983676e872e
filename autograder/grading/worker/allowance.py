"""The resources that one submission may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """The limits of one submission: seconds in which a cell or a probe computes, seconds on the clock for the
    whole, bytes and processes. `again` is for code that needs an answer which did not return before
    (judging/patience.py), and `again_call` for each call of it.

    On the clock, a cell or a probe may take PATIENCE (probe/limit.py) times its seconds.
    """

    cell: float = 60.0
    probe: float = 60.0
    again: float = 5.0
    again_call: float = 1.0
    whole: float = 600.0
    memory: int = 6 * 1024**3
    processes: int = 128


USUAL = Allowance()
