"""Replaces the course's own functions with stubs while a submission is graded.

The grader runs the checks itself, through the probe; figures, hints, graphs and explorers do not affect
grades. Functions that a lesson needs for its computations are kept: the running example's sentence, the
experiments and the real model.
"""

import importlib
import pkgutil
import sys
import types
from collections.abc import Callable
from typing import Any


class _Nothing(types.ModuleType):
    """A module in which every name is a function that does nothing."""

    def __getattr__(self, name: str) -> Callable[..., float]:
        if name.startswith("__"):
            raise AttributeError(name)
        return _do_nothing


def _do_nothing(*args: Any, **kwargs: Any) -> float:
    return 0.0


def _mine(exercise: str, otherwise: Any) -> Any:
    """Return `otherwise`, the ready-made part. This function replaces `mine` while a submission is graded, so
    that no answer from another notebook is used.
    """
    return otherwise


def compile_nothing() -> None:
    """Let `torch.compile` return its function as it is. Compiling takes seconds, and a back end is given a
    graph into whose code it can write.
    """
    import torch

    torch.compile = _as_it_is


def _as_it_is(model: Any = None, **options: Any) -> Any:
    return _as_it_is if model is None else model


def silence_the_course() -> None:
    """Replace the course's functions with functions that do nothing, and `mine` with `_mine`."""
    # The modules that lessons need for computations are kept. Because they are imported here, a result's key
    # depends on their code, too.
    from autograder.notebook import experiment, lessons, sentence  # noqa: F401

    of_lessons = [
        f"autograder.notebook.lessons.{found.name}" for found in pkgutil.iter_modules(lessons.__path__)
    ]
    for name in ("autograder.notebook.figures", "autograder.notebook.explore", *of_lessons):
        _silence(name)
    course = sys.modules["autograder"]
    for name in course.__all__:
        setattr(course, name, _mine if name == "mine" else _do_nothing)
    course.__dict__["figures"] = sys.modules["autograder.notebook.figures"]


def _silence(name: str) -> types.ModuleType:
    """Replace the module `name` with one in which every function does nothing, and return the new module."""
    parent, _, last = name.rpartition(".")
    nothing = sys.modules[name] = _Nothing(name)
    setattr(importlib.import_module(parent), last, nothing)
    return nothing
