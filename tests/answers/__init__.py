"""Answers as people write them, in modules for each topic: `RIGHT` and `WRONG` by exercise id and name."""

from importlib import import_module
from importlib.util import find_spec


def answers(exercise) -> tuple[dict, dict]:
    """(right answers, wrong answers) to an exercise, by name; empty where none are written yet."""
    right, wrong = {}, {}
    for name in (exercise.topic, f"{exercise.topic}_more"):
        if find_spec(f"{__name__}.{name}") is not None:
            module = import_module(f"{__name__}.{name}")
            right |= {_apart(key, right): a for key, a in module.RIGHT.get(exercise.id, {}).items()}
            wrong |= {_apart(key, wrong): a for key, a in module.WRONG.get(exercise.id, {}).items()}
    return right, wrong


def _apart(name: str, known: dict) -> str:
    return f"{name}, again" if name in known else name


def alone(exercise) -> dict:
    """Wrong answers to an exercise, each by the one family of cases that catches it."""
    return _of_families(exercise, "ALONE")


def named_by(exercise) -> dict:
    """Names of wrong answers, or ids of mistakes, each by a family without which it has no name."""
    return _of_families(exercise, "NAMED")


def _of_families(exercise, what) -> dict:
    name = f"{__name__}.{exercise.topic}_alone"
    return getattr(import_module(name), what).get(exercise.id, {}) if find_spec(name) is not None else {}
