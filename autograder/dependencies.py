"""Finds which modules of this package a piece of code may run, by reading the imports in source files.

Its findings decide whether a graded result or a recorded check is still valid, whether a lesson would print
the same output again, and what a student bundle must contain. Because they come from the code itself, nobody
has to maintain a list of dependencies.

    closure(roots)     the modules `roots` and those that they import from this package, directly or not
    digest(modules)    a hex digest of the modules' source
    imported(text)     the modules that a piece of source imports, from this package or any other

An import counts wherever it stands in the source, even inside a function. Source is parsed, never run, so
nothing that it imports is loaded.
"""

import ast
import hashlib
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path

import autograder
from autograder.exercises import own

PACKAGE = autograder.__name__
EXERCISES = f"{PACKAGE}.exercises"
ROOT = Path(autograder.__file__).resolve().parent
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def closure(roots: Iterable[str], without: Collection[str] = ()) -> frozenset[str]:
    """Return the modules `roots` and all modules of this package that they import, directly or not.

    Imports of modules that are in `without`, or inside a package named there, are not followed: such modules
    are left out, with everything that only they import. The roots themselves are always included.
    """
    found: set[str] = set()
    further = set(roots)
    while further:
        found |= further
        imports = set().union(*map(_imports, further))
        further = {name for name in imports if not is_in(name, without)} - found
    return frozenset(found)


def digest(modules: Iterable[str], code_only: bool = False) -> str:
    """Return a hex digest of the source of these modules of the package. With `code_only`, comments,
    docstrings and layout do not count.
    """
    total = hashlib.sha256()
    for name in sorted(modules):
        text = _text(name) or b""
        content = code(text) if code_only else text
        total.update(f"{name} {len(content)}\n".encode() + content)
    return total.hexdigest()


def code(text: str | bytes) -> bytes:
    """Return the syntax tree of a module's source as bytes, without comments, docstrings and layout."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, WITH_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


def exercise_modules() -> set[str]:
    """Return the full names of all exercise modules, including those of instructors' own exercises and the
    modules that exercises share.
    """
    found = set()
    for folder in _places(EXERCISES):
        for path in folder.glob("*/*.py"):
            name = path.parent.name if path.stem == "__init__" else f"{path.parent.name}.{path.stem}"
            found.add(f"{EXERCISES}.{name}")
    return found


def file_of(module: str) -> Path | None:
    """Return the file of a module of the package, or None if there is no such module."""
    parent, _, name = module.rpartition(".")
    for folder in _places(parent):
        for path in (folder / name / "__init__.py", folder / f"{name}.py"):
            if path.is_file():
                return path
    return None


def imported(text: str | bytes) -> set[str]:
    """Return the full names of all modules that a piece of source imports. Raises SyntaxError if the source
    is not valid Python.

    `from a.b import c` yields both `a.b` and `a.b.c`, although the latter need not be a module.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def of_package(names: Iterable[str]) -> set[str]:
    """Return those of the imported names that are modules of this package. For a name that is loaded lazily,
    such as `autograder.check`, return the module that defines it.
    """
    ours = {name for name in names if is_in(name, (PACKAGE,))}
    lazy = {f"{PACKAGE}.{name}": module for name, module in autograder.MODULES.items()}
    ours |= {lazy[name] for name in ours & lazy.keys()}
    return {name for name in ours if file_of(name)}


def is_in(name: str, packages: Collection[str]) -> bool:
    """Return whether a module is one of `packages`, or inside one of them."""
    return any(name == one or name.startswith(f"{one}.") for one in packages)


def _imports(module: str) -> set[str]:
    """Return the modules of this package that a module imports, and the package that contains the module."""
    return of_package({module.rpartition(".")[0], *_imported(_text(module) or b"")})


_imported = cache(imported)


def _places(package: str) -> list[Path]:
    """Return the folders that may hold the modules of a package: the package's own folder and, for exercises,
    also the folders of instructors' own exercises.
    """
    if not package:
        return [ROOT.parent]
    within = package.split(".")[1:]
    places = [ROOT.joinpath(*within)]
    if is_in(package, (EXERCISES,)):
        places += [folder.joinpath(*within[1:]) for folder in own.folders()]
    return places


def _text(module: str) -> bytes | None:
    file = file_of(module)
    return file.read_bytes().replace(b"\r\n", b"\n") if file else None
