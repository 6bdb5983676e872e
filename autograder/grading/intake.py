"""A submission before it runs. Its files are read once, as what they are; its metadata becomes the course's own."""

import json
import os
import re
import stat
from pathlib import Path

import nbformat
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

MOST_BYTES = 50_000_000
MOST_CONTAINERS = 3_000_000  # lists and dicts: a list of nothing takes two bytes to write and a hundred to hold
TIMESTAMP = "timestamp.txt"
# JSON can spell half a character (a lone surrogate), which no file can hold; a question mark takes its place.
HALF_CHARACTER = re.compile(r"\\u[dD][89abABc-fC-F]")


class Refused(Exception):
    """The submission cannot be run. The text says why, in words for a table."""


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file, never through a link. Raises Refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        is_link = path.is_symlink()
        raise Refused(f"{path.name} is a link" if is_link else f"there is no file {path.name}") from None
    try:
        # subtle: fdopen raises where it is a folder, so what it is is asked before.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"there is no file {path.name}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Refused("the notebook is larger than 50 MB")
    return data


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in a file. Raises Refused where there is none, or it is damaged."""
    data = read_file(path)
    try:
        text = data.decode("utf-8")
        if not text.strip():
            raise Refused("the notebook is an empty file")
        if text.count("[") + text.count("{") > MOST_CONTAINERS:
            raise Refused("the notebook holds too many things")
        if HALF_CHARACTER.search(text):
            text = json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace").decode()
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook, relax_add_props=True)
        return notebook
    except Refused:
        raise
    except Exception:  # nbformat raises errors of many kinds, KeyError and AttributeError among them
        raise Refused("the notebook cannot be read (damaged, or not a notebook)") from None


def look_at(folder: Path, lesson: str) -> NotebookNode:
    """The notebook of a submission. Files beside it are never used.

    Raises Refused where the folder holds anything but regular files, or the notebook cannot be read."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_symlink():
            raise Refused(f"{path.name} is a link")
        if not (path.is_dir() or path.is_file()):
            raise Refused(f"{path.name} is no regular file")
    return read_notebook(folder / f"{lesson}.ipynb")


def refuse_or_go_on(assignment: str, student: str, notebooks: list[str]) -> None:
    """Called by nbgrader's autograde before it copies a submission (`pre_convert_hook`)."""
    look_at(Path("submitted", student, assignment), assignment)


class TrustTheCourse(NbGraderPreprocessor):
    """Takes all metadata from the gradebook and none from the student, so that no tag skips a check, no flag
    unlocks one and no points change. Graded cells that are missing are put back; the scores of an earlier run
    are reset, so that a run that fails leaves none of them standing.
    """

    def preprocess(self, nb, resources):
        place = resources["nbgrader"]
        with Gradebook(place["db_url"]) as gradebook:
            course_cells = cells_of_course(gradebook.find_notebook(place["notebook"], place["assignment"]))
            submission = gradebook.find_submission_notebook(
                place["notebook"], place["assignment"], place["student"]
            )
            for grade in submission.grades:
                grade.auto_score = None
            gradebook.db.commit()
        return trusted(nb, course_cells), resources


def trusted(nb, course_cells: dict[str, NotebookNode]) -> NotebookNode:
    """The student's cells with the course's metadata, each graded cell once, after the answer that it checks.

    What is not an answer has the course's text: a check that was edited is as it was given out.
    """
    nb.metadata = NotebookNode()
    last = {_grade_id(cell): number for number, cell in enumerate(nb.cells)}
    for number, cell in enumerate(nb.cells):
        name = _grade_id(cell)
        course_cell = course_cells.get(name) if last[name] == number else None
        cell.metadata = from_dict(course_cell.metadata) if course_cell else NotebookNode()
        if course_cell:
            _restore(cell, course_cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    _put_in_place(nb, course_cells)
    return nb


def _restore(cell, course_cell) -> None:
    """Kind and, unless it is an answer, text as the course gave them out."""
    grading = course_cell.metadata.nbgrader
    if cell.cell_type != course_cell.cell_type:
        cell.cell_type = course_cell.cell_type
        for name in ("outputs", "execution_count"):
            cell.pop(name, None)
    if not grading.solution:
        cell.source = course_cell.source


def _put_in_place(nb, course_cells) -> None:
    """Every check stands after its answer, and every graded cell is there."""
    there = {_grade_id(cell): number for number, cell in enumerate(nb.cells)}
    for name, course_cell in course_cells.items():
        if not course_cell.metadata.nbgrader.grade:
            continue
        answer = there.get(name.removeprefix("check-"), -1)
        if name in there and there[name] >= answer:
            continue
        cell = nb.cells.pop(there[name]) if name in there else from_dict(course_cell)
        names = [_grade_id(other) for other in nb.cells]
        answer_name = name.removeprefix("check-")
        after = names.index(answer_name) + 1 if answer_name in names else len(nb.cells)
        nb.cells.insert(after, cell)
        there = {_grade_id(cell): number for number, cell in enumerate(nb.cells)}


def cells_of_course(notebook) -> dict[str, NotebookNode]:
    """The cells that nbgrader knows, by grade id, as the gradebook has them."""
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    cells = {}
    for source in notebook.source_cells:
        make = new_code_cell if source.cell_type == "code" else new_markdown_cell
        metadata = {
            "schema_version": 3,
            "grade_id": source.name,
            "task": False,
            "cell_type": source.cell_type,
            "checksum": source.checksum,
            "locked": source.locked,
            "grade": source.name in points,
            "solution": source.name in solutions,
        }
        if source.name in points:
            metadata["points"] = points[source.name]
        cells[source.name] = make(source.source, metadata={"nbgrader": metadata})
    return cells


def _grade_id(cell) -> str | None:
    metadata = cell.metadata.get("nbgrader") if isinstance(cell.metadata, dict) else None
    grade_id = metadata.get("grade_id") if isinstance(metadata, dict) else None
    return grade_id if isinstance(grade_id, str) else None
