"""Makes the student bundle: puts its contents together and writes the zip.

The zip contains the notebooks and exercises that contents.py selects. Of everything else, it contains only
what the notebooks need (needed.py).
"""

import json
import shutil
import signal
import tempfile
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from autograder.build.lesson import ROOT
from autograder.bundle.contents import Contents, contents_of
from autograder.bundle.needed import files_of, modules_for, packages_for
from autograder.bundle.recording import handled_by, record
from autograder.errors import UserError
from autograder.files import zip_folder
from autograder.requirements import COURSE

PACKAGE = Path(__file__).resolve().parents[1]
STUDENTS = (
    "+students"  # suffix of the version; it shows in pip which of the two packages of this name is installed
)


def bundle(file: Path, progress: bool = True, course: Path | None = None) -> Path:
    """Write the zip, print a summary of it, and return its path. This takes a few minutes, because every
    known mistake is run once; records of an earlier bundle are reused if nothing that they depend on has
    changed. The zip holds all lessons of the repository or, if `course` is the folder of a course, the
    lessons that the course has released.

    Raises UserError if the file exists or cannot be written, if `course` is not a course, or if one of its
    lessons is not released.
    """
    file = Path(file).absolute()
    contents = contents_of(course)
    if file.exists():
        raise UserError(f"{file} exists; choose another file name, or remove the file first.")
    if not file.parent.is_dir():
        raise UserError(f"there is no folder {file.parent} to write the bundle into.")
    try:
        with handled_by(_leave, signal.SIGTERM), tempfile.TemporaryDirectory() as folder:
            lessons = fill(Path(folder), progress, contents)
            zip_folder(Path(folder), file, top=COURSE)
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror or error}.") from None
    print(f"{file}: {len(lessons)} lessons, {file.stat().st_size / 1e6:.1f} MB, no answers in it.")
    print("Students unpack it; its README gives the three lines to begin with, for every system.")
    return file


def _leave(number: int, frame: FrameType | None) -> None:
    """Raise SystemExit, so that temporary files are removed, as after Ctrl-C."""
    raise SystemExit(128 + number)


def fill(folder: Path, progress: bool = True, contents: Contents | None = None) -> list[str]:
    """Put the contents of the zip into a folder, and return the names of the lessons."""
    contents = contents or contents_of(None)
    (folder / "notebooks").mkdir()
    for name, text in contents.notebooks.items():
        (folder / "notebooks" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    texts = list(contents.notebooks.values())
    modules = modules_for(texts)
    _copy_code(folder, modules)
    _write_texts(folder, packages_for(texts, modules))
    record(folder / "autograder/exercises/recorded", contents.exercises, progress)
    return list(contents.notebooks)


def _copy_code(folder: Path, modules: Collection[str]) -> None:
    for file in files_of(modules):
        target = folder / file.relative_to(PACKAGE.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _write_texts(folder: Path, packages: list[str]) -> None:
    """Write the licence, the README, the Makefile and the files that pip needs."""
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    known = {
        "VERSION": version(COURSE).partition("+")[0] + STUDENTS,
        "DEPENDENCIES": "\n".join(f"    {json.dumps(package)}," for package in packages),
    }
    for template in (PACKAGE / "bundle/student").iterdir():
        text = template.read_text(encoding="utf-8")
        for name, value in known.items():
            text = text.replace(f"@{name}@", value)
        (folder / template.name.removesuffix(".in")).write_text(text, encoding="utf-8")
