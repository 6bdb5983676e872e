"""Tests that the folders of the package import from each other in one direction only. For the folders of
grading, see tests/grading/test_rooms.py.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograder

ROOT = Path(autograder.__file__).parent
# From the bottom up: each room (a folder or a single file), and all that it imports from. The website's pages are a
# room of their own: they need the formulas of grading, which needs the lessons.
NEEDS = {
    "errors": set(),
    "files": set(),
    "imports": set(),
    "marks": set(),
    "printable": set(),
    "requirements": set(),
    "untrusted": set(),
    "verdict": set(),
    "faults": {"errors"},
    "isolation": {"faults", "files"},
    "values": {"faults", "isolation", "untrusted"},
    "schema": {"errors", "values"},
    "exercises": {"errors", "files", "schema"},
    "dependencies": {"exercises"},
    "probe": {"errors", "faults", "isolation", "schema", "values"},
    "graph": {"errors", "faults", "isolation", "untrusted"},
    "judge": {"errors", "exercises", "faults", "isolation", "probe", "schema", "values", "verdict"},
    "notebook": {
        "errors",
        "exercises",
        "faults",
        "files",
        "isolation",
        "judge",
        "probe",
        "schema",
        "verdict",
    },
    "doctor": {"errors", "notebook", "requirements"},
    "build": {
        "dependencies",
        "errors",
        "exercises",
        "files",
        "judge",
        "marks",
        "notebook",
        "probe",
        "schema",
        "values",
        "verdict",
    },
    "lab": {"build", "errors", "files", "notebook", "verdict"},
    "grading": {
        *(
            "build",
            "dependencies",
            "doctor",
            "errors",
            "exercises",
            "faults",
            "files",
            "graph",
            "imports",
            "judge",
            "marks",
            "notebook",
        ),
        *("printable", "probe", "requirements", "schema", "untrusted", "values", "verdict"),
    },
    "build.book": {"build", "exercises", "grading", "judge", "marks", "notebook", "requirements", "schema"},
    "bundle": {
        "build",
        "dependencies",
        "errors",
        "exercises",
        "files",
        "grading",
        "judge",
        "requirements",
        "schema",
        "values",
    },
    "cli": {
        *(
            "build",
            "bundle",
            "doctor",
            "errors",
            "exercises",
            "files",
            "grading",
            "imports",
            "judge",
            "lab",
            "notebook",
        ),
        "printable",
        "verdict",
    },
}


def room_of(parts: tuple[str, ...]) -> str:
    """Return the folder of a module from its path below `autograder`; "" for the package's own names."""
    return ".".join(parts[:2]) if ".".join(parts[:2]) in NEEDS else parts[0] if parts else ""


def modules() -> Iterator[tuple[str, Path]]:
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] not in ("lessons", "__init__", "__main__"):
            yield room_of(parts), path


def imported(path: Path) -> set[str]:
    """Return the folders that a module imports from, even if only inside a function; imports made only for
    types do not count.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    left_out = {id(inner) for node in for_types for inner in ast.walk(node)}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and id(node) not in left_out]
    names = [name for node in found for name in names_of(node) if name[0] == "autograder"]
    return {room_of(name[1:]) for name in names} - {""}


def names_of(node: ast.ImportFrom) -> list[tuple[str, ...]]:
    """Return the dotted path of each imported name, in parts; the name may be that of a module."""
    return [(*(node.module or "").split("."), alias.name) for alias in node.names]


def test_every_module_is_in_a_room():
    assert {room for room, _ in modules()} == NEEDS.keys()


@pytest.mark.parametrize("room", NEEDS)
def test_a_room_imports_from_nothing_but_those_that_it_needs(room):
    assert set.union(*(imported(path) for at, path in modules() if at == room)) - {room} == NEEDS[room]


def test_there_is_no_circle():
    order = list(NEEDS)
    assert all(
        order.index(needed) < order.index(room) for room, all_needed in NEEDS.items() for needed in all_needed
    )
