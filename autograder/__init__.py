"""Attention by Hand: the functions that a lesson imports.

    from autograder import check, compare, draw, explore, figures, hint, mine, progress

Each is loaded when first used, so that `import autograder` loads neither PyTorch, nbgrader nor matplotlib.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType
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
        return _figures()
    if name not in _MODULES:
        raise AttributeError(f"module 'autograder' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def _figures() -> ModuleType:
    """The figures; with matplotlib, which takes a third of a second, they are loaded for the first that is drawn."""
    name = "autograder.notebook.figures"
    if name not in sys.modules:
        spec = find_spec(name)
        assert spec is not None and spec.loader is not None
        spec.loader = LazyLoader(spec.loader)
        module = module_from_spec(spec)
        sys.modules[name] = import_module("autograder.notebook").figures = module  # type: ignore[attr-defined]
        spec.loader.exec_module(module)
    return sys.modules[name]


def __dir__() -> list[str]:
    return sorted(__all__)
