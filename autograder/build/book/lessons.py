"""A lesson as a notebook for readers.

Text and code come from the lesson's source; outputs come from the executed notebook. An exercise is shown as
its stub, its hints, and a folded cell with the answer and the check. The model answer and the marking scheme
of a written question are folded. Long code is folded, but its output is not.
"""

import ast

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.build.book.card import exercise_card, hints, run_it_yourself, written_question
from autograder.build.book.outputs import has_columns, said_by_check, shown, with_pictures
from autograder.build.lesson import Cell, Lesson, read_cells
from autograder.build.notebooks import KERNEL, as_text, student_notebook
from autograder.build.repository import with_address
from autograder.exercises import find
from autograder.marks import HIDDEN_TESTS, replace_marks, without_regions

LONG = 15  # lines; longer code is folded, so that the text reads on
LIVE_ONLY = "progress()"  # shows the learner's own progress; a reader of the book has none


def lesson_text(lesson: Lesson, repository: str, branch: str) -> str:
    """Return the text of the lesson's notebook for readers."""
    reader = _Reader(lesson, repository)
    cells = [made for cell in reader.cells for made in reader.shown(cell)]
    title, _, rest = cells[0].source.partition("\n")
    cells[0].source = f"{title}\n\n{run_it_yourself(lesson, repository, branch)}\n{rest}"
    for number, cell in enumerate(cells):
        cell["id"] = f"book-{number:03d}"
    notebook = new_notebook(cells=cells, metadata=KERNEL)
    notebook.nbformat_minor = 5
    return as_text(notebook)


class _Reader:
    """Turns the cells of one lesson into the cells that the book shows."""

    def __init__(self, lesson: Lesson, repository: str):
        self.cells = read_cells(lesson)
        self.checks = {cell.name: cell for cell in self.cells if cell.kind == "check"}
        self.first_code = next((cell.id for cell in self.cells if cell.is_code), None)
        self.stubs = {cell.id: cell.source for cell in student_notebook(lesson).cells}
        self.outputs, self.images, self.repository = _stored_outputs(lesson), lesson.images, repository

    def shown(self, cell: Cell) -> list:
        """Return the cells that the book shows for a cell of the lesson: none, one or several."""
        if cell.kind == "exercise":
            return self._exercise(cell)
        if cell.kind == "check" or cell.text.strip() == LIVE_ONLY:
            return []
        if not cell.is_code:
            text = written_question(cell) if cell.kind == "written" else cell.text
            return [new_markdown_cell(with_pictures(text, self.images))]
        outputs, settings = shown(self.outputs.get(cell.id, []))
        if cell.id == self.first_code:
            settings = _folded("hide-input", "Show the set-up", "Hide the set-up")
        elif cell.is_code and len(cell.text.splitlines()) > LONG:
            settings = _merged(settings, _folded("hide-input", "Show the code", "Hide the code"))
        if has_columns(outputs):
            settings = {**settings, "tags": [*settings.get("tags", ()), "columns"]}
        made = [new_code_cell(with_address(cell.text, self.repository), metadata=settings, outputs=outputs)]
        return made + ([new_markdown_cell(_still(cell.text))] if cell.kind == "explore" else [])

    def _exercise(self, cell: Cell) -> list:
        exercise, check = find(cell.name), self.checks[cell.name]
        answer = replace_marks(cell.text, {}) + "\n\n\n" + without_regions(check.text, HIDDEN_TESTS)
        return [
            new_markdown_cell(exercise_card(exercise)),
            new_code_cell(self.stubs[cell.id]),
            new_markdown_cell(hints(exercise)),
            new_code_cell(
                answer,
                metadata=_folded("hide-cell", "Show the answer", "Hide the answer"),
                outputs=said_by_check(self.outputs.get(check.id, [])),
            ),
        ]


def _folded(tag: str, show: str, hide: str) -> dict:
    return {"tags": [tag], "mystnb": {"code_prompt_show": show, "code_prompt_hide": hide}}


def _merged(settings: dict, more: dict) -> dict:
    return {**settings, **more, "mystnb": settings.get("mystnb", {}) | more["mystnb"]}


def _stored_outputs(lesson: Lesson) -> dict:
    """Return the outputs of the executed notebook, keyed by cell id, or an empty dict if the lesson has not
    been executed yet.
    """
    if not lesson.executed.is_file():
        return {}
    notebook = nbformat.reads(lesson.executed.read_text(encoding="utf-8"), as_version=4)
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def _still(code: str) -> str:
    """Return the note below a still picture in the book. It names the values that a reader can change in the
    exercise notebook.
    """
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    call = next(call for call in calls if getattr(call.func, "id", "") == "explore")
    names = [f"*{word.arg.replace('_', ' ')}*" for word in call.keywords if word.arg]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    still = f"This is a still picture. In the exercise notebook you change {listed}, and the picture follows."
    return f"```{{note}}\n{still}\n```"
