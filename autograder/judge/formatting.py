"""Formats shapes, values, arguments and errors for messages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from autograder.schema.case import Case, Given, Module, Optimizer
from autograder.schema.exercise import Exercise
from autograder.schema.twice import argument_of
from autograder.values import Encoded
from autograder.values.encode import length_of

LONGEST_ERROR = 160
MOST_NAMES = 8
LONGEST_LIST = 160


def name_of(exercise: Exercise, key: str) -> str:
    """Return a readable name for the key of an encoded tensor. The key "0" stands for the first argument, and
    "1.weight" for a part of the second.
    """
    head, dot, rest = key.partition(".")
    names = exercise.parameters
    if head.isdigit() and int(head) < len(names):
        head = names[int(head)]
    return f"{head}{dot}{rest}"


def arguments_of(exercise: Exercise, case: Case) -> list[tuple[str, Any]]:
    """Return (name, value) of each argument of a case, in order."""
    return [*zip(exercise.parameters, case.args, strict=False), *case.kwargs.items()]


def format_arguments(exercise: Exercise, case: Case) -> str:
    """Return a case's arguments as text, tensors by shape: "q (3, 5), k (4, 5)". For a class, the call of its
    constructor comes first. Arguments that are None are left out, and so are functions that only the case's
    script uses.
    """
    parts = [
        name if isinstance(value, Given) and value.name == name else f"{name} {format_value(value)}"
        for name, value in arguments_of(exercise, case)
        if value is not None and (not isinstance(value, Given) or name in exercise.parameters)
    ]
    if case.init:
        init = case.init.items() if isinstance(case.init, Mapping) else enumerate(case.init)
        made = ", ".join(
            f"{key}={_made_of(one)}" if isinstance(key, str) else _made_of(one) for key, one in init
        )
        return f"{exercise.name}({made})" + (f" on {', '.join(parts)}" if parts else "")
    return ", ".join(parts)


def _made_of(value: Any) -> str:
    """Return a constructor's argument as text: a module by its class, a list or tuple one item at a time,
    anything else as `str` gives it.
    """
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_made_of, value))}]"
    return format_value(value) if isinstance(value, Module) else str(value)


def format_value(value: Any) -> str:
    """Return a value as text: a tensor by its shape, with a remark if it is not contiguous; a tiny tensor of
    integers or Booleans by its entries; a module by its class; a number or a string by its value.
    """
    if isinstance(value, torch.Tensor):
        if value.numel() <= 4 and not value.is_floating_point():
            return str(value.tolist())
        return format_shape(value.shape) + ("" if value.is_contiguous() else " not contiguous")
    if isinstance(value, (Module, Optimizer)):
        return "nn.Linear" if value.kind == "Linear" else value.kind
    if isinstance(value, Given):
        return f"= {value.name}"
    if isinstance(value, (tuple, list)) and _holds_tensors(value):
        return f"({', '.join(format_value(item) for item in value)})"
    if isinstance(value, dict) and _holds_tensors(value):
        return f"{{{', '.join(f'{key or repr(key)}: {format_value(item)}' for key, item in value.items())}}}"
    return f"= {shorten(repr(value))}"


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (tuple, list, dict)):
        return any(map(_holds_tensors, value.values() if isinstance(value, dict) else value))
    return isinstance(value, torch.Tensor)


def format_shape(shape: Iterable[int]) -> str:
    """Return a shape as text: "(3, 5)", "(3,)" or "()"."""
    return str(tuple(int(n) for n in shape))


def sizes_of_axes(exercise: Exercise, case: Case) -> dict[str, int]:
    """Return a dict from the letters in the exercise's `shapes` to their sizes, which are read from a case's
    arguments.
    """
    sizes: dict[str, int] = {}
    for name, value in arguments_of(exercise, case):
        axes = _axes(exercise, argument_of(name))
        if isinstance(value, torch.Tensor) and axes:
            sizes |= dict(zip(reversed(axes), (int(n) for n in reversed(value.shape)), strict=False))
    return sizes


def _axes(exercise: Exercise, name: str) -> list[str]:
    """Return the letters of an argument's axes, without a leading "..."."""
    axes = exercise.shapes.get(name, "").split()
    return axes[1:] if axes[:1] == ["..."] else axes


def format_named_shape(exercise: Exercise, case: Case, shape: Sequence[int]) -> str:
    """Return a shape with the letters of its axes: "(N, M) = (3, 4)". If a size has no letter, or more than
    one, or is also that of an integer argument, return the shape without letters.
    """
    integers = {name: value for name, value in arguments_of(exercise, case) if type(value) is int}
    by_size: dict[int, list[str]] = {}
    for name, size in (integers | sizes_of_axes(exercise, case)).items():
        by_size.setdefault(size, []).append(name)
    if not shape or any(len(by_size.get(int(n), ())) != 1 for n in shape):
        return format_shape(shape)
    return f"({', '.join(by_size[int(n)][0] for n in shape)}) = {format_shape(shape)}"


