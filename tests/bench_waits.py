"""Measures what people wait for, apart from checks: a notebook's first cell, the bundle, a large class. Run
by `make bench`; asserts nothing.

The bundle is made with an empty cache, and again with the cache that the first run has filled. The class is
300 submissions of lesson 04, each with right answers and an extra cell.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_grading import fill, seconds

from autograder.grading.course.make import make_course
from autograder.grading.demo.sample_class import SampleSubmission

TURNS, CLASS_SIZE, LESSON = 5, 300, "04_heads"
FIRST_CELL = "from autograder import check, compare, draw, explore, figures, hint, mine, progress"


def wait(*command: str, **variables: str) -> float:
    """Return the wall time, in seconds, of one call of Python."""
    start = time.perf_counter()
    environment = os.environ | variables
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


def first_cell() -> None:
    lines = {"torch": "import torch", "both": f"import torch\n{FIRST_CELL}"}
    taken: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(TURNS):
        for name, line in lines.items():
            taken[name].append(wait("-c", line))
    torch, both = (statistics.median(times) for times in taken.values())
    print(f"first cell: PyTorch {torch:.2f} s, with ours {both:.2f} s, {both / torch:.2f} times that")


def bundle(folder: Path) -> None:
    first, second = (
        wait("-m", "autograder", "bundle", str(folder / name), XDG_CACHE_HOME=str(folder / "cache"))
        for name in ("first", "second")
    )
    print(
        f"bundle: {first:.0f} s the first time, {second:.1f} s the second, {first / second:.0f} times as fast"
    )


def large_class(folder: Path) -> None:
    make_course(folder)
    fill(folder, CLASS_SIZE, [SampleSubmission("student", lesson=LESSON)])
    wall, _, memory = seconds([sys.executable, "-m", "autograder", "grade", str(folder), LESSON], folder)
    print(f"{CLASS_SIZE} submissions of {LESSON}: {wall:.0f} s, largest process {memory:.0f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        first_cell()
        bundle(Path(place))
        large_class(Path(place, "class"))


if __name__ == "__main__":
    main()
