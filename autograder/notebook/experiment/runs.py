"""Compares several variants, each with several seeds, after one or more given numbers of steps.

A claim about an experiment should hold for other seeds, after more steps, and against the simplest baseline:
a constant rate, a random choice, training that stops earlier. So a lesson calls

    found = compare_runs(run, {"without": 0.0, "factor 0.05": 0.05}, steps=(150, 1000))

and claims what the printed table shows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

V = TypeVar("V")


def compare_runs(
    run: Callable[[V, int], Sequence[float]],
    variants: Mapping[str, V],
    steps: Sequence[int],
    seeds: Iterable[int] = range(3),
    over: int = 20,
    digits: int = 2,
) -> dict[str, list[list[float]]]:
    """Print a table with a row for each variant, a column for each of `steps`, and one number per seed in
    each cell. Return a dict: variant -> its runs, one per seed.

    run: run(variant, seed) -> one number for each step, such as the losses that `train` returns
    steps: the numbers of steps after which to compare; a printed number is the mean over the last `over`
        steps
    """
    found = {name: [list(run(variant, seed)) for seed in seeds] for name, variant in variants.items()}
    table = [["", *(f"after {step} steps" for step in steps)]]
    for name, runs in found.items():
        table.append([name, *(_of_all_seeds(runs, step, over, digits) for step in steps)])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return found


def _of_all_seeds(runs: list[list[float]], step: int, over: int, digits: int) -> str:
    last = [run[max(0, step - over) : step] for run in runs]
    return " ".join(f"{sum(values) / len(values):.{digits}f}" for values in last)
