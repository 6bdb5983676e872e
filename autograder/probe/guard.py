"""Makes one call of a student's code and survives anything that the code does.

The call is limited in time, its prints and warnings are dropped, and every exception except KeyboardInterrupt
comes back as data, including those of `sys.exit` and endless recursion.
"""

import ast
import dis
import inspect
import linecache
import textwrap
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from autograder.errors import place_of
from autograder.faults import is_own_fault, is_students
from autograder.isolation import quiet
from autograder.probe.limit import OutOfTime, time_limit
from autograder.values import Encoded

T = TypeVar("T")

LONGEST_TEXT = 300


def guarded(
    call: Callable[[], T], seconds: float, told: float | None = None
) -> tuple[T, None] | tuple[None, Encoded]:
    """Return (value, None) if `call()` returns a value. If it raises an error other than KeyboardInterrupt,
    return (None, error), with the error as plain data.

    If the error is a fault of the autograder, its field `ours` says where it was raised. If the call runs out
    of time, the error's text names `told` seconds if given, else `seconds`.
    """
    try:
        with quiet(), time_limit(seconds):
            return call(), None
    except OutOfTime as ring:
        # subtle: the timer fires again while the call unwinds; only its first error knows the student's line.
        error = ring
        while isinstance(error.__context__, OutOfTime):
            error = error.__context__
        return None, describe(error) | {
            "type": "OutOfTime",
            "text": f"no answer after {told or seconds:g} seconds",
        }
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the answer raises, SystemExit included
        return None, describe(error) | ({"ours": place_of(error)} if is_own_fault(error) else {})


def describe(error: BaseException) -> dict[str, Any]:
    """Return the type and the text of an exception, the student's line at which it arose, and more, as plain
    data.
    """
    line, code, function = _students_line(error)
    return {
        "type": str(type(error).__name__)[:LONGEST_TEXT],
        "text": _text(error),
        "line": line,
        "code": code,
        "function": function,
        "raised": _raised_by_student(error),
        "unwritten": isinstance(error, NotImplementedError) and _is_unwritten(error),
        "bases": [kind.__name__[:LONGEST_TEXT] for kind in type(error).__mro__],
    }


def _raised_by_student(error: BaseException) -> bool:
    """Return whether a `raise` or `assert` in the student's code raised the error."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or not is_students(step.tb_frame.f_code.co_filename):
        return False
    return step.tb_frame.f_code.co_code[step.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _is_unwritten(error: BaseException) -> bool:
    """Return whether the function that raised the error is still a stub, with nothing but `raise`, `pass` and
    bare expressions such as a docstring or a call of `super().__init__`. If its source cannot be read, return
    True as well.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    # subtle: inspect.getsource gives the same, but first looks through every module, at 2 ms a time.
    below = linecache.getlines(frame.f_code.co_filename)[frame.f_code.co_firstlineno - 1 :]
    try:
        (function,) = ast.parse(textwrap.dedent("".join(inspect.getblock(below)))).body
    except (OSError, SyntaxError, ValueError, TypeError):
        return True
    lines = [line for line in getattr(function, "body", ()) if not isinstance(line, ast.Expr)]
    return all(isinstance(line, (ast.Raise, ast.Pass)) or _is_super_init(line) for line in lines)


def _is_super_init(line: ast.stmt) -> bool:
    return "super().__init__" in ast.unparse(line)


def _text(error: BaseException) -> str:
    try:
        if isinstance(error, KeyError):
            return repr(error.args[0])[:LONGEST_TEXT]
        return str(error).strip()[:LONGEST_TEXT]
    except BaseException:  # `__str__` may be the student's
        return ""


def _students_line(error: BaseException) -> tuple[int | None, str, str]:
    if isinstance(error, SyntaxError):
        return error.lineno, (error.text or "").strip()[:LONGEST_TEXT], ""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        if is_students(file):
            # subtle: some instructions belong to no line, and a limit may be reached at any of them.
            code = linecache.getline(file, line or 0).strip()[:LONGEST_TEXT]
            return line, code, frame.f_code.co_qualname[:LONGEST_TEXT]
    return None, "", ""
