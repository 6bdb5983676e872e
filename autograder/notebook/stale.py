"""Detects that the answer being checked is older than the text in its cell.

If a cell fails, its functions are still those of its last successful run. This can be detected, because a
notebook keeps the texts of all cells that were run, and the text of the cell that defined the answer.
"""

import linecache
import re
from typing import Any

from autograder.notebook.running import running_notebook


def stale(answer: Any, name: str) -> str | None:
    """Return a sentence about a later run that should have defined this answer and did not; None if the
    answer is up to date, or if that is not known.
    """
    shell = running_notebook()
    made_of = source_of_cell(answer)
    if shell is None or made_of is None or getattr(answer, "__name__", "") != name:
        return None
    cells = [text for text in shell.user_ns.get("In", ()) if text.strip()]
    runs = [number for number, text in enumerate(cells) if text.strip() == made_of.strip()]
    if not runs:
        return None
    later = cells[runs[-1] + 1 :]
    if any(_defines(text, name) for text in later):
        return (
            f"the last run of the cell that defines `{name}` failed, so your {name} is still the one from "
            "an earlier run."
        )
    renamed = next((new for text in later if (new := _renamed(made_of, text, name))), None)
    if renamed:
        return f"your cell now defines `{renamed}`; `{name}` is still the one from an earlier run."
    return None


def source_of_cell(answer: Any) -> str | None:
    """Return the text of the cell that an answer was defined in, or None if that is not known."""
    code = getattr(
        getattr(answer, "__init__", None) if isinstance(answer, type) else answer, "__code__", None
    )
    if code is None and isinstance(answer, type):
        code = next((one.__code__ for one in vars(answer).values() if hasattr(one, "__code__")), None)
    lines = linecache.getlines(code.co_filename) if code is not None else []
    return "".join(lines) or None


def _defines(text: str, name: str) -> bool:
    return bool(re.search(rf"^(?:(?:async +)?def|class) +{name}\b|^{name} *=[^=]", text, re.MULTILINE))


def _renamed(old: str, new: str, name: str) -> str | None:
    """Return the name that a later text of the cell has in place of `name`, if nothing else has changed; else
    None.
    """
    for found in re.findall(r"^(?:def|class) +(\w+)", new, re.MULTILINE):
        if found != name and re.sub(rf"\b{found}\b", name, new).strip() == old.strip():
            return found
    return None
