"""Makes a standard nbgrader course from the lessons.

    DIR/nbgrader_config.py   calls `configure` in settings.py
    DIR/nbgrader_config.json stops nbgrader if nbgrader_config.py has an error
    DIR/.secret              the secret from which hidden cases are drawn; only the teacher can read it
    DIR/source/LESSON        the lesson with answers and hidden tests
    DIR/release/LESSON       the lesson as students get it
    DIR/gradebook.db         nbgrader's gradebook
    DIR/lessons, DIR/.made   see lessons.py

No lesson is run. The folder may be moved afterwards: its files do not contain its path.
"""

import os
import re
import secrets
import shutil
import tempfile
from pathlib import Path

from autograder.build.lesson import Lesson, find_lessons
from autograder.build.notebooks import teacher_notebook
from autograder.errors import UserError
from autograder.exercises import own
from autograder.exercises.own import use_course
from autograder.grading.course.lessons import (
    MADE,
    add_lesson,
    choose_lessons,
    copy_own,
    own_lessons,
    read_notebook,
    source_of,
)
from autograder.grading.course.merge import merged
from autograder.grading.course.news import remember
from autograder.grading.gradebook.fail_closed import GUARD, GUARD_TEXT
from autograder.grading.gradebook.open_course import SETTINGS, lessons_of, open_course, quiet

CONFIG = '''"""Settings of this nbgrader course. They are found when nbgrader runs in this folder."""

import os

from autograder.grading.course.settings import configure

c = get_config()  # noqa: F821
configure(c, os.path.dirname(os.path.abspath(__file__)))
# nbgrader's exchange identifies the course by this id: two courses on one hub need different ids.
c.CourseDirectory.course_id = "{id}"

# Settings below override those above, for instance:
# c.LateSubmissionPlugin.penalty_method = "zero"  # late work has no points
# c.Course.timezone = "Europe/Berlin"  # the time zone of your school
'''


def make_course(
    folder: Path | str,
    only: list[str] | None = None,
    further: Path | None = None,
    course_id: str | None = None,
    like: Path | None = None,
    quietly: bool = False,
) -> Path:
    """Make a course in `folder`, which must be new or empty, and return its path. Unless `quietly`, print
    what to do next.

    `only` selects lessons by number or name (None: all). `further` is a folder with the instructor's own
    lessons, which are added. `course_id` identifies the course in an nbgrader exchange; by default it is the
    folder's name and four random characters. If `like` is the folder of another course, the new course gets
    the lessons of that course, with the instructor's changes, but none of its students.

    Raises UserError if the folder cannot be used or there is no such lesson; then nothing is left behind.
    """
    folder = Path(folder).absolute()
    if like is not None:
        like = like.absolute()
        there = lessons_of(open_course(like))
        only = (
            [lesson.name for lesson in choose_lessons(None) if lesson.name in there] if only is None else only
        )
        further = like / own.COPY if further is None and own.is_own(like / own.COPY) else further
    chosen = choose_lessons(only)
    course_id = _checked_id(course_id) if course_id is not None else _new_id(folder.name)
    half = _half_made(folder)
    try:
        (half / SETTINGS).write_text(CONFIG.replace("{id}", course_id), encoding="utf-8")
        lessons = _fill(half, chosen, further.absolute() if further else None)
        if like is not None:
            _take_changes_along(like, half, lessons)
        # subtle: the folder is closed to other users of the machine: it holds answers, and will hold grades.
        if folder.exists():  # filled rather than replaced, because it may be a shell's working directory
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
    if quietly:
        return folder
    print(f"The course is in {folder}: {', '.join(lessons)}.")
    print(f"Its id in an nbgrader exchange is {course_id}.")
    print("Students get what is in release/. Put what they hand in under submitted/STUDENT/LESSON/, then run")
    print(f"  python -m autograder grade {folder}")
    return folder


def _checked_id(course_id: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", course_id, re.ASCII):
        raise UserError(
            f"{course_id!r} cannot be the id of a course. An id holds letters, digits and . _ -, and begins with a "
            "letter or a digit."
        )
    return course_id


def _new_id(name: str) -> str:
    """Return a unique course id that people recognise: the folder's name and four random characters."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip(".-_") or "course"
    return f"{plain}-{secrets.token_hex(2)}"


def _take_changes_along(like: Path, folder: Path, lessons: list[str]) -> None:
    """Copy into the new course in `folder` the changes that the instructor made to the lessons of the course
    `like`.
    """
    api = open_course(folder)
    with quiet(folder / "grading.log"):
        for lesson in find_lessons(None) + own_lessons(folder):
            made, mine = like / MADE / f"{lesson.name}.ipynb", source_of(like, lesson)
            if lesson.name in lessons and made.exists() and mine.exists():
                new = teacher_notebook(lesson)
                source, _ = merged(read_notebook(made), read_notebook(mine), new)
                add_lesson(api, folder, lesson, new, source)
    (folder / "grading.log").unlink(missing_ok=True)


def _half_made(folder: Path) -> Path:
    """Make a new folder next to `folder`, and return it. When the course is complete, the new folder is
    renamed to `folder` or, if that exists, its contents are moved there. Raises UserError if `folder` cannot
    be used.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists and is not an empty folder; choose a new one.")
    if not folder.parent.is_dir():
        raise UserError(f"there is no folder {folder.parent} to make the course in.")
    try:
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UserError(f"{folder.parent} cannot be written to: {error.strerror}.") from None


def _fill(folder: Path, lessons: list[Lesson], further: Path | None) -> list[str]:
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
