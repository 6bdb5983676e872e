"""Attention by Hand: the functions that a lesson imports.

    from autograder import check, compare, draw, explore, figures, hint, mine, progress

Each is loaded when it is first used, so that `import autograder` by itself does not load PyTorch, nbgrader or
matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from autograder.errors import UnknownName
from autograder.imports import no_full_collection

MODULES = {
    "check": "autograder.notebook.check",
    "compare": "autograder.graph",
    "draw": "autograder.graph",
    "explore": "autograder.notebook.explore",
    "figures": "autograder.notebook.figures",
    "hint": "autograder.notebook.hint",
    "mine": "autograder.notebook.mine",
    "progress": "autograder.notebook.progress",
}

__all__ = sorted(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise UnknownName(f"autograder has no {name!r}; it has {', '.join(__all__)}.")
    with no_full_collection():
        return getattr(import_module(MODULES[name]), name)


class _Figures(ModuleType):
    """The module autograder.notebook.figures, loaded only when a lesson first uses it, because importing
    matplotlib takes a third of a second.

    subtle: with importlib's LazyLoader, `figures.curves` would be the submodule instead of the function, once
    a lesson has imported that submodule.
    """

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        if not name.startswith("_") and not hasattr(module, name):
            raise UnknownName(f"figures has no {name!r}; it has {', '.join(module.__all__)}.")
        return getattr(module, name)

    def __dir__(self) -> list[str]:
        return dir(import_module(self.__name__))


figures = _Figures(MODULES["figures"])


def __dir__() -> list[str]:
    return sorted(__all__)
