"""What is run of a submission, in which order, and what is asked of it.

A unit is plain data, so that it can be sent to another machine, and its key says whether it was run before.

The course decides what is graded: a check cell is never run as code, it stands for the questions of its exercise.
A cell of the lesson that the student left as it was is run only where an answer, or another cell that runs,
uses a name that it defines: an experiment with its figures changes no grade.
"""

import ast
import hashlib
import json
import platform
import re
import symtable
from dataclasses import asdict, dataclass
from functools import cache

from autograder.build.stale import package_files
from autograder.exercises import all_exercises
from autograder.grading.reach import Reach, reach_of

CHECK = "check-"
LONGEST_READ = 100_000
WORD = re.compile(r"\w+")
# Names by which code reaches any other name: then everything is run.
REFLECTION = {"globals", "locals", "vars", "eval", "exec", "get_ipython", "In", "Out", "_", "__", "_ih", "_oh"}


@dataclass(frozen=True)
class Step:
    """One cell. `kind` is "run", "check" (an exercise's questions) or "skip"."""

    cell: int
    kind: str
    text: str = ""


@dataclass(frozen=True)
class Unit:
    """One submission's steps, in the order of its cells, and where the student's own cells reach."""

    steps: tuple[Step, ...]
    reach: Reach

    def key(self, secret: str) -> str:
        """Hex digest of all that the result depends on: the steps, the hidden cases, the autograder, versions."""
        data = json.dumps([asdict(self), secret, environment()])
        return hashlib.sha256(data.encode()).hexdigest()


def unit_of(notebook, lesson) -> Unit:
    """The unit of a notebook whose metadata is the course's own, in a lesson given as its source notebook."""
    known = {cell.source for cell in lesson.cells if cell.cell_type == "code" and not _grading(cell)}
    code = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    texts = {i: cell.source for i, cell in code if exercise_of(cell) is None}
    own = {i for i, text in texts.items() if text not in known}
    run = _needed(texts, own)
    steps = []
    for i, cell in code:
        exercise = exercise_of(cell)
        if exercise is not None:
            steps.append(Step(i, "check", exercise))
        else:
            steps.append(Step(i, "run", cell.source) if i in run else Step(i, "skip"))
    return Unit(tuple(steps), reach_of([texts[i] for i in sorted(own)]))


def exercise_of(cell) -> str | None:
    """The exercise that a check cell of ours checks."""
    grading = _grading(cell)
    name = grading.get("grade_id", "")
    if not (grading.get("grade") and grading.get("locked") and name.startswith(CHECK)):
        return None
    exercise_id = name.removeprefix(CHECK).replace("-", ".", 1)
    return exercise_id if exercise_id in _known_ids() else None


def _grading(cell) -> dict:
    return cell.metadata.get("nbgrader", {})


@cache
def _known_ids() -> frozenset[str]:
    return frozenset(exercise.id for exercise in all_exercises())


@cache
def environment() -> list[str]:
    """What of this machine a result depends on: the autograder, PyTorch, Python."""
    import torch

    total = hashlib.sha256()
    for path in package_files():
        total.update(path.read_bytes())
    return [total.hexdigest(), torch.__version__, platform.python_version()]


def _needed(texts: dict[int, str], own: set[int]) -> set[int]:
    """The cells to run: the student's own, and what they need of the lesson's, and what those need."""
    run, wanted = set(own), set().union(*(_uses(texts[i]) for i in own))
    if wanted & REFLECTION:
        return set(texts)
    found = True
    while found:
        found = {i for i in texts.keys() - run if (names := _defines(texts[i])) is None or names & wanted}
        run |= found
        wanted |= set().union(*(_uses(texts[i]) for i in found))
    return run


@cache
def _defines(text: str) -> frozenset[str] | None:
    """The names that a cell of the lesson binds at top level; None where that cannot be told."""
    try:
        table = symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(ast.parse(text))):
        return None
    return frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported())


def _uses(text: str) -> set[str]:
    """The names that a cell takes from elsewhere, as far as its text tells; every word where it is no plain Python
    (a magic, a fault), or so long that to read it would take more than to run the lesson."""
    try:
        if len(text) > LONGEST_READ:
            return set(WORD.findall(text))
        table = symtable.symtable(text, "cell", "exec")
    except Exception:  # not Python: such a cell fails when it is run, but what is before the fault may be text
        return set(WORD.findall(text))
    return set(_from_elsewhere(table, top=True))


def _from_elsewhere(table, top: bool):
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _from_elsewhere(child, top=False)
