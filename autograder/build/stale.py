"""Whether an executed notebook is out of date, without running it.

The notebook stores a digest of all that its outputs depend on: the lesson's source, the pictures it shows,
and the parts of this package that the lesson calls. Everything else in it is compared byte for byte.
"""

import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.build.lesson import Lesson, read_cells
from autograder.build.notebooks import as_text, reading_notebook
from autograder.build.pictures import pictures_of
from autograder.exercises import all_exercises, exercises_of
from autograder.exercises.own import folders

PACKAGE = Path(__file__).resolve().parents[1]
CALLED_BY_LESSONS = (
    *("__init__.py", "errors.py", "faults.py", "isolation.py", "verdict.py"),
    *("exercises", "graph", "judge", "notebook", "probe", "schema", "values"),
)
KEY = "attention_by_hand"


def digest(lesson: Lesson) -> str:
    """Hex digest of everything that the outputs of the lesson depend on."""
    total = hashlib.sha256()
    for path in [lesson.source, *_pictures(lesson), *called_by(lesson)]:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        total.update(f"{path.parent.name}/{path.name} {len(content)}\n".encode() + content)
    return total.hexdigest()


def sign(lesson: Lesson, notebook: NotebookNode) -> None:
    """Stores the digest in the notebook."""
    notebook.metadata[KEY] = {"digest": digest(lesson)}


def is_current(lesson: Lesson) -> bool:
    """Whether the executed notebook is what `build` would make, as far as can be told without running it."""
    try:
        stored_text = lesson.executed.read_text(encoding="utf-8")
        stored = nbformat.reads(stored_text, as_version=4)
    except (FileNotFoundError, ValueError, nbformat.reader.NotJSONError):
        return False
    fresh = reading_notebook(lesson)
    sign(lesson, fresh)
    if len(stored.cells) != len(fresh.cells):
        return False
    count = 0
    for old, new in zip(stored.cells, fresh.cells):
        if new.cell_type == "code":
            count += bool(new.source.strip())
            new.execution_count = count if new.source.strip() else None
            new.outputs = old.get("outputs", [])
    return as_text(fresh) == stored_text


def sign_text(notebook: NotebookNode) -> NotebookNode:
    """The notebook with a digest of its own text in it."""
    notebook.metadata[KEY] = {"text": hashlib.sha256(as_text(notebook).encode()).hexdigest()}
    return notebook


def is_changed_by_hand(path: Path) -> bool:
    """Whether the file is there and is not, to the letter, what `sign_text` signed."""
    if not path.exists():
        return False
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        signed = notebook.metadata.pop(KEY)["text"]
        return hashlib.sha256(as_text(notebook).encode()).hexdigest() != signed
    except (ValueError, KeyError, TypeError, nbformat.ValidationError, nbformat.reader.NotJSONError):
        return True


def _pictures(lesson: Lesson) -> list[Path]:
    cells = read_cells(lesson)
    names = {name for cell in cells if not cell.is_code for name in pictures_of(cell.text)}
    names |= {cell.name for cell in cells if cell.kind == "timing"}
    return [lesson.images / f"{name}.png" for name in sorted(names)]


def called_by(lesson: Lesson) -> list[Path]:
    """The files of the package without the exercises and the figures of other lessons."""
    own = {exercise.topic for exercise in exercises_of(lesson.name)}
    others = {exercise.topic for exercise in all_exercises()} - own
    apart = {PACKAGE / "exercises" / topic for topic in others}
    apart |= {PACKAGE / "notebook" / "lessons" / f"{topic}.py" for topic in others}
    topics = [path for folder in folders() for name in own for path in (folder / name).glob("*.py")]
    return [path for path in package_files() if not apart & {path, path.parent}] + sorted(topics)


def package_files(parts: tuple[str, ...] = CALLED_BY_LESSONS) -> list[Path]:
    """The files of these parts of the package; by default those that a lesson calls: what a check says depends on
    them."""
    files = []
    for name in parts:
        place = PACKAGE / name
        found = place.rglob("*") if place.is_dir() else [place]
        files += sorted(path for path in found if path.is_file() and path.parent.name != "__pycache__")
    return files
