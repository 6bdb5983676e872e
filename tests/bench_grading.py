"""Compares how fast our `grade` and stock `nbgrader autograde` grade a class. The stock command runs once in
one process, and once in as many processes as `grade` uses. Also measures what endless loops cost. Part of
`make bench`; asserts nothing.

Both commands grade the same submissions of lesson 01. The submissions are taken from the sample class, in
turn, each with an extra cell, so that no two are the same. The stock command grades a course with nbgrader's
own settings, so that the checks run in the students' kernels. Then `grade` runs on ten times as many
submissions.
"""

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import CLASS, FIRST, SOFTMAX, SampleSubmission
from autograder.grading.gradebook.fail_closed import GUARD
from autograder.grading.gradebook.open_course import SETTINGS, open_course
from autograder.grading.gradebook.outcomes import last_outcome
from autograder.grading.gradebook.table import read_rows
from autograder.grading.judging import results
from autograder.grading.submission.find import find_submissions

SIZE, GROWTH = 48, 10
STOCK = """\
c = get_config()
c.CourseDirectory.course_id = "attention-by-hand"
c.CourseDirectory.db_url = "sqlite:///" + {folder!r} + "/gradebook.db?timeout=60"
c.ClearMarkScheme.enforce_metadata = False
c.Execute.timeout = 120
c.ExecutePreprocessor.timeout = 120
"""
AUTOGRADE = [str(Path(sys.executable).with_name("nbgrader")), "autograde"]
DIGITS = "0123456789"
LOOPS = SampleSubmission("loops", answers={SOFTMAX: "while True:\n    pass"})
ONE_IN = 20  # submissions loops for ever in the class with endless loops
HONEST = [work for work in CLASS if work.lesson == FIRST and work.file is None and not work.without_checks]


def fill(folder: Path, size: int, works: list[SampleSubmission] = HONEST) -> None:
    """Hand in `size` submissions, taken from `works` in turn, each with an extra cell that makes it unique."""
    for number in range(size):
        work = works[number % len(works)]
        path = hand_in(folder, replace(work, student=f"{number:04}_{work.student}"))
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(new_code_cell(f"student_number = {number}"))
        path.write_text(nbformat.writes(notebook), encoding="utf-8")


def seconds(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Run a command and return (wall time, CPU time of all its processes, memory of the largest process
    that this program has run so far), in seconds and MB. Exit if the command fails.
    """
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, after.ru_maxrss / 1024


def ours(folder: Path) -> tuple[float, float, float]:
    return seconds([sys.executable, "-m", "autograder", "grade", str(folder), FIRST], folder)


def stock(folder: Path) -> tuple[float, float, float]:
    make_stock(folder)
    return seconds([*AUTOGRADE, FIRST], folder)


def make_stock(folder: Path) -> None:
    (folder / GUARD).unlink()
    (folder / SETTINGS).write_text(STOCK.format(folder=str(folder)), encoding="utf-8")


def stock_side_by_side(folder: Path, processes: int) -> float:
    """Return the wall time of stock commands that run in parallel, each for the students whose numbers end in
    certain digits.
    """
    make_stock(folder)
    start = time.perf_counter()
    shares = [f"???[{DIGITS[first::processes]}]_*" for first in range(processes)]
    running = [
        subprocess.Popen(
            [*AUTOGRADE, FIRST, f"--student={share}"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for share in shares
    ]
    if any(one.wait() for one in running):
        sys.exit("a stock command failed")
    return time.perf_counter() - start


def scores(folder: Path) -> dict:
    api = open_course(folder)
    return {row.student: row.points for row in read_rows(api, find_submissions(folder, FIRST, [FIRST]))}


def parts(folder: Path) -> dict[str, float]:
    """Return the wall seconds that each part of grading took, summed over all submissions."""
    total = {}
    for submission in find_submissions(folder, FIRST, [FIRST]):
        result = results.load(folder, last_outcome(submission).result)
        for part, spent in result.seconds.items():
            total[part] = total.get(part, 0.0) + spent
    return total


def main() -> None:
    cores = os.cpu_count()
    with tempfile.TemporaryDirectory() as place:
        names = ("ours", "large", "loops", "stock", "stock side by side")
        small, large, looping, other, others = (Path(place, name) for name in names)
        make_course(small)
        fill(small, SIZE)
        for copy in (other, others, looping):
            shutil.copytree(small, copy)
        for number in range(0, SIZE, ONE_IN):
            (old,) = (looping / "submitted").glob(f"{number:04}_*")
            shutil.rmtree(old)
            hand_in(looping, replace(LOOPS, student=old.name))
        shutil.copytree(small, large)
        fill(large, GROWTH * SIZE)
        print(
            f"\n{SIZE} submissions of {FIRST}, {cores} cores of {platform.processor() or platform.machine()}"
        )
        wall, _, memory = ours(small)
        print(
            f"  ours              {wall:8.1f} s   {wall / SIZE:6.2f} s each   largest process {memory:.0f} MB"
        )
        again, _, _ = ours(small)
        print(f"  ours, once more   {again:8.1f} s   nothing had changed")
        spent = parts(small)
        print("  where the time goes (seconds of one core, of all workers):")
        print("   ", ", ".join(f"{part} {value:.1f}" for part, value in spent.items()))
        floor = (spent["cells"] + spent["checks"]) / cores
        print(
            f"  floor: cells and checks over {cores} cores take {floor:.1f} s, ours {wall / floor:.2f} times that"
        )
        much, _, more = ours(large)
        print(f"  ours, {GROWTH} times as many {much:6.1f} s   {much / wall:.1f} times as long   ", end="")
        print(f"largest process {more:.0f} MB")
        loops = len(range(0, SIZE, ONE_IN))
        slow, _, _ = ours(looping)
        print(
            f"  with {loops} endless loops among them {slow:4.1f} s   {(slow - wall) / loops:.1f} s more for each"
        )
        theirs, _, _ = stock(other)
        print(f"  stock autograde   {theirs:8.1f} s   {theirs / SIZE:6.2f} s each")
        print(f"  ours is {theirs / wall:.1f} times as fast")
        processes = min(cores or 1, len(DIGITS))
        beside = stock_side_by_side(others, processes)
        print(f"  stock, {processes} at a time {beside:6.1f} s   ours is {beside / wall:.1f} times as fast")
        differ = [student for student, points in scores(small).items() if points != scores(other)[student]]
        print(f"  scores: {SIZE - len(differ)} of {SIZE} the same {differ or ''}")


if __name__ == "__main__":
    main()
