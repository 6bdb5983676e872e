"""Attention by Hand: what a lesson imports.

    from autograder import check, hint, draw, compare, progress

The names are loaded when first used, so that `import autograder` costs nothing beyond `import torch`,
and loads neither nbgrader nor matplotlib.
"""

_HOMES = {
    "check": "autograder.notebook.check",
    "hint": "autograder.notebook.hint",
    "draw": "autograder.graph",
    "compare": "autograder.graph",
    "progress": "autograder.notebook.progress",
}

__all__ = ["check", "compare", "draw", "hint", "progress"]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'autograder' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__():
    return sorted(__all__)
