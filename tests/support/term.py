"""Helpers for the tests of an instructor's term: real commands, each in a separate process."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat

from autograder.exercises.own import VARIABLE
from autograder.grading.gradebook.open_course import open_course

NOBODY = 65534  # another user of this machine, whom only root can become
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def run(program: str, *words: str, cwd: Path, fails: bool = False, before=(), env=None) -> str:
    """Run `python -m PROGRAM WORDS` and return its output. Assert that the program fails if `fails` is true,
    and succeeds otherwise.
    """
    command = [*before, sys.executable, "-m", program, *map(str, words)]
    env = {name: value for name, value in (env or os.environ).items() if name != VARIABLE}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, env=env)
    said = done.stdout + done.stderr
    assert bool(done.returncode) == fails, said[-3000:]
    return said


def nbgrader(course: Path, *words: str, **how) -> str:
    return run("nbgrader", *words, cwd=course, **how)


def autograder(*words: str, cwd: Path, **how) -> str:
    return run("autograder", *words, cwd=cwd, **how)


def change(path: Path, edit) -> None:
    """Apply `edit(notebook)` to a notebook in a file."""
    notebook = nbformat.read(path, as_version=4)
    edit(notebook)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")


def cell_named(notebook, grade_id: str):
    return next(
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def add_to_settings(course: Path, text: str) -> None:
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(text)


def as_student(home: Path) -> dict:
    """Return keyword arguments for `run` that make it act as a student with the home folder `home`. The
    student is a second user of this machine, if the tests may switch users.
    """
    home.mkdir()
    own = {
        "HOME": str(home),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "run"),
    }
    if os.geteuid() or subprocess.run([*AS_NOBODY, sys.executable, "-c", "import nbgrader"]).returncode:
        return {"env": os.environ | own}
    os.chown(home, NOBODY, NOBODY)
    return {"env": os.environ | own, "before": AS_NOBODY}


def written_points(course: Path, lesson: str, student: str, cell: str, points: float) -> None:
    """Give points to a written answer by hand, as formgrader does."""
    with open_course(course).gradebook as book:
        grade = book.find_grade(cell, lesson, lesson, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()
