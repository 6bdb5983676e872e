"""The bundle holds everything that its notebooks and its modules import, and asks pip for the rest."""

import ast
import sys
from functools import cache
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from bundled import code_files, modules, notebooks, packages
from lesson_source import LESSONS
from packaging.requirements import Requirement

import autograder
from autograder.bundle.needed import ONLY_IN_A_CLONE, files_of, imports_of, modules_for, packages_for
from autograder.dependencies import PACKAGE, file_of, imported

ROOT = Path(autograder.__file__).parents[1]


@cache
def asked_of_pip() -> set[str]:
    """Return the packages that pip installs for a bundle: those it asks for, and what these require in
    turn."""
    found, further = set(), {one.partition("==")[0] for one in packages()}
    while further:
        found |= further
        needed = [Requirement(text) for name in further for text in requires(name) or ()]
        further = {
            _plain(one.name) for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})
        }
        further -= found
    return {_plain(name) for name in found}


top_level = cache(packages_distributions)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def missing(names: set[str]) -> set[str]:
    """Return those of these imports that neither Python nor the bundle nor pip would provide."""
    installed, there = asked_of_pip(), top_level()
    elsewhere = {name for name in names if name.partition(".")[0] not in {PACKAGE, *sys.stdlib_module_names}}
    return {
        name for name in elsewhere if not set(map(_plain, there.get(name.partition(".")[0], ()))) & installed
    }


def missing_modules(names: set[str]) -> set[str]:
    """Return the package's modules among these imports that are not in the bundle."""
    ours = {name for name in names if name.partition(".")[0] == PACKAGE and file_of(name)}
    return ours - modules()


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_import_of_a_notebook_is_met(lesson):
    names = imports_of(notebooks()[lesson])
    assert names and not missing(names) | missing_modules(names)


def test_every_import_of_its_code_is_met():
    for path in code_files():
        names = imported(path.read_bytes())
        assert not missing(names), path
        only_here = {name for name in missing_modules(names) if not name.startswith(ONLY_IN_A_CLONE)}
        assert not only_here, path


def test_what_a_notebook_imports_decides_what_is_in_it():
    first, last = notebooks()[LESSONS[0]], notebooks()[LESSONS[-1]]
    assert f"{PACKAGE}.notebook.real_model.plain" in modules_for([last]) - modules_for([first])
    assert any(one.startswith("gymnasium==") for one in packages())
    assert not any(one.startswith("gymnasium==") for one in packages_for([first], modules_for([first])))


def test_no_exercise_and_nothing_that_grades_is_in_it():
    folders = {path.relative_to(ROOT).parts[1] for path in files_of(modules())}
    assert not folders & {"build", "bundle", "grading"}
    inside = {path.name for path in files_of(modules()) if path.parent.name == "exercises"}
    assert inside == {"__init__.py", "own.py"}
    assert not [path for path in files_of(modules()) if "exercises" in path.parts[:-2]]


def test_every_import_of_what_a_clone_alone_has_is_within_a_function():
    """So a module can be loaded in a bundle, and the caller of the function checks first."""
    for path in code_files():
        top = [
            node
            for node in ast.parse(path.read_bytes()).body
            if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        names = imported(ast.unparse(ast.Module(top, [])))
        assert not {name for name in names if name.startswith(ONLY_IN_A_CLONE)}, path
