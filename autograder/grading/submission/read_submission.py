"""Reads the notebook of a submission: the text and kind of each cell, and pictures pasted into answers.

For some notebooks even this is slow or takes much memory, so call these functions in a process with limits
(limited.py).
"""

import json
import os
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict

from autograder.grading.safe.pictures import Room
from autograder.grading.submission.files import NOTEBOOKS, Refused, read_file, why_refused
from autograder.untrusted import without_surrogates

MOST_CONTAINERS = 3_000_000  # lists and dicts: an empty list is two bytes in the file, a hundred in memory
MOST_CELLS = 5_000
MOST_TEXT = 1_000_000  # characters in all cells; a finished lesson has about 60,000
MOST_LINES = 20_000  # of code, counting semicolons as line ends; a finished lesson has about a thousand
MOST_PICTURES = 5_000_000  # characters of pictures pasted into written answers
PICTURES = ("image/png", "image/jpeg", "image/gif")
LONGEST_ID = 200
MOST_NAMED = 3  # files, if the notebook is not among them
KINDS = ("code", "markdown", "raw", "heading", "html")
DAMAGED = "the notebook cannot be read (damaged, or not a notebook)"
CONFLICT = "the notebook contains the conflict markers of an unfinished merge (<<<<<<<, >>>>>>>)"
NOT_UTF_8 = "the notebook is not saved as UTF-8 text"


def read_submission(folder: Path, lesson: str) -> NotebookNode:
    """Return the notebook of a submission. Other files are never used.

    Raises Refused if `why_refused` refuses the folder, or if the notebook is missing or cannot be read.
    """
    if why := why_refused(folder):
        raise Refused(why)
    path, names = notebook_in(folder, lesson), _names_in(folder)
    if names and path.name not in names:
        some = [without_surrogates(name[:LONGEST_ID]) for name in names[:MOST_NAMED]]
        more = ", ..." if len(names) > MOST_NAMED else ""
        raise Refused(f"there is no file {path.name}; the folder holds {', '.join(some)}{more}")
    return read_notebook(path)


def notebook_in(folder: Path, lesson: str) -> Path:
    """Return the path of a submission's notebook. It is the file with the lesson's name. If that does not
    exist and the folder contains exactly one notebook, it is that notebook.
    """
    named = folder / f"{lesson}.ipynb"
    names = [] if os.path.lexists(named) else _names_in(folder)
    others = [folder / name for name in names if name.lower().endswith(NOTEBOOKS)]
    return others[0] if len(others) == 1 else named


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:  # reading the notebook will say why
        return []


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook file, and return a new notebook with its cells. Raises Refused if the file is missing,
    damaged or too large.
    """
    data = read_file(path)
    if not data.strip():
        raise Refused("the notebook is an empty file")
    if data.count(b"[") + data.count(b"{") > MOST_CONTAINERS:
        raise Refused("the notebook holds too many lists and objects")
    try:
        cells = _plain_cells(_cells_of(json.loads(data.decode("utf-8-sig"))))
    except UnicodeDecodeError:
        raise Refused(NOT_UTF_8) from None
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise Refused(CONFLICT if _holds_merge_marks(data) else DAMAGED) from None
    return from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def grade_id_of(cell: dict) -> str | None:
    """Return the grade id by which nbgrader knows a cell, or None if it has none."""
    metadata = cell.get("metadata")
    metadata = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = metadata.get("grade_id") if isinstance(metadata, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def _cells_of(content: dict) -> list[dict]:
    """Return the cells of a notebook in nbformat 4, 3 or 2. Cells that no notebook program writes are left
    out: cells of an unknown type, and cells whose text is missing altogether.
    """
    version = content["nbformat"]
    if type(version) is not int or version not in (2, 3, 4):
        raise ValueError("there is no such version of notebooks")
    cells = (
        content["cells"] if version == 4 else [c for sheet in content["worksheets"] for c in sheet["cells"]]
    )
    if not isinstance(cells, list):
        raise TypeError("the cells are not a list")
    known = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") in KINDS]
    texts = [cell.get("source", cell.get("input")) for cell in known]
    return [
        cell | {"source": _joined(text)} for cell, text in zip(known, texts) if isinstance(text, (str, list))
    ]


def _plain_cells(cells: list[dict]) -> list[dict]:
    """Return the cells that have text or a grade id, reduced to type, text, grade id or id, and pasted
    pictures. Raises Refused if they contain too much.
    """
    plain_cells: list[dict] = []
    pictures, room = MOST_PICTURES, Room()
    if sum(len(cell["source"]) for cell in cells) > MOST_TEXT:
        raise Refused(f"the notebook holds more than {MOST_TEXT:,} characters of text")
    # subtle: Python's parser is far slower with many short statements than with as much text in long ones.
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    if sum(text.count("\n") + text.count(";") for text in code) > MOST_LINES:
        raise Refused(f"the notebook holds more than {MOST_LINES:,} lines of code")
    for cell in cells:
        plain = _plain_cell(cell, f"cell-{len(plain_cells)}")
        if plain["cell_type"] == "markdown" and (pasted := _pasted(cell.get("attachments"), pictures, room)):
            plain["attachments"] = pasted
            pictures -= _size(pasted)
        if cell["source"] or "nbgrader" in plain["metadata"]:
            plain_cells.append(plain)
    if len(plain_cells) > MOST_CELLS:
        raise Refused(f"the notebook has more than {MOST_CELLS:,} cells")
    return plain_cells


def _plain_cell(cell: dict, name: str) -> dict:
    kind, source = cell["cell_type"], without_surrogates(cell["source"])
    if kind == "heading":
        source = f"{'#' * min(6, max(1, int(cell.get('level', 1))))} {source}"
    kind = "markdown" if kind in ("heading", "html") else kind
    grade_id = grade_id_of(cell)
    metadata: dict = {"nbgrader": {"grade_id": grade_id}} if grade_id and len(grade_id) <= LONGEST_ID else {}
    if not metadata and isinstance(given_id := cell.get("id"), str) and len(given_id) <= LONGEST_ID:
        metadata = {"given_id": given_id}
    more: dict = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source} | more


def _holds_merge_marks(data: bytes) -> bool:
    lines = data.splitlines()
    begins = [line.startswith(b"<<<<<<< ") for line in lines]
    return any(begins) and any(line.startswith(b">>>>>>> ") for line in lines[begins.index(True) :])


def _joined(source: str | list) -> str:
    """Return the text of a cell, which may be stored as a list of lines. Raises TypeError if the lines are
    not text.
    """
    return "".join(source).replace("\r\n", "\n")


def _pasted(attachments: Any, most: int, room: Room) -> dict | None:
    """Return the pictures in an answer as {name: {kind: base64}}, or None if there are none or they are too
    large.
    """
    try:
        kept = {
            without_surrogates(name): {
                kind: data for kind, data in files.items() if kind in PICTURES and room.holds(data)
            }
            for name, files in attachments.items()
        }
    except (AttributeError, TypeError):
        return None
    kept = {name: kinds for name, kinds in kept.items() if kinds}
    return kept if kept and _size(kept) <= most else None


def _size(pasted: dict) -> int:
    return sum(len(name) + len(data) for name, kinds in pasted.items() for data in kinds.values())