def format_expected_shape(exercise: Exercise, shape: Sequence[int]) -> str:
    """Return the expected shape as text, with the letters that the exercise's `shapes` gives to the result.
    If there is not exactly one letter for each axis, return the shape without letters.
    """
    axes = _axes(exercise, "return")
    if not axes or len(axes) != len(shape):
        return format_shape(shape)
    return f"({', '.join(axes)}) = {format_shape(shape)}"


def other_parts(expected: Mapping[str, Sequence[int]], found: Mapping[str, Sequence[int]]) -> tuple[str, str]:
    """Return an observation and a question about how the parameters found differ from those expected. Both
    arguments map names to shapes.
    """
    parts, actual = (
        list(dict.fromkeys(name.partition(".")[0] for name in names)) for names in (expected, found)
    )
    if any(part not in actual for part in parts):
        return (
            f"Expected parts: {_listed(parts)}; found: {_listed(actual)}.",
            "Which names does your module's named_parameters() list?",
        )
    if bare := [part for part in parts if part in found and part not in expected]:
        inside = [name.partition(".")[2] for name in expected if name.partition(".")[0] == bare[0]]
        return (
            f"{bare[0]} should be a module with {_listed(inside)}, not a parameter.",
            "Which layer of torch.nn does the docstring name?",
        )
    if missing := [name for name in expected if name not in found]:
        return (
            f"Parameters are missing: {_listed(missing)}.",
            "Which argument of that part leaves them out?",
        )
    name = next(name for name in expected if list(expected[name]) != list(found[name]))
    return (
        f"`{name}` should have shape {format_shape(expected[name])}; yours has {format_shape(found[name])}.",
        "How many features go into that part, and how many come out?",
    )


def _listed(names: list[str]) -> str:
    shown = names[:MOST_NAMES]
    while len(shown) > 1 and len(", ".join(shown)) > LONGEST_LIST:
        shown.pop()
    return (", ".join(shown) + (", ..." if len(names) > len(shown) else "")) or "none"


def format_numbers(expected: torch.Tensor, actual: torch.Tensor) -> tuple[str, str]:
    """Return two entries as text with enough digits (at least four) to show that they differ; True or False
    for Boolean entries.
    """
    if expected.dtype is torch.bool:
        return str(bool(expected)), str(bool(actual))
    return _told_apart(float(expected), float(actual), (4, 6, 9))


def format_index(index: Iterable[int]) -> str:
    """Return an index as text, such as "[0, 2]"; an empty string for the index of a scalar."""
    return f"[{', '.join(str(int(i)) for i in index)}]" if index else ""


def format_kind(value: Encoded) -> str:
    """Return the kind of a returned value in words: "a tuple of 2", "nothing (None)", "a float"."""
    kind = value["kind"]
    if kind == "None":
        return "nothing (None)"
    if kind in ("tuple", "list"):
        return f"a {kind} of {length_of(value)}"
    if kind == "tensor":
        return "a tensor" if value["class"] in ("Tensor", "Parameter") else f"a {value['class']}"
    name = str(value.get("class", kind))
    return with_article(name)


def with_article(name: str) -> str:
    """Return the name of a type with its article: "an int", "an ndarray", "a list"."""
    begins_with_a_vowel = name[:1].lower() in "aeiou" or name == "ndarray"
    return f"an {name}" if begins_with_a_vowel else f"a {name}"


def format_times(count: int) -> str:
    """Return a count in words: "not at all", "once", "3 times"."""
    return {0: "not at all", 1: "once"}.get(count, f"{count} times")


def shorten(text: str, most: int = 60) -> str:
    """Return the text, cut to at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def format_difference(expected: Any, actual: Any) -> tuple[str, str]:
    """Return two differing plain values as text; for strings and bytes, only the part around the first
    difference.
    """
    if isinstance(expected, float):
        return _told_apart(expected, actual, (6, 9, 17))
    if not isinstance(expected, (str, bytes)):
        return str(expected), str(actual)
    differing = (i for i, (one, other) in enumerate(zip(expected, actual, strict=False)) if one != other)
    start = max(0, next(differing, min(len(expected), len(actual))) - 10)
    first, second = repr(expected[start : start + 30]), repr(actual[start : start + 30])
    dots = "..." if start else ""
    return f"{dots}{first}", f"{dots}{second}"


def _told_apart(one: float, other: float, digits: Iterable[int]) -> tuple[str, str]:
    """Return two numbers as text, with as many significant digits as the first entry of `digits` that makes
    the texts differ. If no entry does, use the first one.
    """
    pairs = [(f"{one:.{count}g}", f"{other:.{count}g}") for count in digits]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def format_error(error: Encoded) -> str:
    """Return the type and the text of an encoded exception on one line, without the hints that a library
    appends.
    """
    text = (error.get("text") or "").partition("\n")[0].partition(" Hint:")[0].partition(": [torch.")[0]
    if len(text) > LONGEST_ERROR:
        text = text[:LONGEST_ERROR].rpartition(" ")[0] + " ..."
    return f"{error['type']}: {text}" if text else error["type"]
