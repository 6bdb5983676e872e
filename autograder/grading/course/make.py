"""Makes a standard nbgrader course from the lessons.

    DIR/nbgrader_config.py   calls configure of settings.py
    DIR/nbgrader_config.json stops nbgrader where that file has an error
    DIR/.secret              the secret that hidden cases are drawn from; only the teacher can read it
    DIR/source/LESSON        the lessons with answers and hidden tests
    DIR/release/LESSON       what students get
    DIR/gradebook.db         nbgrader's gradebook
    DIR/lessons, DIR/.made   see lessons.py

Nothing is run. The folder may be moved afterwards: it holds no path.
"""

import os
import secrets
import shutil
import tempfile
from pathlib import Path

from autograder.build.lesson import Lesson
from autograder.build.notebooks import teacher_notebook
from autograder.errors import UserError
from autograder.exercises.own import use_course
from autograder.grading.course.lessons import add_lesson, choose_lessons, copy_own
from autograder.grading.course.news import remember
from autograder.grading.gradebook.fail_closed import GUARD, GUARD_TEXT
from autograder.grading.gradebook.open_course import SETTINGS, open_course, quiet

CONFIG = '''"""Settings of this nbgrader course. They are found when nbgrader runs in this folder."""

import os

from autograder.grading.course.settings import configure

c = get_config()  # noqa: F821
configure(c, os.path.dirname(os.path.abspath(__file__)))

# What is set below wins, for instance:
# c.LateSubmissionPlugin.penalty_method = "zero"  # late work has no points
# c.Course.timezone = "Europe/Berlin"  # the time zone of your school
'''


def make_course(folder: Path | str, only: list[str] | None = None, further: Path | None = None) -> Path:
    """Makes the course in `folder`, which is new or empty, and prints what to do next. `only` are its lessons, by
    number or name, all if None; `further` is the folder of an instructor's own lessons, which are added.

    Raises UserError if the folder cannot be used or there is no such lesson; then nothing is left behind.
    """
    folder = Path(folder).absolute()
    chosen = choose_lessons(only)
    half = _half_made(folder)
    try:
        lessons = _fill(half, chosen, further.absolute() if further else None)
        # subtle: not for others, who may use the same machine: it holds answers, and will hold grades.
        if folder.exists():  # it is filled, because somebody may stand in it
            folder.chmod(0o700)
            for entry in half.iterdir():
                entry.rename(folder / entry.name)
        else:
            half.rename(folder)
    except OSError as error:
        raise UserError(f"no course can be made in {folder}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(half, ignore_errors=True)
    use_course(folder)
    print(f"The course is in {folder}: {', '.join(lessons)}.")
    print("Students get what is in release/. Put what they hand in under submitted/STUDENT/LESSON/, then run")
    print(f"  python -m autograder grade {folder}")
    return folder


def _half_made(folder: Path) -> Path:
    """A new folder beside `folder`, to be renamed when it is complete."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not an empty folder; name a new one.")
    if not folder.parent.is_dir():
        raise UserError(f"there is no folder {folder.parent} to make the course in.")
    try:
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UserError(f"{folder.parent} cannot be written to: {error.strerror}.") from None


def _fill(folder: Path, lessons: list[Lesson], further: Path | None) -> list[str]:
    (folder / SETTINGS).write_text(CONFIG, encoding="utf-8")
    (folder / GUARD).write_text(GUARD_TEXT, encoding="utf-8")
    secret = os.open(folder / ".secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(secret, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    (folder / "submitted").mkdir()
    remember(folder)
    lessons = lessons + (copy_own(further, folder) if further else [])
    api = open_course(folder)
    with quiet(folder / "grading.log"):
        for lesson in lessons:
            made = teacher_notebook(lesson)
            add_lesson(api, folder, lesson, made, made)
    (folder / "grading.log").unlink(missing_ok=True)
    return [lesson.name for lesson in lessons]
