"""The course's own functions do nothing while a submission is graded.

Checks are made by the probe, from outside; figures, hints, graphs and explorers change no grade. What a lesson
computes with, its sentence, its experiments and its ready-made parts, stays as it is.
"""

import importlib
import pkgutil
import sys
import types
from collections.abc import Callable
from typing import Any

REAL = ("autograder.notebook.sentence", "autograder.notebook.experiment")


class _Nothing(types.ModuleType):
    """A module whose every name is a function that does nothing."""

    def __getattr__(self, name: str) -> Callable[..., float]:
        if name.startswith("__"):
            raise AttributeError(name)
        return _do_nothing


def _do_nothing(*args: Any, **kwargs: Any) -> float:
    return 0.0


def _mine(exercise: str, otherwise: Any) -> Any:
    """Return what a lesson would use of the student's other notebooks is the ready-made part: it belongs to
    the lesson's own cells, and an answer may call it.
    """
    return otherwise


def silence_the_course() -> None:
    """Replace the course's functions by ones that do nothing."""
    for name in REAL:
        importlib.import_module(name)
    lessons = importlib.import_module("autograder.notebook.lessons")
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
    """Put a module there whose every name does nothing."""
    parent, _, last = name.rpartition(".")
    nothing = sys.modules[name] = _Nothing(name)
    setattr(importlib.import_module(parent), last, nothing)
    return nothing
