"""Makes a course, lets a made-up class hand in, grades it, makes feedback and report: the whole in one go."""

import shlex
import shutil
import sys
import time
from pathlib import Path

import nbformat

from autograder.build.marks import SOLUTION, find_regions, replace_marks
from autograder.grading.course import make_course, open_course
from autograder.grading.grade import grade
from autograder.grading.quiet import quiet
from autograder.grading.report import report
from autograder.grading.sample_class import AGAIN, CLASS, RIGHT, STUB, WRONG, HandsIn

MARK = ".made-by-demo"  # in a folder that holds nothing but made-up work


def demo(folder: Path | str) -> None:
    """Makes the course in `folder` with a graded sample class, and prints what is where.

    The folder is new, empty, or one that an earlier demo made, which is replaced. Raises UserError as
    make_course does.
    """
    began = time.monotonic()
    if (Path(folder) / MARK).is_file():
        print(f"The demo of before in {folder} is replaced.")
        shutil.rmtree(folder)
    folder = make_course(folder)
    (folder / MARK).touch()
    _enrol(folder)
    for work in CLASS:
        hand_in(folder, work)
    print(f"\n{len(CLASS)} notebooks are handed in. Grading them ...\n", flush=True)
    grade(folder)
    hand_in(folder, AGAIN)
    print(f"\n{AGAIN.student} hands in again; only that notebook is graded again ...\n", flush=True)
    rows = grade(folder, AGAIN.lesson)
    make_feedback(folder, sorted({row.lesson for row in rows} | {work.lesson for work in CLASS}))
    _say_where(folder, time.monotonic() - began)


def _enrol(folder: Path) -> None:
    """Tells the gradebook the students' names, as `nbgrader db student import` does."""
    with open_course(folder).gradebook as gradebook:
        for student in {work.student for work in CLASS}:
            first, last = student.title().split("_")
            gradebook.update_or_create_student(student, first_name=first, last_name=last)


def hand_in(folder: Path, work: HandsIn) -> Path:
    """Writes what the student hands in to DIR/submitted."""
    path = folder / "submitted" / work.student / work.lesson / f"{work.lesson}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook_text(folder, work) if work.file is None else work.file, encoding="utf-8")
    return path


def notebook_text(folder: Path, work: HandsIn) -> str:
    """The released notebook with the student's answers typed into it."""
    name = f"{work.lesson}/{work.lesson}.ipynb"
    notebook = nbformat.read(folder / "release" / name, as_version=4)
    teacher = {cell.id: cell for cell in nbformat.read(folder / "source" / name, as_version=4).cells}
    kept = []
    for cell in notebook.cells:
        kind = cell.metadata.get("nbgrader", {})
        if kind.get("solution") and cell.cell_type == "code":
            exercise = kind.grade_id.replace("-", ".", 1)
            cell.source = type_answer(
                teacher[cell.id].source, cell.source, exercise, work.answers.get(exercise, work.default)
            )
        elif kind.get("solution") and work.written:
            cell.source = cell.source.replace("YOUR ANSWER HERE", work.written)
        if not (work.without_checks and kind.get("locked")):
            kept.append(cell)
    notebook.cells = kept
    return nbformat.writes(notebook)


def type_answer(teacher: str, stub: str, exercise: str, answer: str) -> str:
    """The text of an answer cell: the stub, the right answer, a known mistake, or `answer` itself."""
    if answer == STUB:
        return stub
    if answer == RIGHT:
        return replace_marks(teacher, {})
    body = WRONG.get((exercise, answer), answer)
    first = next(region for region in find_regions(teacher) if region.kind == SOLUTION)
    mark = teacher.split("\n")[first.first]
    indent = mark[: len(mark) - len(mark.lstrip())]
    lines = teacher.split("\n")
    lines[first.first : first.last + 1] = [indent + line for line in body.split("\n")]
    return "\n".join(lines)


def make_feedback(folder: Path, lessons: list[str]) -> None:
    """A feedback page for everyone whose notebook was run."""
    from tqdm import tqdm

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
