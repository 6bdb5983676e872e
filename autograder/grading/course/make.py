"""Makes a standard nbgrader course from the lessons.

    DIR/nbgrader_config.py   calls configure of settings.py
    DIR/nbgrader_config.json stops nbgrader where that file has an error
    DIR/.secret              the secret that hidden cases are drawn from; only the teacher can read it
    DIR/source/LESSON        the lessons with answers and hidden tests
    DIR/release/LESSON       what students get
    DIR/gradebook.db         nbgrader's gradebook

Nothing is run. The folder may be moved afterwards: it holds no path.
"""

import os
import secrets
import shutil
import tempfile
from pathlib import Path

from autograder.build.lesson import Lesson, find_lessons
from autograder.errors import UserError
from autograder.grading.gradebook.fail_closed import GUARD, GUARD_TEXT
from autograder.grading.gradebook.open_course import SETTINGS, open_course, quiet

CONFIG = '''"""Settings of this nbgrader course. They are found when nbgrader runs in this folder."""

import os

from autograder.grading.course.settings import configure

c = get_config()  # noqa: F821
configure(c, os.path.dirname(os.path.abspath(__file__)))

# What is set below wins, for instance:
# c.LateSubmissionPlugin.penalty_method = "zero"  # late work has no points
'''


def make_course(folder: Path | str, only: list[str] | None = None) -> Path:
    """Makes the course in `folder`, which is new or empty, and prints what to do next. `only` are its lessons, by
    number or name; all if None.

    Raises UserError if the folder cannot be used or there is no such lesson; then nothing is left behind.
    """
    folder = Path(folder).absolute()
    chosen = choose_lessons(only)
    half = _half_made(folder)
    try:
        lessons = _fill(half, chosen)
        half.chmod(0o755)
        if folder.exists():  # it is filled, because somebody may stand in it
            for entry in half.iterdir():
                entry.rename(folder / entry.name)
        else:
            half.rename(folder)
    except OSError as error:
        raise UserError(f"no course can be made in {folder}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(half, ignore_errors=True)
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


def choose_lessons(only: list[str] | None) -> list[Lesson]:
    """The lessons of these numbers or names. Raises UserError if there is no such lesson."""
    known = find_lessons(None)
    if only is None:
        return known
    for one in only:
        if not any(one in (lesson.name, lesson.name[:2]) for lesson in known):
            names = ", ".join(lesson.name for lesson in known)
            raise UserError(f"there is no lesson {one!r}; the lessons are {names}.")
    return [lesson for lesson in known if lesson.name in only or lesson.name[:2] in only]


def _fill(folder: Path, lessons: list[Lesson]) -> list[str]:
    from autograder.build.notebooks import as_text, teacher_notebook

    (folder / SETTINGS).write_text(CONFIG, encoding="utf-8")
    (folder / GUARD).write_text(GUARD_TEXT, encoding="utf-8")
    secret = os.open(folder / ".secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(secret, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    (folder / "submitted").mkdir()
    api = open_course(folder)
    with quiet(folder / "grading.log"):
        for lesson in lessons:
            source = folder / "source" / lesson.name / f"{lesson.name}.ipynb"
            source.parent.mkdir(parents=True)
            source.write_text(as_text(teacher_notebook(lesson)), encoding="utf-8")
            result = api.generate_assignment(lesson.name)
            if not result["success"]:
                reason = result["error"].strip().split("\n")[-1]
                raise UserError(f"nbgrader refuses the lesson {lesson.name}: {reason}")
    (folder / "grading.log").unlink(missing_ok=True)
    return [lesson.name for lesson in lessons]
