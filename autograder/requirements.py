"""Reads the course's requirements from its package metadata: what pyproject.toml declares or, in a student
bundle, what the bundle's notebooks import.
"""

import re
from importlib.metadata import PackageNotFoundError, requires, version

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"  # on Linux: without the gigabytes for GPUs
COURSE = "attention-by-hand"


def declared(extra: str = "") -> dict[str, str]:
    """Return the course's requirements, keyed by normalised package name. Those of `extra`, if it is given,
    are included. Raises PackageNotFoundError if the course is not installed in this Python.
    """
    of_extra = rf"extra == .{extra}\b"
    asked = [
        one for one in requires(COURSE) or () if "extra ==" not in one or (extra and re.search(of_extra, one))
    ]
    return {name_in(one): one for one in asked}


def missing() -> list[str]:
    """Return the requirements that are not installed in any version. Those that apply only to some systems
    are not checked.
    """
    return [one for name, one in declared().items() if ";" not in one and not _is_installed(name)]


def with_needs(packages: set[str]) -> set[str]:
    """Return `packages`, the names of installed packages, together with the names of all installed packages
    that they require, directly or indirectly. All names are normalised.
    """
    found: set[str] = set()
    further = set(packages)
    while further:
        found |= further
        asked = {name_in(one) for name in further for one in requires(name) or () if "extra ==" not in one}
        further = set(filter(_is_installed, asked - found))
    return found


def plain(name: str) -> str:
    """Return a package's name in its normalised spelling: in lower case, with hyphens."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_in(requirement: str) -> str:
    """Return the normalised name of the package in a requirement such as "numpy>=2"."""
    return plain(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:  # for instance a package for another system
        return False
    return True
