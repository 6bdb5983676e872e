"""The worked answers of the lessons, as text and as objects."""

import linecache

from autograder.build.lesson import ROOT, Lesson, read_cells

IMPORTS = """import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""


def worked_sources(lesson: str) -> dict[str, str]:
    """The answer cell of every exercise of a lesson, by exercise id; empty where the lesson is not written."""
    found = Lesson(lesson, ROOT)
    if not found.source.exists():
        return {}
    return {cell.name: cell.text for cell in read_cells(found) if cell.kind == "exercise"}


def worked_file(exercise, changed: str | None = None) -> str:
    """All answers of the exercise's lesson as one file, the exercise's own one replaced by `changed`."""
    sources = worked_sources(exercise.lesson)
    if changed is not None:
        sources[exercise.id] = changed
    return IMPORTS + "".join(f"\n\n{source}\n" for source in sources.values())


def answer_in(text: str, name: str):
    """The object of that name after running `text` as a file."""
    linecache.cache["answer.py"] = (len(text), None, text.splitlines(keepends=True), "answer.py")
    names = {"__name__": "answer"}
    exec(compile(text, "answer.py", "exec"), names)
    return names[name]
