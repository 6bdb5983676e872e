"""What one submission may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowance:
    """The limits of one submission, in seconds, bytes and processes."""

    cell: float = 60.0
    probe: float = 60.0
    whole: float = 600.0
    memory: int = 6 * 1024**3
    processes: int = 128


USUAL = Allowance()
