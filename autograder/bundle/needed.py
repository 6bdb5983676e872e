"""Finds what the notebooks of a bundle need to run: modules of this package, and other packages.

Both are read from the imports of the notebooks and of the modules themselves, so that no list can become
outdated.
"""

import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from importlib.metadata import packages_distributions, version
from pathlib import Path

import nbformat

from autograder.dependencies import PACKAGE, ROOT, closure, exercise_modules, file_of, imported, of_package
from autograder.requirements import declared, plain, with_needs

# Entry points from a terminal, which nothing imports.
ENTRIES = (f"{PACKAGE}.__main__", f"{PACKAGE}.cli.learn")
# Only a clone has these; code that imports them checks first that they exist.
ONLY_IN_A_CLONE = (f"{PACKAGE}.build", f"{PACKAGE}.bundle", f"{PACKAGE}.grading")


def imports_of(notebook: str) -> set[str]:
    """Return the names of all modules that the code cells of a notebook import; `notebook` is the text of its
    file.
    """
    names: set[str] = set()
    for cell in nbformat.reads(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            with suppress(SyntaxError):  # an IPython command
                names |= imported(cell.source)
    return names


def modules_for(notebooks: Iterable[str]) -> frozenset[str]:
    """Return the modules of this package that the notebooks and the command line need, except the exercise
    modules, which contain the answers.
    """
    used = set().union(*map(imports_of, notebooks))
    return closure({*ENTRIES, *of_package(used)}, without=ONLY_IN_A_CLONE) - exercise_modules()


def files_of(modules: Collection[str]) -> list[Path]:
    """Return the files of these modules and, if a module is a package, also the data files in its folder."""
    files = list(filter(None, map(file_of, modules)))
    data = [path for file in files if file.name == "__init__.py" for path in _data_in(file.parent)]
    return sorted({*files, *data})


def packages_for(notebooks: Iterable[str], modules: Collection[str]) -> list[str]:
    """Return the requirements that pip must install for the notebooks and modules. A package that the course
    declares is listed as declared if it is imported or if an imported package needs it. Any other imported
    package is listed with the version installed here.
    """
    texts = [file.read_bytes() for file in filter(None, map(file_of, modules))]
    names = set().union(*map(imports_of, notebooks), *map(imported, texts))
    top = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {PACKAGE}
    there = packages_distributions()
    used = {plain(package) for name in top for package in there.get(name, ())}
    known = declared()
    needed = with_needs(used) & known.keys()
    others = [f"{name}=={version(name).partition('+')[0]}" for name in used - known.keys()]
    return sorted([known[name] for name in needed] + others)


def _data_in(folder: Path) -> list[Path]:
    """Return the data files in a package's folder, including those in subfolders that are not packages. For
    ROOT, return none.
    """
    if folder == ROOT:
        return []
    data = []
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            data += [file for file in path.rglob("*") if file.is_file()]
        elif path.is_file() and path.suffix != ".py":
            data.append(path)
    return data
