"""The resources that one submission may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """The limits of one submission. `cell` and `probe` are CPU seconds for running a cell and for a probe,
    which calls one answer on the cases of its exercise. `whole` is wall-clock seconds for the whole
    submission, `memory` is in bytes, and `processes` is a number in which each thread counts as a process.

    If code needs an answer that has already failed to return (judging/patience.py), `again` replaces `cell`
    or `probe` for that code, and `again_call` limits each call of that answer.

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
