"""The sources of the lessons, for the tests that read or run them."""

from functools import cache
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py"))


def source(lesson):
    return ROOT / "solutions" / f"{lesson}.py"


@cache
def cells(lesson):
    return jupytext.read(source(lesson), fmt="py:percent").cells


@cache
def prose(lesson):
    return "\n\n".join(cell.source for cell in cells(lesson) if cell.cell_type == "markdown")
