"""The worked answers of the lessons, as source text and as Python objects."""

import ast
import re
from functools import cache

from lesson_source import cells, cells_of_kind

from autograder.build.asked.subject import answer_in

__all__ = ["answer_in", "worked_file", "worked_sources"]

IMPORTS = """import collections
import itertools
import math
import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""


def worked_sources(lesson: str) -> dict[str, str]:
    """Return the text of the answer cell of every exercise of a lesson, by exercise id; {} if the lesson is
    not written yet.
    """
    return {cell.name: cell.text for cell in cells_of_kind(lesson, "exercise")}


def worked_file(exercise, changed: str | None = None) -> str:
    """Return the text of one file with all answers of the exercise's lesson. If `changed` is given, it
    replaces the answer to this exercise.
    """
    sources = worked_sources(exercise.lesson)
    if changed is not None:
        sources[exercise.id] = changed
    return IMPORTS + "".join(f"\n\n{source}\n" for source in (*_given(exercise.lesson), *sources.values()))


@cache
def _given(lesson: str) -> list[str]:
    """Return the source of those functions of the lesson that its answers call."""
    answers = "\n".join(worked_sources(lesson).values())
    others = [cell.text for cell in cells(lesson) if cell.is_code and cell.kind != "exercise"]
    found = (node for text in others for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return [ast.unparse(node) for node in found if re.search(rf"\b{node.name}\(", answers)]
