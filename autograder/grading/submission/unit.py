"""Selects the cells of a submission that are run, in order, and the exercises that are checked.

The selection is called a unit. It is plain data, so that it can be sent to another machine. Its key shows
whether it was run before.

The course decides what is graded. A check cell is never run as code; it only marks where its exercise is
checked. A line that installs packages is neither run nor examined. A cell of the lesson that the student left
unchanged is run only if an answer, or another cell that runs, uses a name that it defines, because the
lesson's other experiments and figures do not change any grade.
"""

import hashlib
import json
import platform
import re
import symtable
from collections.abc import Iterator, Set
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path

from nbformat import NotebookNode

from autograder.dependencies import closure, digest, exercise_modules
from autograder.exercises import find, ids
from autograder.exercises.own import folders
from autograder.grading.submission.cell_code import LONGEST_READ, UNREADABLE, parsed, variables_in
from autograder.grading.submission.suspicious_code import SuspiciousNames, suspicious_names

NOT_PYTHON = (SyntaxError, *UNREADABLE)
CHECK = "check-"
WORD = re.compile(r"\w+")
# The code that grades: `grade`, nbgrader's own commands, the process in which an answer runs, and a module that the
# cells of some lessons import there.
GRADERS = (
    "autograder.grading.grade_new",
    "autograder.grading.gradebook.nbgrader_steps",
    "autograder.grading.worker.inside.server",
    "autograder.notebook.real_model.plain",
)
STAR = re.compile(r"import\s*(?:\(\s*)?\*")
# Lines that install packages. In the sandbox, which has no network, they would only wait; and IPython and the
# shell would run whatever such a line contains in braces, after $ or after a semicolon.
INSTALLS = re.compile(
    r"^([ \t]*)(?:%|![ \t]*)(?:\S+[ \t]+-m[ \t]+)?(?:pip3?|conda|mamba|uv)\b(?:[^\n]*\\\n)*[^\n]*",
    re.MULTILINE,
)
# Names through which code can reach any other name: if one is used, everything is run.
REFLECTION = {
    "globals",
    "locals",
    "vars",
    "eval",
    "exec",
    "get_ipython",
    "In",
    "Out",
    "_",
    "__",
    "_ih",
    "_oh",
}


@dataclass(frozen=True)
class Step:
    """One cell: code to run, or a check. If `kind` is "run", `text` is its code; if `kind` is "check", `text`
    is the id of the exercise that it checks. `needs` lists the names of the answers that the code uses,
    directly or through other cells. For a check, the name of the answer that it checks is one of them.
    """

    cell: int
    kind: str
    text: str
    needs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Unit:
    """One submission's steps, in the order of its cells, and the suspicious names in its own cells."""

    steps: list[Step]
    suspicion: SuspiciousNames

    def key(self, secret: str) -> str:
        """Return a hex digest of everything that the result depends on: the steps, the hidden cases, the
        autograder, and the versions of PyTorch and Python.
        """
        data = json.dumps([asdict(self), secret, environment()])
        return hashlib.sha256(data.encode()).hexdigest()


