"""The code of a student bundle, for the tests. It has no recorded exercises, because recording them would
take time.
"""

from functools import cache
from pathlib import Path

from autograder.build.lesson import find_lessons
from autograder.build.notebooks import as_text, student_notebook
from autograder.bundle.needed import files_of, modules_for, packages_for


@cache
def notebooks() -> dict[str, str]:
    """Return the text of each student notebook by the name of its lesson."""
    return {lesson.name: as_text(student_notebook(lesson)) for lesson in find_lessons(None)}


@cache
def modules() -> frozenset[str]:
    """Return the package's modules that the bundle contains."""
    return modules_for(notebooks().values())


def code_files() -> list[Path]:
    """Return the Python files that the bundle contains."""
    return [path for path in files_of(modules()) if path.suffix == ".py"]


@cache
def packages() -> tuple[str, ...]:
    """Return the packages that the bundle asks pip for, with their versions."""
    return tuple(packages_for(notebooks().values(), modules()))
