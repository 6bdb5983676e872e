"""Decides whether a notebook is out of date, and whether its lesson must be run again.

An executed notebook consists of its lesson's cells, which are compared byte by byte, and of outputs. Outputs
stay valid until a code cell, or code that the cells call, changes. `built.json`, in the same folder, holds
two digests for each notebook: one of the code that a run depends on, and one of the outputs as `build` wrote
them, by which later edits are detected. Only running the lesson proves that it still prints these outputs
(build.outputs decides which outputs count as the same).
"""

import hashlib
import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.build.execute import timing_output
from autograder.build.lesson import Lesson, read_cells
from autograder.build.notebooks import as_text, reading_notebook
from autograder.dependencies import EXERCISES, closure, code, digest, imported, of_package
from autograder.exercises import exercises_of
from autograder.files import write_whole

KEY = "attention_by_hand"


def with_stored_outputs(lesson: Lesson) -> NotebookNode | None:
    """Return the lesson's notebook with the stored outputs, or None if these are missing, belong to different
    code or were edited.
    """
    stored, fresh = stored_notebook(lesson), reading_notebook(lesson)
    if stored is None or is_edited(lesson) or _code_cells(stored) != _code_cells(fresh):
        return None
    outputs = iter(cell.get("outputs", []) for cell in stored.cells if cell.cell_type == "code")
    count = 0
    for cell, new in zip(read_cells(lesson), fresh.cells, strict=True):
        if cell.is_code:
            kept = next(outputs)
            new.outputs = timing_output(lesson, cell) if cell.kind == "timing" else kept
            count += bool(new.source.strip())
            new.execution_count = count if new.source.strip() else None
    return fresh


def stored_notebook(lesson: Lesson) -> NotebookNode | None:
    """Return the executed notebook as it is stored; None if it is missing or damaged."""
    try:
        return nbformat.reads(lesson.executed.read_text(encoding="utf-8"), as_version=4)
    except (FileNotFoundError, ValueError, nbformat.reader.NotJSONError):
        return None


def is_run(lesson: Lesson) -> bool:
    """Return whether the stored outputs were made by the current code of the lesson and of everything that it
    calls.
    """
    return _record(lesson).get("code") == _digest(lesson)


def is_edited(lesson: Lesson) -> bool:
    """Return whether the stored outputs differ from those that `build` wrote."""
    stored = stored_notebook(lesson)
    return stored is not None and _record(lesson).get("outputs") != outputs_digest(stored)


def record(lesson: Lesson, notebook: NotebookNode, was_run: bool) -> None:
    """Record in built.json a digest of the executed notebook's outputs and, if the lesson was run to make
    them, a digest of its code.
    """
    entry = _record(lesson) | {"outputs": outputs_digest(notebook)}
    if was_run:
        entry["code"] = _digest(lesson)
    if entry != _record(lesson):
        entries = _records(lesson) | {lesson.name: entry}
        write_whole(_file(lesson), json.dumps(entries, indent=1, sort_keys=True) + "\n")


def outputs_digest(notebook: NotebookNode) -> str:
    """Return a hex digest of the outputs of a notebook's cells, in every format that they can be shown in."""
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps(outputs, sort_keys=True).encode()).hexdigest()


def sign_text(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with a digest of its text in its metadata."""
    notebook.metadata[KEY] = {"text": hashlib.sha256(as_text(notebook).encode()).hexdigest()}
    return notebook


def is_changed_by_hand(path: Path) -> bool:
    """Return whether the file exists and differs from the text that `sign_text` signed."""
    if not path.exists():
        return False
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        signed = notebook.metadata.pop(KEY)["text"]
        return hashlib.sha256(as_text(notebook).encode()).hexdigest() != signed
    except (ValueError, KeyError, TypeError, nbformat.ValidationError, nbformat.reader.NotJSONError):
        return True


def _code_cells(notebook: NotebookNode) -> list[tuple[str, str]]:
    return [(cell.id, cell.source) for cell in notebook.cells if cell.cell_type == "code"]


def _digest(lesson: Lesson) -> str:
    """Return a hex digest of the code that the lesson's outputs depend on."""
    total, roots = hashlib.sha256(), {f"{EXERCISES}.{one.id}" for one in exercises_of(lesson.name)}
    for cell in read_cells(lesson):
        if cell.is_code:
            try:
                total.update(code(cell.text))
                roots |= of_package(imported(cell.text))
            except SyntaxError:  # an IPython command
                total.update(cell.text.encode())
    total.update(digest(closure(roots), code_only=True).encode())
    return total.hexdigest()


def _file(lesson: Lesson) -> Path:
    return lesson.executed.with_name("built.json")


def _record(lesson: Lesson) -> dict[str, str]:
    entry = _records(lesson).get(lesson.name)
    return entry if isinstance(entry, dict) else {}


def _records(lesson: Lesson) -> dict[str, dict[str, str]]:
    try:
        return json.loads(_file(lesson).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
