"""Measures how long `python -m autograder check` takes on the worked answers. Run by `make bench`; asserts
nothing.

A call with one file takes as long as a learner waits at the command line, including the import of torch. In a
call with many files, each further file adds only the time of judging.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from worked import worked_file

from autograder.exercises import all_exercises

FILES = 20


def seconds(exercise_id: str, files: list[Path]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "autograder", "check", exercise_id, *files]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    print(f"{'exercise':30} {'one file':>10} {'each further':>14}   (of {FILES})")
    with tempfile.TemporaryDirectory() as folder:
        for exercise in all_exercises():
            files = [Path(folder) / f"{number}.py" for number in range(FILES)]
            for file in files:
                file.write_text(worked_file(exercise))
            one, many = seconds(exercise.id, files[:1]), seconds(exercise.id, files)
            print(f"{exercise.id:30} {one:8.1f} s {1000 * (many - one) / (FILES - 1):11.0f} ms", flush=True)


if __name__ == "__main__":
    main()
