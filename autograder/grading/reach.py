"""Code that reaches where no answer needs to: into the grader's own modules, or into the process that runs it.

Numbers cannot be forged, because the judge compares them outside. Which operations made them is told by a witness in
the student's own process (autograder.probe.observe), which such code could silence. So where a student's cell names
the grader's modules, no rule of form counts as kept; where it names inner parts of the process, a person is asked to
look. This reads the text and only ever asks for more care: what it does not see is judged as always.
"""

import ast
from dataclasses import dataclass

INNER = {"bundle", "build", "cli", "exercises", "grading", "graph", "judge", "probe"}
MODULES = {"ctypes", "importlib"}
NAMES = {"__import__", "__builtins__"}
ATTRIBUTES = {
    "__subclasses__",
    "_getframe",
    "_python_dispatch",
    "currentframe",
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "get_objects",
    "get_referrers",
    "setprofile",
    "settrace",
}
OF_MODULES = {"sys.modules", "torch._C", "torch.library", "torch.overrides"}


@dataclass(frozen=True)
class Reach:
    """What cells name: of the grader's modules, and of the inner parts of the process."""

    grader: tuple[str, ...] = ()
    process: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """What a teacher is asked to look at; empty where nothing is."""
        names = [*self.grader, *self.process]
        return f"look at its code, which reaches for {', '.join(names)}" if names else ""


def reach_of(cells: list[str]) -> Reach:
    """What the cells of a student name. A cell that is no Python, but for magics, cannot run and names nothing."""
    named = [name for text in cells for node in _nodes(text) for name in _names(node)]
    inner = {name for name in named if name.startswith("autograder.")}
    return Reach(tuple(sorted(inner)), tuple(sorted({*named} - inner)))


def _nodes(text: str):
    lines = ("" if line.lstrip().startswith(("%", "!")) else line for line in text.splitlines())
    try:
        yield from ast.walk(ast.parse("\n".join(lines)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _names(node):
    """The names of this list that one node of a syntax tree holds."""
    if isinstance(node, ast.Import):
        yield from _modules(alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from _modules([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    elif isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name):
            yield from _modules([f"{node.value.id}.{node.attr}"])
        if node.attr in ATTRIBUTES:
            yield node.attr
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "/proc/" in node.value:
        yield "/proc"


def _modules(names):
    """Of dotted names those of modules in this list."""
    for name in names:
        first, second, *_ = [*name.split("."), ""]
        if (first == "autograder" and second in INNER) or f"{first}.{second}" in OF_MODULES:
            yield f"{first}.{second}"
        elif first in MODULES:
            yield first

