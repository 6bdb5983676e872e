"""Answers as people write them: for each exercise a file TOPIC/NAME.py with `RIGHT` and `WRONG` ones by name.

An answer is a function or class, the text of one, or a dict of edits of the exercise's worked answer.
"""

from importlib import import_module
from importlib.util import find_spec

from worked import answer_in

from autograder.schema.mistake import edited

IMPORTS = """import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn
"""


def answers(exercise) -> tuple[dict, dict]:
    """(right answers, wrong answers) to an exercise, by name."""
    right, wrong = {}, {}
    for name in (f"{exercise.topic}.{exercise.name}", f"old_{exercise.topic}", f"old_{exercise.topic}_more"):
        if _exists(name):
            module = import_module(f"{__name__}.{name}")
            known = (module.RIGHT, module.WRONG)
            some, others = known if "." in name else (one.get(exercise.id, {}) for one in known)
            right |= {_apart(key, right): _answer(exercise, one) for key, one in some.items()}
            wrong |= {_apart(key, wrong): _answer(exercise, one) for key, one in others.items()}
    return right, wrong


def _exists(name: str) -> bool:
    try:
        return find_spec(f"{__name__}.{name}") is not None
    except ModuleNotFoundError:
        return False


def _answer(exercise, given):
    if isinstance(given, dict):
        return edited(exercise.worked, given)
    return answer_in(IMPORTS + given, exercise.name) if isinstance(given, str) else given


def _apart(name: str, known: dict) -> str:
    return f"{name}, again" if name in known else name
