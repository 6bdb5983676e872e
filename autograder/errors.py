"""Errors: those of the user, and the reporting of our own.

UserError
    Bad input, or something that the machine lacks. Its text is one clear sentence that says what is wrong and what to
    do; a notebook shows only that, the command line prints it and exits with 2.
OwnFault
    An error of the autograder that was found in recorded data; its text says where it was raised.
place_of, keep_trace
    Any other exception is an error of the autograder, and never the fault of an answer that is being judged.
"""

import os
import tempfile
import traceback
from pathlib import Path
from textwrap import wrap

OUR_ERROR = "an error of the autograder itself"
# Characters: JupyterLab breaks lines wider than its window at 200 % in the middle of a word.
NARROW = 60
PACKAGE = Path(__file__).resolve().parent


class UserError(Exception):
    """Bad input, or something that the machine lacks, in one clear sentence."""

    def _render_traceback_(self) -> list[str]:
        return narrow_lines(str(self))


def narrow_lines(text: str) -> list[str]:
    """Return the lines of a text for an error in a notebook, broken between words."""
    return [part for line in text.splitlines() for part in wrap(line, NARROW, break_long_words=False)]


class UnknownName(AttributeError):
    """A name that a module of ours does not have, in one clear sentence."""

    _render_traceback_ = UserError._render_traceback_


class OwnFault(Exception):
    """An error of the autograder that was found in recorded data; its text says where it was raised."""


def keep_trace(trace: str) -> str:
    """Write a traceback into a new temporary file, and return a sentence with its path; empty if none can be
    written.
    """
    try:
        file, path = tempfile.mkstemp(prefix="autograder-error-", suffix=".txt")
        with os.fdopen(file, "w", encoding="utf-8", errors="replace") as opened:
            opened.write(trace)
        return f" Its traceback is in {path}."
    except OSError:
        return ""


def place_of(error: BaseException) -> str:
    """Return the type and the origin of an exception: "KeyError in judge/rules.py, line 12".

    subtle: the exception's text is left out, because it may contain anything, including a student's text.
    """
    if isinstance(error, OwnFault):
        return str(error)
    name = type(error).__name__
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(PACKAGE):
            return f"{name} in {Path(frame.filename).relative_to(PACKAGE).as_posix()}, line {frame.lineno}"
    return name
