"""Makes a standard nbgrader course from the lessons.

    DIR/nbgrader_config.py   calls configure of settings.py
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

from autograder.errors import UserError
from autograder.grading.gradebook.open_course import open_course, quiet

CONFIG = '''"""Settings of this nbgrader course. They are found when nbgrader runs in this folder."""

import os

from autograder.grading.course.settings import configure

configure(get_config(), os.path.dirname(os.path.abspath(__file__)))  # noqa: F821

# What is set below wins, for instance:
# c = get_config()
# c.Execute.timeout = 120
'''


def make_course(folder: Path | str) -> Path:
    """Makes the course in `folder`, which is new or empty, and prints what to do next.

    Raises UserError if the folder cannot be used; then nothing is left behind.
    """
    folder = Path(folder).absolute()
    half = _half_made(folder)
    try:
        lessons = _fill(half)
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


def _fill(folder: Path) -> list[str]:
    from autograder.build import find_lessons
    from autograder.build.notebooks import as_text, teacher_notebook

    (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    secret = os.open(folder / ".secret", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(secret, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(32) + "\n")
    (folder / "submitted").mkdir()
    api = open_course(folder)
    lessons = find_lessons(None)
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
