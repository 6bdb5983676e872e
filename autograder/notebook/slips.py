"""Explains names that a learner mistyped, or used before running the cell that defines them.

subtle: an unknown name stops the cell before any of our code is called. So a handler for NameError is
installed, once per session of a notebook; all other errors are shown as before.
"""

import linecache
import re
import traceback
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from types import TracebackType
from typing import Any

import autograder
from autograder.errors import narrow_lines
from autograder.exercises import all_exercises, exercises_of, find_by_name
from autograder.notebook.running import running_notebook

OUR_CALL = re.compile(r"\s*(?:check|hint|draw|compare)\(")


def meant(wrong: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the exercise whose name is closest to `wrong`, trying first the
    exercises of the lesson that most of the `known` names belong to. If none is close, the sentence names the
    exercises of that lesson or, if no `known` name belongs to a lesson, says where to find an exercise's
    name.
    """
    here = _exercises_here(known)
    for names in (here, [one.name for one in all_exercises()]):
        lower = {name.lower(): name for name in names}
        if near := get_close_matches(wrong.lower(), lower, n=1):
            return f"Did you mean `{lower[near[0]]}`?"
    if here:
        return f"The exercises of this lesson are {', '.join(here)}."
    return "An exercise's name is in its cell, after `def` or `class`."


def explain_names() -> None:
    """Install the handler for NameError in a notebook that has no handlers of its own. Then, for example, a
    check that runs before the cell of its answer shows one sentence instead of a traceback.
    """
    shell = running_notebook()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((NameError,), _show)


def _exercises_here(known: Iterable[str]) -> list[str]:
    found = Counter(one.lesson for one in map(find_by_name, known) if one is not None)
    if not found:
        return []
    ((lesson, _),) = found.most_common(1)
    return [one.name for one in exercises_of(lesson)]


def _show(
    shell: Any, kind: type, error: NameError, trace: TracebackType, tb_offset: int | None = None
) -> None:
    if why := _why(error, trace, shell.user_ns):
        told = narrow_lines(why)
        error._render_traceback_ = lambda: told  # type: ignore[attr-defined]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)


def _why(error: NameError, trace: TracebackType, names: dict[str, Any]) -> str:
    """Return what to do about an undefined name in a cell; an empty string if the name is used inside a
    function, or if there is nothing to say about it.
    """
    *_, (frame, line) = traceback.walk_tb(trace)
    if frame.f_code.co_name != "<module>" or frame.f_globals is not names:
        return ""
    name = error.name or ""
    if find_by_name(name):
        return f"`{name}` is not defined yet. Run the cell that defines it, then run this one again."
    if near := get_close_matches(name.lower(), autograder.MODULES, n=1, cutoff=0.8):
        return f"`{name}` is not defined. Did you mean `{near[0]}`?"
    if OUR_CALL.match(linecache.getline(frame.f_code.co_filename, line)):
        return f"`{name}` is not defined. {meant(name, names)}"
    return ""
