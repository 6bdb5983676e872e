"""The resources that one submission may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """The limits of one submission: CPU seconds for a cell (`cell`) and for a probe (`probe`), wall-clock
    seconds for the whole submission (`whole`), bytes of memory, and number of processes, in which each thread
    counts. `again` replaces the limit for code that needs an answer that has already failed to return
    (judging/patience.py), and `again_call` limits each call of such an answer.

    A cell or a probe may take PATIENCE (probe/limit.py) times as many wall-clock seconds as CPU seconds.
    """

    cell: float = 60.0
    probe: float = 60.0
    again: float = 5.0
    again_call: float = 1.0
    whole: float = 600.0
    memory: int = 6 * 1024**3
    processes: int = 128


USUAL = Allowance()
