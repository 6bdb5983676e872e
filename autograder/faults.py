"""Decides from an exception's traceback whether the learner's code or ours is to blame.

The innermost frame outside libraries decides, so what a library raises is blamed on its caller. A function of
ours that only handles the answer's objects is marked as a `trust_boundary`: an exception raised in it is
blamed on the answer.
"""

import inspect
import os
import traceback
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache, wraps
from types import CodeType, UnionType
from typing import TYPE_CHECKING, ParamSpec, TypeVar, get_args

from autograder.errors import OUR_ERROR, OwnFault, UserError, narrow_lines, place_of

if TYPE_CHECKING:
    from autograder.values import Record

OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
GIVEN = "<given>"  # the file name of functions and modules that a case passes to the answer
NOT_THE_STUDENTS = (
    OURS,
    GIVEN,
    os.sep + "site-packages" + os.sep,
    os.path.dirname(os.__file__) + os.sep,
    "<frozen",
    "<__array_function__",
    "<string>",
)
BROKEN = """Nothing is wrong with your code: this is {ours} ({place}).
Please show these lines to whoever gave you the notebook."""
_TRUST_BOUNDARIES: set[CodeType] = set()
Function = TypeVar("Function", bound=Callable)
P = ParamSpec("P")
T = TypeVar("T")


def trust_boundary(function: Function) -> Function:
    """Mark a function of ours that handles the answer's objects: an exception raised in it is blamed on the
    answer.
    """
    _TRUST_BOUNDARIES.add(function.__code__)  # type: ignore[attr-defined]
    return function


@lru_cache(1000)
def is_students(filename: str) -> bool:
    """Return whether the code in a file of this name is the student's, rather than ours or a library's."""
    return not any(part in filename for part in NOT_THE_STUDENTS)


def is_own_fault(error: BaseException) -> bool:
    """Return whether our own code is to blame for an error that ended a call of an answer. The course's own
    answers, right and wrong, are treated like a learner's. An answer that exhausts the stack or the memory is
    always to blame.
    """
    codes = _codes(error)
    theirs = [is_students(code.co_filename) or _is_of_an_exercise(code.co_filename) for code in codes]
    if isinstance(error, (RecursionError, MemoryError)) and any(theirs):
        return False  # the answer exhausted a resource, wherever the error was raised
    return bool(codes) and not theirs[-1] and codes[-1] not in _TRUST_BOUNDARIES


def _codes(error: BaseException) -> list[CodeType]:
    """Return the code objects in the error's traceback, innermost last, leaving out those of libraries."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return [code for code in codes if code.co_filename.startswith(OURS) or is_students(code.co_filename)]


def _is_of_an_exercise(filename: str) -> bool:
    _, found, rest = filename.partition(OURS + "exercises" + os.sep)
    return filename.endswith("<mistake>") or (bool(found) and os.sep in rest)


def raise_own_fault(records: "Iterable[Record]") -> None:
    """Raise OwnFault if one of the records contains an error of the autograder itself."""
    for record in records:
        for error in (record.get("error", {}), *record["steps"].values()):
            if error.get("ours"):
                raise OwnFault(error["ours"])


class Broken(Exception):
    """Raised if a function that a learner called failed because of an error in the autograder. A notebook
    shows only the message.
    """

    def _render_traceback_(self) -> list[str]:
        return narrow_lines(str(self))


def entry_point(example: str = "") -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for functions that learners call. It makes them report errors in a few words,
    without a traceback.

    If a call does not fit the signature, the message shows one that does: `example`, or the function's name
    with the arguments that it requires. An error of the autograder is reported as such, with its place in the
    code, and an interrupted call is reported as interrupted. Errors raised by the learner's own code are
    passed on unchanged.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        call = example or f"{function.__name__}({', '.join(_required(signature))})"
        name = call.partition("(")[0]

        @wraps(function)
        def entered(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                if why := _misfit(signature, args, kwargs):
                    raise UserError(f"{name}: {why}. Write it like this: {call}")
                return function(*args, **kwargs)
            except KeyboardInterrupt as stop:
                told = narrow_lines(f"You stopped {name} before it was done. Nothing has changed.")
                stop._render_traceback_ = lambda: told  # type: ignore[attr-defined]
                raise
            except Exception as error:  # a learner sees a sentence, never a traceback
                if hasattr(error, "_render_traceback_"):  # it renders itself
                    raise
                deepest = _codes(error)[-1]
                if is_students(deepest.co_filename) or deepest in _TRUST_BOUNDARIES:
                    raise
                raise Broken(BROKEN.format(ours=OUR_ERROR, place=place_of(error))) from error

        return entered

    return decorated


def _required(signature: inspect.Signature) -> list[str]:
    parameters = signature.parameters.values()
    return [one.name for one in parameters if one.default is one.empty and one.kind != one.VAR_KEYWORD]


def _misfit(signature: inspect.Signature, args: tuple, kwargs: dict[str, object]) -> str:
    """Return why a call does not fit a signature, or an empty string if it does.

    Types are checked only for parameters that take a string, because the callee gives a better report if the
    wrong object is passed where a function or a tensor is expected.
    """
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        parameters = signature.parameters
        unknown = next((name for name in kwargs if name not in parameters), "")
        near = get_close_matches(unknown, parameters, n=1)
        return str(error) + (f" (did you mean `{near[0]}`?)" if near else "")
    for name, value in bound.items():
        parameter = signature.parameters[name]
        values = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
        kind = parameter.annotation
        kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        if str in kinds and all(isinstance(kind, type) for kind in kinds):
            wrong = [type(one).__name__ for one in values if not isinstance(one, kinds)]
            if wrong:
                return f"`{name}` cannot be of type {wrong[0]}"
    return ""
