"""Cases in which a function or model that is passed to the answer raises an error, which must reach the
caller.

A function raises in its first call in one case and in its second call in another, when part of the result
exists already. A model raises only in its first call, because the answer may pass it several inputs in one
batch. Layers do not raise, because an answer may read their weights instead of calling them. A function or
model raises only once in a case, so that an answer that catches the error and goes on still comes to an end.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from autograder.schema.case import (
    REFUSALS,
    SIDE_EFFECTS,
    VALUES,
    Call,
    Case,
    Given,
    Kept,
    Module,
    named_arguments,
)
from autograder.schema.twice import is_plain

ANY_ERROR = "Exception"  # an answer may replace the error with one of its own
MODELS = ("model", "policy", "reference")
IN_CALL = {1: "raises an error", 2: "raises an error in its second call"}

FUNCTION = """
_calls, _{name} = [], {name}

def {name}(*args, **kwargs):
    _calls.append(1)
    if len(_calls) == {call}:
        raise RuntimeError("{name} has failed")
    return _{name}(*args, **kwargs)
"""
MODEL = """
_calls = []

class Raising{name}({name}):
    def forward(self, *args, **kwargs):
        _calls.append(1)
        if len(_calls) == 1:
            raise RuntimeError("{name} has failed")
        return super().forward(*args, **kwargs)
"""


def raising_cases(cases: list[Case], parameters: tuple[str, ...], aspects: Collection[str]) -> Iterator[Case]:
    """Yield the cases in which a function or model that the answer receives raises an error. Each is made
    from the first ordinary case in which the answer receives this function or model.
    """
    aspect = next((one for one in (SIDE_EFFECTS, REFUSALS) if one in aspects), VALUES)
    for name in parameters:
        giving = (case for case in cases if is_plain(case) and _is_called(case, name, parameters))
        case = next(giving, None)
        if case is None:
            continue
        key = _key(case, name, parameters)
        is_function = isinstance(named_arguments(case)[key], Given)
        for call in IN_CALL if is_function else [1]:
            given = _with_raising(case, key, call)
            yield replace(given, family=f"`{name}` {IN_CALL[call]}", aspect=aspect)


def _with_raising(case: Case, key: str, call: int) -> Case:
    """Return the case with the argument `key` replaced by a function or model that raises in call number
    `call`.
    """
    plain: dict[str, Any] = dict.fromkeys(("gradients", "observe", "repeats", "modes", "float64"), False)
    args = tuple(_raising(arg, call) if str(i) == key else arg for i, arg in enumerate(case.args))
    kwargs = {name: _raising(arg, call) if name == key else arg for name, arg in case.kwargs.items()}
    return replace(
        case,
        args=args,
        kwargs=kwargs,
        script=_until_the_answer(case),
        calls=(),
        raises=ANY_ERROR,
        **plain,
    )


def is_raising(case: Case) -> bool:
    """Return whether the case expects an error from a function or model that the answer receives."""
    return case.raises == ANY_ERROR


def _key(case: Case, name: str, parameters: tuple[str, ...]) -> str:
    """Return the name under which the case holds an argument: its keyword, or its position as text."""
    return name if name in case.kwargs else str(parameters.index(name))


def _until_the_answer(case: Case) -> tuple[Call, ...]:
    """Return the script up to the first call of the answer, because a later call could fail due to what the
    answer returned.
    """
    last = next((place for place, call in enumerate(case.script) if call.to == "answer"), -1)
    return case.script[: last + 1]


def _is_called(case: Case, name: str, parameters: tuple[str, ...]) -> bool:
    """Return whether the case passes a function or a model to the answer under this name."""
    key = _key(case, name, parameters)
    value = named_arguments(case).get(key)
    is_model = isinstance(value, Module) and bool(value.code) and name in MODELS
    calls = [call for call in case.script if call.to == "answer"]
    given = [arg for call in calls for arg in (*call.args, *call.kwargs.values())]
    return (isinstance(value, Given) or is_model) and (not case.script or Kept(key) in given)


def _raising(value: Given | Module, call: int) -> Given | Module:
    if isinstance(value, Given):
        return replace(value, code=value.code + FUNCTION.format(name=value.name, call=call))
    return replace(value, kind=f"Raising{value.kind}", code=value.code + MODEL.format(name=value.kind))
