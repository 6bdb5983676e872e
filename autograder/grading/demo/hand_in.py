"""Writes an invented student's notebook: the released notebook with answers typed into it."""

from pathlib import Path

import nbformat

from autograder.exercises import find
from autograder.grading.demo.sample_class import RIGHT, STUB, SampleSubmission
from autograder.marks import SOLUTION, find_regions, replace_marks
from autograder.schema.mistake import edited_source


def hand_in(folder: Path, work: SampleSubmission) -> Path:
    """Write the submission under DIR/submitted, and return its path."""
    path = folder / "submitted" / work.student / work.lesson / f"{work.lesson}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook_text(folder, work) if work.file is None else work.file, encoding="utf-8")
    return path


def notebook_text(folder: Path, work: SampleSubmission) -> str:
    """Return the released notebook with the student's answers typed into it."""
    name = f"{work.lesson}/{work.lesson}.ipynb"
    notebook = nbformat.read(folder / "release" / name, as_version=4)
    teacher = {cell.id: cell for cell in nbformat.read(folder / "source" / name, as_version=4).cells}
    kept = []
    for cell in notebook.cells:
        kind = cell.metadata.get("nbgrader", {})
        if kind.get("solution") and cell.cell_type == "code":
            exercise = kind.grade_id.replace("-", ".", 1)
            answer = work.answers.get(exercise, work.default)
            cell.source = _typed(teacher[cell.id].source, cell.source, exercise, answer)
        elif kind.get("solution") and work.written:
            cell.source = cell.source.replace("YOUR ANSWER HERE", work.written)
        if not (work.without_checks and kind.get("locked")):
            kept.append(cell)
    notebook.cells = kept
    return nbformat.writes(notebook)


def _typed(teacher: str, stub: str, exercise_id: str, answer: str) -> str:
    """Return the text of an answer cell. `answer` is STUB, RIGHT, the id of a known mistake, or the body of
    the answer.
    """
    if answer == STUB:
        return stub
    if answer == RIGHT:
        return replace_marks(teacher, {})
    exercise = find(exercise_id)
    if mistake := next((one for one in exercise.mistakes if one.id == answer), None):
        assert exercise.worked is not None, "mistakes are edits of it"
        return edited_source(exercise.worked, mistake.edits)
    first = next(region for region in find_regions(teacher) if region.kind == SOLUTION)
    lines = teacher.split("\n")
    mark = lines[first.first]
    indent = mark[: len(mark) - len(mark.lstrip())]
    lines[first.first : first.last + 1] = [indent + line for line in answer.split("\n")]
    return "\n".join(lines)
