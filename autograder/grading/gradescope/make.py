"""Writes autograder.zip, which contains everything that Gradescope needs to grade one lesson of a course."""

import re
import shutil
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.build.lesson import find_lessons
from autograder.errors import PACKAGE, UserError
from autograder.files import zip_folder
from autograder.grading.course.make import make_course
from autograder.grading.gradebook.open_course import lessons_of, open_course, read_secret
from autograder.requirements import declared

CONTAINER = Path(__file__).parent / "container"
PROGRAMS = ("run_autograder", "setup.sh")
NOT_NEEDED = ("__pycache__", "*.pyc", "lab", "bundle", "demo")


def make_archive(lesson: str, course: Path, file: Path, torch_index: str | None = None) -> Path:
    """Write the zip file, and return its path. The archive contains the lesson, as it is in the course, and
    the secret from which its hidden cases are drawn, but nothing about students. `torch_index` is an
    additional package index, from which pip takes PyTorch without the libraries for GPUs.

    Raises UserError if there is no such course or lesson, if the course's secret cannot be read, if
    `torch_index` is not an address, or if `file` exists or cannot be written.
    """
    course, file = course.absolute(), file.absolute()
    lessons_of(open_course(course), lesson)
    read_secret(course)  # a damaged one must not be handed on
    if file.exists():
        raise UserError(f"{file} exists; choose another file name, or remove the file first.")
    with TemporaryDirectory() as place:
        top = Path(place, "source")
        shutil.copytree(PACKAGE, top / "autograder", ignore=shutil.ignore_patterns(*NOT_NEEDED))
        only = [lesson] if lesson in {one.name for one in find_lessons(None)} else []
        make_course(top / "course", only, like=course, quietly=True)
        shutil.copy(course / ".secret", top / "course" / ".secret")
        (top / "lesson.txt").write_text(lesson + "\n", encoding="utf-8")
        (top / "requirements.txt").write_text("\n".join(_pins()) + "\n", encoding="utf-8")
        for name in PROGRAMS:
            text = (CONTAINER / name).read_text(encoding="utf-8")
            options = f"--extra-index-url {_checked(torch_index)} " if torch_index else ""
            (top / name).write_text(text.replace("@OPTIONS@ ", options), encoding="utf-8")
        try:
            zip_folder(top, file, programs=PROGRAMS)
            file.chmod(0o600)
        except OSError as error:
            raise UserError(f"{file} cannot be written: {error.strerror or error}.") from None
    print(f"{file}: {lesson} for Gradescope, {file.stat().st_size / 1e6:.1f} MB.")
    print(
        "It holds the answers and the secret of the course: upload it as the autograder, and give it to no one else."
    )
    return file


def _checked(index: str) -> str:
    if not re.fullmatch(r"https?://[\w./:-]+", index):
        raise UserError(f"{index!r} is not the address of a package index.")
    return index


def _pins() -> list[str]:
    """Return requirements that pin each package for grading to its version in this environment."""
    pins = []
    for name in declared("teach"):
        with suppress(PackageNotFoundError):  # a package for another operating system
            pins.append(f"{name}=={version(name).partition('+')[0]}")
    return sorted(pins)
