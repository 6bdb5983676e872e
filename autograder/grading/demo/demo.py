"""Makes a course, hands in the work of an invented class, grades it, and makes feedback and a report."""

import shlex
import shutil
import sys
import time
from pathlib import Path

from tqdm import tqdm

from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import AGAIN, CLASS
from autograder.grading.grade import grade
from autograder.grading.gradebook.open_course import open_course, quiet
from autograder.grading.pages.report import report
from autograder.grading.sandbox.sandbox import why_no_sandbox

MARK = ".made-by-demo"  # marks a folder that contains only invented work


def demo(folder: Path | str) -> None:
    """Make a course in `folder` with a graded sample class, and print where everything is.

    The folder must be new or empty, or contain an earlier demo, which is replaced. Raises UserError as
    make_course does.
    """
    began = time.monotonic()
    if (Path(folder) / MARK).is_file():
        print(f"The earlier demo in {folder} is replaced.")
        shutil.rmtree(folder)
    if why := why_no_sandbox():
        print(
            f"This machine has no sandbox, and the made-up class is our own, so it is graded without one: {why}"
        )
    folder = make_course(folder)
    (folder / MARK).touch()
    _enrol(folder)
    for work in CLASS:
        hand_in(folder, work)
    print(f"\n{len(CLASS)} notebooks are handed in. Grading them ...\n", flush=True)
    grade(folder, sandboxed=not why)
    hand_in(folder, AGAIN)
    print(f"\n{AGAIN.student} hands in again; only that notebook is graded again ...\n", flush=True)
    rows = grade(folder, AGAIN.lesson, sandboxed=not why)
    make_feedback(folder, sorted({row.lesson for row in rows} | {work.lesson for work in CLASS}))
    _say_where(folder, time.monotonic() - began)


def _enrol(folder: Path) -> None:
    """Enter the students' names in the gradebook, as `nbgrader db student import` does."""
    with open_course(folder).gradebook as gradebook:
        for student in {work.student for work in CLASS}:
            first, last = student.title().split("_")
            gradebook.update_or_create_student(student, first_name=first, last_name=last)


def make_feedback(folder: Path, lessons: list[str]) -> None:
    """Write a feedback page for every graded submission of these lessons."""
    api = open_course(folder)
    for lesson in tqdm(lessons, desc="feedback", unit="lesson"):
        with quiet(folder / "grading.log"):
            api.generate_feedback(lesson)


def _say_where(folder: Path, seconds: float) -> None:
    pages = sorted((folder / "feedback").glob("*/*/*.html"))
    print(f"\n{len(pages)} feedback pages are under {folder / 'feedback'}, for instance")
    for page in pages[:3]:
        print(f"  {page}")
    print("The class report, scores and misconceptions on one page, is")
    print("  ", end="")
    report(folder)
    print("Written answers are graded by hand, in the browser, in formgrader:")
    print(f"  cd {shlex.quote(str(folder))} && {sys.executable} -m jupyterlab")
    print(f"All this took {seconds:.0f} seconds.")
