"""Finds the modules of this package that code may run, by reading its imports.

It answers every question about what something depends on: whether a graded result or a recorded check is still
valid, whether a lesson would print the same again, what a student bundle must contain. No list mirrors the code.

    closure(roots)     the package's modules that these import, directly or not
    digest(modules)    a hex digest of the texts of modules
    imported(text)     the modules that a text imports, of this package or of any other

An import counts wherever it is in a text, even within a function. Texts are parsed, never run, so neither
PyTorch nor anything else is loaded.
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
    """Return the package's modules that the modules `roots` import, directly or not, and `roots` themselves.

    Modules in `without`, and those in packages of these names, are left out, with everything that only they
    import.
    """
    found: set[str] = set()
    further = set(roots)
    while further:
        found |= further
        imports = set().union(*map(_imports, further))
        further = {name for name in imports if not is_in(name, without)} - found
    return frozenset(found)


def digest(modules: Iterable[str], code_only: bool = False) -> str:
    """Return a hex digest of the texts of the package's modules; with `code_only`, without comments,
    docstrings and layout."""
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
    """Return the modules of all exercises, an instructor's own included, and of what they share."""
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
    """Return the full names of all modules that a text imports. Raises SyntaxError if it is not Python.

    `from a.b import c` yields both `a.b` and `a.b.c`, which need not be a module.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def of_package(names: Iterable[str]) -> set[str]:
    """Return the package's modules among imported names; for a name that is loaded lazily, such as
    `autograder.check`, the module that defines it.
    """
    ours = {name for name in names if is_in(name, (PACKAGE,))}
    lazy = {f"{PACKAGE}.{name}": module for name, module in autograder.MODULES.items()}
    ours |= {lazy[name] for name in ours & lazy.keys()}
    return {name for name in ours if file_of(name)}


def is_in(name: str, packages: Collection[str]) -> bool:
    """Return whether a module is one of `packages`, or inside one of them."""
    return any(name == one or name.startswith(f"{one}.") for one in packages)


def _imports(module: str) -> set[str]:
    """Return the package's modules that a module imports, and the package that it is in."""
    return of_package({module.rpartition(".")[0], *_imported(_text(module) or b"")})


_imported = cache(imported)


def _places(package: str) -> list[Path]:
    """Return the folders that hold the modules of a package of ours."""
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
