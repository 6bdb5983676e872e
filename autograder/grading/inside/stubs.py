"""The course's own functions do nothing while a submission is graded.

Checks are made by the probe, from outside; figures, hints, graphs and explorers change no grade. What a lesson
computes with, its sentence and its view of a module, stays as it is.
"""

import importlib
import sys
import types

REAL = ("autograder.notebook.sentence", "autograder.notebook.look")
QUIET = ("figures", "explore")


class _Nothing(types.ModuleType):
    """A module whose every name is a function that does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _do_nothing


def _do_nothing(*args, **kwargs):
    return 0.0


def silence_the_course() -> None:
    """Puts functions that do nothing in the place of the course's."""
    for name in REAL:
        importlib.import_module(name)
    course = sys.modules["autograder"]
    for name in course.__all__:
        setattr(course, name, _do_nothing)
    for name in QUIET:
        quiet = _Nothing(f"autograder.notebook.{name}")
        sys.modules[quiet.__name__] = quiet
        setattr(sys.modules["autograder.notebook"], name, quiet)
