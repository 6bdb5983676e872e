"""Makes the student bundle: its contents and the zip.

Only files that are named here, and the notebooks and exercises of contents.py, go into it.
"""

import os
import shutil
import signal
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from autograder.build.lesson import ROOT
from autograder.bundle.contents import Contents, contents_of
from autograder.bundle.recording import handled_by, record
from autograder.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
TOP = "attention-by-hand"
STUDENTS = "+students"  # after its version: pip, which knows two packages of one name, tells this one by it
# The files of the package that the tools of a notebook need; none that contains or makes an answer.
MODULES = (
    "__init__.py",
    "__main__.py",
    "doctor.py",
    "errors.py",
    "faults.py",
    "files.py",
    "imports.py",
    "isolation.py",
    "printable.py",
    "untrusted.py",
    "verdict.py",
    "cli/__init__.py",
    "cli/learn.py",
    "lab/settings/jupyter_server_config.json",
    "lab/settings/labconfig/default_setting_overrides.json",
    "lab/settings/labconfig/page_config.json",
    "exercises/__init__.py",
)
FOLDERS = (
    *("graph", "judge", "judge/findings", "judge/relations", "lab"),
    *("notebook", "notebook/experiment", "notebook/figures", "notebook/lessons"),
    *("probe", "schema", "values"),
)
# The packages that it imports, in the versions of this environment.
REQUIRED = (
    "graphviz",
    "ipykernel",
    "ipython",
    "ipywidgets",
    "jupyterlab",
    "matplotlib",
    "matplotlib-inline",
    "nbclient",
    "nbformat",
    "numpy",
    "pygraphviz",
    "safetensors",
    "torch",
    "torchview",
)


def bundle(file: Path, progress: bool = True, course: Path | None = None) -> Path:
    """Writes the zip and prints its contents. Takes some minutes: every known mistake is run once. What was recorded
    for an earlier bundle, and would come out the same, is taken from there. The lessons are all of the repository's, or
    those that the course in the folder `course` releases.

    Raises UserError if the file exists or cannot be written, or `course` is none.
    """
    file = Path(file).absolute()
    contents = contents_of(course)
    if file.exists():
        raise UserError(f"{file} exists; name a new file, or remove it first.")
    if not file.parent.is_dir():
        raise UserError(f"there is no folder {file.parent} to write the bundle into.")
    half = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with handled_by(_leave, signal.SIGTERM), tempfile.TemporaryDirectory() as folder:
            lessons = fill(Path(folder), progress, contents)
            _zip(Path(folder), half)
        half.rename(file)
    except OSError as error:
        raise UserError(f"{file} cannot be written: {error.strerror or error}.") from None
    finally:
        half.unlink(missing_ok=True)
    print(f"{file}: {len(lessons)} lessons, {file.stat().st_size / 1e6:.1f} MB, no answers in it.")
    print("Students unpack it; its README says in three lines how to begin, on every system.")
    return file


def _leave(number: int, frame: FrameType | None) -> None:
    """Ends the process as Ctrl-C does, so that temporary files are removed."""
    raise SystemExit(128 + number)


def fill(folder: Path, progress: bool = True, contents: Contents | None = None) -> list[str]:
    """Puts the contents of the zip into a folder; returns the lessons' names."""
    contents = contents or contents_of(None)
    (folder / "notebooks").mkdir()
    for name, text in contents.notebooks.items():
        (folder / "notebooks" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    _copy_code(folder)
    _write_texts(folder)
    record(folder / "autograder/exercises/recorded", contents.exercises, progress)
    return list(contents.notebooks)


def _copy_code(folder: Path) -> None:
    wanted = [
        *MODULES,
        *(f"{name}/{path.name}" for name in FOLDERS for path in (PACKAGE / name).glob("*.py")),
    ]
    for name in wanted:
        target = folder / "autograder" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PACKAGE / name, target)


def _write_texts(folder: Path) -> None:
    """Licence, README, Makefile and what pip needs."""
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    pins = [f"{name}=={version(name).partition('+')[0]}" for name in REQUIRED]
    known = {
        "VERSION": version("attention-by-hand").partition("+")[0] + STUDENTS,
        "DEPENDENCIES": "\n".join(f'    "{pin}",' for pin in pins),
    }
    for template in (PACKAGE / "bundle/student").iterdir():
        text = template.read_text(encoding="utf-8")
        for name, value in known.items():
            text = text.replace(f"@{name}@", value)
        (folder / template.name.removesuffix(".in")).write_text(text, encoding="utf-8")


def _zip(folder: Path, file: Path) -> None:
    """Zips the folder: the same files in the same order, with one date."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = zipfile.ZipInfo(f"{TOP}/{path.relative_to(folder).as_posix()}", (2025, 1, 1, 0, 0, 0))
            name.external_attr, name.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(name, path.read_bytes())
