"""Attention by Hand: the functions that a lesson imports.

    from autograder import check, compare, draw, explore, figures, hint, mine, progress

Each is loaded when first used, so that `import autograder` loads neither PyTorch, nbgrader nor matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "check": "autograder.notebook.check",
    "compare": "autograder.graph",
    "draw": "autograder.graph",
    "explore": "autograder.notebook.explore",
    "hint": "autograder.notebook.hint",
    "mine": "autograder.notebook.mine",
    "progress": "autograder.notebook.progress",
}

__all__ = ["check", "compare", "draw", "explore", "figures", "hint", "mine", "progress"]


def __getattr__(name: str) -> Any:
    if name == "figures":
        return import_module("autograder.notebook.figures")
    if name not in _MODULES:
        raise AttributeError(f"module 'autograder' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