def unit_of(notebook: NotebookNode, lesson: NotebookNode) -> Unit:
    """Return the unit of a notebook whose metadata is the course's own. `lesson` is the lesson's source
    notebook.
    """
    known = {
        _without_installs(cell.source)
        for cell in lesson.cells
        if cell.cell_type == "code" and not _grading(cell)
    }
    exercises = {i: exercise_of(cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"}
    texts = {i: _without_installs(notebook.cells[i].source) for i, one in exercises.items() if one is None}
    own = {i: text for i, text in texts.items() if text not in known}
    run = _cells_to_run(texts, own)
    asked_for = {find(name).name for name in exercises.values() if name}
    steps = []
    for i, exercise in exercises.items():
        if exercise is not None:
            name = find(exercise).name
            steps.append(Step(i, "check", exercise, _needed({name}, texts, asked_for)))
        elif i in run:
            steps.append(Step(i, "run", texts[i], _needed(_uses(texts[i]), texts, asked_for)))
    from autograder.schema.exercise import Rules

    checked = [find(name) for name in exercises.values() if name]
    ruled = [one for one in checked if one.rules != Rules()]
    answers = {one.id: [own[i] for i in sorted(_cells_of_answer(one.name, own))] for one in ruled}
    asked = {text: [one for one in checked if one.name in (_defines(text) or ())] for text in own.values()}
    return Unit(steps, suspicious_names(list(own.values()), answers, sorted(known), asked))


def _without_installs(text: str) -> str:
    """Return a cell with `pass` in place of each line that installs packages, so that the other lines keep
    their numbers.
    """
    return INSTALLS.sub(lambda found: f"{found[1]}pass" + "\n" * found[0].count("\n"), text)


def exercise_of(cell: NotebookNode) -> str | None:
    """Return the id of the exercise that a cell checks, or None if it is not one of our check cells."""
    grading = _grading(cell)
    name = grading.get("grade_id", "")
    if not (grading.get("grade") and grading.get("locked") and name.startswith(CHECK)):
        return None
    exercise_id = name.removeprefix(CHECK).replace("-", ".", 1)
    return exercise_id if exercise_id in ids() else None


def environment() -> list[str]:
    """Return the versions on which a result depends: a digest of the code for grading and all exercises, and
    the versions of PyTorch and Python.
    """
    return _environment(folders())


@cache
def _environment(own: tuple[Path, ...]) -> list[str]:
    # All exercises, because each may use the messages about another's mistakes.
    return [digest(closure(GRADERS) | exercise_modules()), version("torch"), platform.python_version()]


def _grading(cell: NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def _cells_to_run(texts: dict[int, str], own: dict[int, str]) -> set[int]:
    """Return the numbers of the student's own cells and of the lesson's cells that these need. If a name in
    REFLECTION is used, return the numbers of all cells.
    """
    wanted = set().union(*map(_uses, own.values()))
    if wanted & REFLECTION:
        return set(texts)
    return own.keys() | _cells_behind(wanted, {i: text for i, text in texts.items() if i not in own})


def _needed(wanted: Set[str], texts: dict[int, str], names: set[str]) -> list[str]:
    """Return the members of `names` that are in `wanted`, or that are used by a cell on which a wanted name
    depends.
    """
    behind = _cells_behind(set(wanted), texts)
    return sorted(names & set(wanted).union(*(_uses(texts[i]) for i in behind)))


def _cells_of_answer(name: str, texts: dict[int, str]) -> set[int]:
    """Return the numbers of the cells behind an answer, of the cells that use a variable of these, and of the
    cells behind those: they may put a function into a list from which the answer takes it.
    """
    behind = _cells_behind({name}, texts)
    variables = frozenset[str]().union(*(variables_in(texts[i]) for i in behind))
    using = {i for i in texts if _uses(texts[i]) & variables}
    return behind | using | _cells_behind(set().union(*(_uses(texts[i]) for i in using)), texts)


def _cells_behind(wanted: set[str], texts: dict[int, str]) -> set[int]:
    """Return the numbers of the cells that bind a wanted name, and of the cells that these need in turn. A
    cell whose text does not show which names it binds is always included.
    """
    behind: set[int] = set()
    while found := {
        i for i in texts.keys() - behind if (names := _defines(texts[i])) is None or names & wanted
    }:
        behind |= found
        wanted = wanted.union(*(_uses(texts[i]) for i in found))
    return behind


@cache
def _defines(text: str) -> frozenset[str] | None:
    """Return the names that a cell binds at top level, or None if its text does not show which names these
    are.
    """
    try:
        text, _ = parsed(text)
        table = symtable.symtable(text, "cell", "exec")
    except NOT_PYTHON:
        return None
    if "run_cell_magic" in text or STAR.search(text):
        return None
    return frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported())


@cache
def _uses(text: str) -> frozenset[str]:
    """Return the names that a cell takes from elsewhere, judging by its text. If the cell is not plain Python
    (a magic, a syntax error), or is too long to be parsed quickly, return every word in it.
    """
    try:
        if len(text) > LONGEST_READ:
            return frozenset(WORD.findall(text))
        table = symtable.symtable(text, "cell", "exec")
    except NOT_PYTHON:  # such a cell fails when it is run, but what its earlier lines define may be used
        return frozenset(WORD.findall(text))
    return frozenset(_from_elsewhere(table, top=True))


def _from_elsewhere(table: symtable.SymbolTable, top: bool) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _from_elsewhere(child, top=False)
