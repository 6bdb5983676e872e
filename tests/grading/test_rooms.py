"""Tests that the folders of autograder/grading import from each other in one direction only."""

import ast
from pathlib import Path

import pytest

from autograder import grading

ROOT = Path(grading.__file__).parent
# Each folder and the ones that it imports from; files outside these folders may import from all of them.
NEEDS = {
    "sandbox": set(),
    "safe": set(),
    "submission": {"sandbox", "safe"},
    "worker": {"sandbox"},
    "judging": {"submission", "sandbox", "worker", "safe"},
    "parallel": {"judging", "submission", "sandbox", "worker"},
    "gradebook": {"judging", "submission"},
    "collect": {"gradebook", "submission"},
    "pages": {"collect", "gradebook", "judging", "submission", "worker"},
    "course": {"collect", "gradebook", "pages", "submission", "sandbox", "worker"},
}


def imported_rooms(folder: Path) -> set[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    parts = [
        node.module.split(".") for node in nodes if (node.module or "").startswith("autograder.grading.")
    ]
    return {part[2] for part in parts} - {folder.name}


@pytest.mark.parametrize("room", NEEDS)
def test_a_folder_imports_from_nothing_but_those_that_it_needs(room):
    assert imported_rooms(ROOT / room) == NEEDS[room]


def test_there_is_no_circle():
    order = list(NEEDS)
    assert all(
        order.index(needed) < order.index(room) for room, all_needed in NEEDS.items() for needed in all_needed
    )
