"""Replaces the course's own functions with stubs while a submission is graded.

The grader makes the checks itself, through the probe; figures, hints, graphs and explorers change no grade. The
functions that a lesson computes with stay: its sentence, its experiments and the real model.
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
    """Return the fallback: in grading, a lesson's own cells and answers use the ready-made part, never
    another notebook's answer.
    """
    return otherwise


def silence_the_course() -> None:
    """Replace the course's functions with ones that do nothing."""
    # What lessons compute with stays. By these imports a result's key depends on it, too.
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
    """Replace the module of that name with one whose functions all do nothing, and return it."""
    parent, _, last = name.rpartition(".")
    nothing = sys.modules[name] = _Nothing(name)
    setattr(importlib.import_module(parent), last, nothing)
    return nothing
