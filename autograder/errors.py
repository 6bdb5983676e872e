"""User errors, and the reporting of errors in the autograder itself.

UserError
    Bad input, or something that the machine lacks. Its text is one clear sentence that says what is wrong and
    what to do. A notebook shows only this sentence; the command line prints it and exits with status 2.
OwnFault
    An error of the autograder itself that was found in the record of a call to an answer. Its text says where
    the error was raised.
place_of, keep_trace
    For reporting any other exception, which is an error of the autograder and never the fault of the answer
    that is being judged.
"""

import os
import tempfile
import traceback
from pathlib import Path
from textwrap import wrap

OUR_ERROR = "an error of the autograder itself"
# In characters: at 200 % zoom, JupyterLab breaks lines wider than its window in the middle of a word.
NARROW = 60
PACKAGE = Path(__file__).resolve().parent


class UserError(Exception):
    """Raised for bad input, or for something that the machine lacks; its text is one clear sentence."""

    def _render_traceback_(self) -> list[str]:
        return narrow_lines(str(self))


def narrow_lines(text: str) -> list[str]:
    """Return the text as lines narrow enough for an error in a notebook, broken between words."""
    return [part for line in text.splitlines() for part in wrap(line, NARROW, break_long_words=False)]


class UnknownName(AttributeError):
    """Raised for a name that a module of the course does not have; its text is one clear sentence."""

    _render_traceback_ = UserError._render_traceback_


class OwnFault(Exception):
    """Raised for an error of the autograder itself that was found in the record of a call to an answer. Its
    text says where the error was raised.
    """


def keep_trace(trace: str) -> str:
    """Write a traceback to a new temporary file, and return a sentence with the file's path, or an empty string
    if no file can be written.
    """
    try:
        file, path = tempfile.mkstemp(prefix="autograder-error-", suffix=".txt")
        with os.fdopen(file, "w", encoding="utf-8", errors="replace") as opened:
            opened.write(trace)
        return f" Its traceback is in {path}."
    except OSError:
        return ""


def place_of(error: BaseException) -> str:
    """Return the type of an exception and the last line of this package in its traceback, if there is one:
    "KeyError in judge/rules.py, line 12". For an OwnFault, return its text.

    subtle: the exception's message is left out, because it may contain anything, including a student's text.
    """
    if isinstance(error, OwnFault):
        return str(error)
    name = type(error).__name__
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(PACKAGE):
            return f"{name} in {Path(frame.filename).relative_to(PACKAGE).as_posix()}, line {frame.lineno}"
    return name
