"""The case of two successive calls, whose results are both read after the second call.

A later call must neither change an earlier result nor return it for different arguments. If the exercise
draws its sizes, both calls have the same sizes, so that a buffer kept from the first call would fit the
second. If modules are among the arguments, a third call passes those of the first call again, with changed
weights.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import torch

from autograder.schema.case import (
    SIDE_EFFECTS,
    SPECS,
    VALUES,
    Call,
    Case,
    Given,
    Kept,
    Module,
    Optimizer,
    named_arguments,
)
from autograder.values.compare import Match
from autograder.values.pack import pack

TWICE = "two calls in a row"
CALLS = FIRST, SECOND = "first", "second"


def called_twice(cases: list[Case], again: Iterable[Case], parameters: tuple[str, ...]) -> list[Case]:
    """Return a list of one case, in which one instance answers two calls with different arguments, or an
    empty list if no two cases can be combined.

    The first choice is the first case, combined with the first of `again`, which has the same sizes. After
    that, pairs of plain cases are tried, those most alike in size first.
    """
    pairs = chain(zip(cases[:1], again, strict=False), _most_alike_first(cases))
    pair = next((pair for pair in pairs if _can_follow(*pair)), None)
    return [] if pair is None else [_joined(*pair, parameters)]


def _most_alike_first(cases: list[Case]) -> Iterator[tuple[Case, Case]]:
    yield from sorted(combinations(filter(is_plain, cases), 2), key=_alike, reverse=True)


def _can_follow(first: Case, second: Case) -> bool:
    if not (is_plain(first) and is_plain(second) and repr(first.init) == repr(second.init)):
        return False
    given, other = (pack((case.args, dict(case.kwargs)), SPECS) for case in (first, second))
    return given != other


def _alike(pair: tuple[Case, Case]) -> list[bool]:
    """Return a sort key for a pair of cases: for each argument, whether it has the same size in both. The
    first arguments matter most.
    """
    sizes = ([_size(arg) for arg in (*case.args, *case.kwargs.values())] for case in pair)
    return [one == other for one, other in zip(*sizes, strict=False)]


def _size(arg: object) -> object:
    return (
        tuple(arg.shape)
        if isinstance(arg, torch.Tensor)
        else len(arg)
        if isinstance(arg, (list, str))
        else arg
    )


def is_plain(case: Case) -> bool:
    """Return whether the case is an ordinary one, which judges values."""
    return case.aspect == VALUES and not (
        case.slow or case.raises or case.new or case.result_mask or case.entries
    )


def _joined(first: Case, second: Case, parameters: tuple[str, ...]) -> Case:
    both = [_renamed(case, which, parameters) for case, which in zip((first, second), CALLS, strict=True)]
    joined: dict[str, Any] = {
        "kwargs": both[0].kwargs | both[1].kwargs,  # type: ignore[operator]
        "script": both[0].script + both[1].script,
        "changes": both[0].changes + both[1].changes,
        "expect": both[0].expect | both[1].expect,  # type: ignore[operator]
    }
    if not first.script:
        _add_call_after_training(joined, both[0])
    needs = tuple(dict.fromkeys(first.needs + second.needs))
    plain: dict[str, Any] = {"args": (), "calls": (), "gradients": False, "observe": False, "repeats": False}
    return replace(first, family=TWICE, aspect=SIDE_EFFECTS, needs=needs, **joined, **plain)


CHANGED = """
def changed(*modules):
    # As training does: other weights in the same modules.
    with torch.no_grad():
        for module in modules:
            for parameter in module.parameters():
                parameter.mul_(0.75)
"""
LATER = "third"


def _add_call_after_training(joined: dict[str, Any], first: Case) -> None:
    """Add to `joined` a third call: the first one again, after the weights of the modules among its arguments
    have changed. Do nothing if there are no such modules, or if the case itself changes one of them.
    """
    modules = tuple(name for name, value in first.kwargs.items() if isinstance(value, Module))
    if modules and not set(modules) & set(first.changes):
        change = Call(tuple(map(Kept, modules)), to="changed")
        joined["kwargs"] |= {"changed": Given("changed", CHANGED)}
        joined["script"] += (change, replace(first.script[0], keep=LATER))
        joined["changes"] += modules
        joined["expect"] |= {LATER: first.expect[FIRST]} if FIRST in first.expect else {}  # type: ignore[operator, index]


def _renamed(case: Case, which: str, parameters: tuple[str, ...]) -> Case:
    """Return the case as part of a longer script: the names of its arguments and results get `which`, the
    name of the call that they belong to, as a prefix.
    """
    positional = dict(zip(map(str, range(len(case.args))), parameters, strict=False))
    given = named_arguments(case)
    names = {name: f"{which}_{positional.get(name, name)}" for name in given} | {"return": which}

    def name_of(name: str) -> str:
        return name if name == "answer" else names.get(name, f"{which} {name}")

    kwargs = {
        names[name]: replace(arg, of=name_of(arg.of)) if isinstance(arg, Optimizer) else arg
        for name, arg in given.items()
    }
    calls = case.script or (_one_call(case),)
    script = tuple(_renamed_call(call, name_of) for call in calls)
    shown = [call.keep for call in calls if call.keep]
    expect = {name_of(name): match for name, match in _matches(case, shown).items()}
    return replace(
        case, kwargs=kwargs, script=script, changes=tuple(map(name_of, case.changes)), expect=expect
    )


def _renamed_call(call: Call, name_of: Callable[[str], str]) -> Call:
    def argument(arg: Any) -> Any:
        return replace(arg, name=name_of(arg.name)) if isinstance(arg, Kept) else arg

    kwargs = {name: argument(arg) for name, arg in call.kwargs.items()}
    keep = call.keep and name_of(call.keep)
    return replace(call, args=tuple(map(argument, call.args)), kwargs=kwargs, keep=keep, to=name_of(call.to))


def _matches(case: Case, shown: list[str]) -> Mapping[str, Match]:
    """Return how each kept result is compared, by name."""
    return dict.fromkeys(shown, case.expect) if isinstance(case.expect, Match) else case.expect


def _one_call(case: Case) -> Call:
    positional = tuple(Kept(str(place)) for place in range(len(case.args)))
    return Call(positional, {name: Kept(name) for name in case.kwargs}, keep="return")


def argument_of(name: str) -> str:
    """Return the name of an argument without the prefix that it has in the case of two calls: "x" for
    "first_x".
    """
    return next((name.removeprefix(f"{which}_") for which in CALLS if name.startswith(f"{which}_")), name)
