"""Answers as people write them, one module for each topic: `RIGHT` and `WRONG` by exercise id and name."""

from importlib import import_module
from importlib.util import find_spec


def answers(exercise) -> tuple[dict, dict]:
    """(right answers, wrong answers) to an exercise, by name; empty where none are written yet."""
    name = f"{__name__}.{exercise.topic}"
    if find_spec(name) is None:
        return {}, {}
    module = import_module(name)
    return module.RIGHT.get(exercise.id, {}), module.WRONG.get(exercise.id, {})
