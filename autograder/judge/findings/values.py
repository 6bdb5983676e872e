"""Compares a value with the expected one and describes the difference: type, length, shape, numbers
or dtype.
"""

from collections.abc import Callable

import torch

from autograder.judge import formatting
from autograder.judge.findings.errors import raised
from autograder.judge.findings.finding import (
    DTYPE,
    FINITE,
    GRADIENT,
    NUMBERS,
    SHAPE,
    TYPE,
    CaseContext,
    Finding,
)
from autograder.schema.case import CALLS_OF, DTYPES, float_type, tensors_in
from autograder.schema.twice import TWICE
from autograder.values import Encoded
from autograder.values.compare import EXACT, Difference, difference
from autograder.values.encode import items_of, length_of

OWN_TYPE = "Which line makes a tensor with a fixed dtype instead of the input's?"
ITS_TYPE = "Which line decides this dtype?"
SEVERAL = "Which results does the docstring list, and in which order?"
SIGNATURE = "What type of result does the docstring ask for?"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PARTS_SHOWN = 4  # items of a tuple that are shown themselves


def wrong_value(context: CaseContext, step: str, expected: Encoded, actual: Encoded) -> Finding | None:
    """Return the finding for an error, or for the first difference from the expected value; None if there is
    neither. Types, lengths and shapes are compared before numbers.
    """
    if actual["kind"] == "error":
        return raised(context, actual)
    found = difference_from(context, expected, actual)
    return None if found is None else DESCRIBE[found.what](context, step, found)


def difference_from(context: CaseContext, expected: Encoded, actual: Encoded) -> Difference | None:
    """Return the first difference from the expected value. If the result is a dict that the case makes (see
    `Case.returns_dict`), each item is compared with the expected item of the same key.
    """
    case, dtype = context.case, float_type(context.case)
    if not case.returns_dict or expected["kind"] != "dict" or actual["kind"] != "dict":
        return difference(expected, actual, case.match_of(), dtype)
    if keys := difference(_keys_alone(expected), _keys_alone(actual), EXACT):
        return keys
    found = dict(zip(actual["keys"], actual["items"], strict=True))
    for key, item in zip(expected["keys"], expected["items"], strict=True):
        if one := difference(item, found[key], case.match_of(key), dtype, (key,)):
            return one
    return None


def _keys_alone(value: Encoded) -> Encoded:
    return value | {"items": [{"kind": "None"}] * len(value["keys"])}


def _place(context: CaseContext, found: Difference) -> str:
    """Return the position of the difference in words: "The result", "Item [2]", "`model.head.weight`", "Item
    [1] of the second call's result".
    """
    path = list(found.path)
    owner = str(path.pop(0)) if path and isinstance(path[0], str) else ""
    results = [call.keep for call in context.case.script if call.to == "answer"]
    if owner in results and len(results) <= len(ORDINALS):
        item = "".join(f"[{key!r}]" for key in path)
        if len(results) == 1:
            return f"Item {item}" if item else "The result"
        of_call = f"the {ORDINALS[results.index(owner)]} call's result"
        return f"Item {item} of {of_call}" if item else of_call.capitalize()
    items = "".join(f".{key}" if isinstance(key, str) and owner else f"[{key!r}]" for key in path)
    if owner and owner != "return":
        return f"`{owner}{items}`"
    return f"Item {items}" if items else "The result"


def _is_whole_result(found: Difference) -> bool:
    return found.path in ((), ("return",))


def _should_be(context: CaseContext, found: Difference, expected: str, actual: str) -> str:
    return f"{_place(context, found)} should be {expected}; yours is {actual}."


def _wrong_type(context: CaseContext, step: str, found: Difference) -> Finding:
    expected, actual = formatting.format_kind(found.expected), formatting.format_kind(found.actual)
    question = SEVERAL if found.what == "length" else SIGNATURE
    if found.what == "length" and len(found.path) == 1 and str(found.path[0]).startswith(CALLS_OF):
        return _wrong_number_of_calls(context, step, found)
    if found.what == "length" and found.expected["kind"] == "list":
        return _wrong_length(context, step, found)
    if found.path:
        return context.finding(TYPE, _should_be(context, found, expected, actual), question, step=step)
    mistake = "HEAD-13" if found.actual["kind"] == "None" else ""
    return context.finding(
        TYPE, f"You return {actual} instead of {expected}.", question, step=step, mistake=mistake
    )


def _wrong_length(context: CaseContext, step: str, found: Difference) -> Finding:
    """Return the finding for a list that is too long or too short, with the first item that differs."""
    expected, actual = items_of(found.expected), items_of(found.actual)
    both = zip(expected, actual, strict=False)
    first = next(
        (i for i, (one, other) in enumerate(both) if difference(one, other)), min(len(expected), len(actual))
    )
    owner = "Your list" if _is_whole_result(found) else _place(context, found)
    items = "1 item" if len(actual) == 1 else f"{len(actual)} items"
    observation = f"{owner} has {items} instead of {len(expected)}. {_where_it_ends(expected, actual, first)}"
    # A whole list of the wrong length is a fault of the numbers, not of the type.
    level = NUMBERS if _is_whole_result(found) or context.case.family == TWICE else TYPE
    return context.finding(level, observation, "Which step decides what is at that position?", step=step)


def _where_it_ends(expected: list[Encoded], actual: list[Encoded], first: int) -> str:
    """Return a sentence about the first item in which two lists of different length differ."""
    if not actual:
        return f"It should begin with {_in_short(expected[0])}."
    if not expected:
        return "It should be empty."
    if first == len(actual):
        return f"It ends too early: {_in_short(expected[first])} should come next."
    if first == len(expected):
        return f"{_right_items(first)}; nothing should follow."
    should, is_now = _in_short(expected[first]), _in_short(actual[first])
    if should == is_now:
        return f"{_right_items(first)}; the next is wrong." if first else "Its first item is wrong."
    where = f"{_right_items(first)}; it goes on" if first else "It begins"
    return f"{where} with {is_now} instead of {should}."


def _right_items(count: int) -> str:
    return "The first is right" if count == 1 else f"The first {count} are right"


def _in_short(item: Encoded) -> str:
    if "value" in item:
        return formatting.shorten(repr(item["value"]))
    parts = items_of(item) if item["kind"] == "tuple" and length_of(item) <= PARTS_SHOWN else []
    if parts and all("value" in part for part in parts):
        return formatting.shorten(repr(tuple(part["value"] for part in parts)))
    return formatting.format_kind(item)


def _wrong_number_of_calls(context: CaseContext, step: str, found: Difference) -> Finding:
    expected, actual = map(formatting.format_times, (length_of(found.expected), length_of(found.actual)))
    name = context.name_of(str(found.path[0]).removeprefix(CALLS_OF))
    observation = f"`{name}` should be called {expected}; you call it {actual}."
    return context.finding(
        TYPE, observation, "How many times, and in which steps, should it be called?", step=step
    )


def _wrong_keys(context: CaseContext, step: str, found: Difference) -> Finding:
    expected, actual = ([repr(key) for key in one["keys"]] for one in (found.expected, found.actual))
    missing, further = (
        [key for key in expected if key not in actual],
        [key for key in actual if key not in expected],
    )
    fault = "has keys of the wrong type"
    if missing:
        fault = f"lacks the key {formatting.shorten(missing[0])}"
    elif further:
        fault = f"has the key {formatting.shorten(further[0])}, which should not be there"
    owner = _place(context, found) if found.path else "Your dict"
    return context.finding(TYPE, f"{owner} {fault}.", "Which keys should the dict have?", step=step)


def _wrong_shape(context: CaseContext, step: str, found: Difference) -> Finding:
    if found.path and str(found.path[0]).startswith(CALLS_OF):
        return _wrong_shape_in_call(context, step, found)
    expected = formatting.format_expected_shape(context.exercise, found.expected["data"].shape)
    actual = formatting.format_named_shape(context.exercise, context.case, found.actual["data"].shape)
    start = "Expected" if _is_whole_result(found) else f"{_place(context, found)}: expected"
    observation = f"{start} shape {expected}, got {actual}."
    return context.finding(SHAPE, observation, "What should each axis of the result stand for?", step=step)


def _wrong_shape_in_call(context: CaseContext, step: str, found: Difference) -> Finding:
    shapes = (formatting.format_shape(one["data"].shape) for one in (found.expected, found.actual))
    name = context.name_of(str(found.path[0]).removeprefix(CALLS_OF))
    observation = "`{}` should be called with a tensor of shape {}; you call it with {}.".format(
        name, *shapes
    )
    return context.finding(SHAPE, observation, "Which tensor should be passed in this call?", step=step)


def _about_floats(context: CaseContext) -> str:
    """Return the question about a dtype where floats are expected. If no input is a float, there is no dtype of
    the input's to keep.
    """
    case = context.case
    if any(tensor.is_floating_point() for tensor in tensors_in((case.args, case.kwargs, case.weights))):
        return OWN_TYPE
    return "Which step converts to another float type?"


def _wrong_kind_of_number(context: CaseContext, step: str, found: Difference) -> Finding:
    question = _about_floats(context) if found.expected["data"].is_floating_point() else ITS_TYPE
    if found.actual["data"].is_complex():
        question = "Which step makes complex numbers?"
    elif found.expected["data"].dtype is torch.bool:
        question = "Which dtype does the docstring ask for?"
    return _of_type(context, None, step, found, question)


def _wrong_dtype(context: CaseContext, step: str, found: Difference) -> Finding:
    if not found.expected["data"].is_floating_point():
        return _of_type(context, None, step, found, ITS_TYPE)
    aspect = DTYPES if DTYPES in context.exercise.aspects else None
    return _of_type(context, aspect, step, found, _about_floats(context))


def _of_type(
    context: CaseContext, aspect: str | None, step: str, found: Difference, question: str
) -> Finding:
    expected, actual = (
        str(t).removeprefix("torch.") for t in (found.expected_type, found.actual["data"].dtype)
    )
    mistake = "SDPA-49" if (expected, actual) == ("float64", "float32") and not found.path else ""
    observation = _should_be(context, found, expected, actual)
    return context.finding(DTYPE, observation, question, aspect, step=step, mistake=mistake)


def _wrong_number(context: CaseContext, step: str, found: Difference) -> Finding:
    if found.expected["kind"] != "tensor":
        expected, actual = formatting.format_difference(found.expected["value"], found.actual["value"])
        question = "Work this one out by hand. At which step does your value differ?"
        if found.expected["kind"] == "bool":
            question = "Which line decides this?"
        return context.finding(NUMBERS, _should_be(context, found, expected, actual), question, step=step)
    expected, actual = formatting.format_numbers(
        *(one["data"][found.index] for one in (found.expected, found.actual))
    )
    entry = f"entry {formatting.format_index(found.index)}" if found.index else ""
    if _is_whole_result(found):
        place = entry.capitalize() or "The result"
    else:
        place = f"{_place(context, found)}: {entry}" if entry else _place(context, found)
    level, question = NUMBERS, "Work this one entry out by hand. At which step does your number differ?"
    if found.what == "not finite" and found.actual["data"][found.index].isinf() and context.infinities:
        question = "Which entries should be infinite?"
    elif found.what == "not finite" and _is_as_found(found.actual["data"][found.index]):
        level, question = FINITE, NEVER_WRITTEN[1]
    elif found.what == "not finite":
        level, question = (
            FINITE,
            "Where can a NaN or an infinity come from: 0/0, inf - inf, the logarithm of 0, exp of a large number?",
        )
    observation, index = (
        f"{place} should be {expected}; yours is {actual}.",
        () if found.path else found.index,
    )
    return context.finding(level, observation, question, step=step, index=index)


# autograder.isolation.reproducible fills uninitialised memory with positive NaNs. On x86 the NaNs that a
# processor computes are negative; elsewhere the two may be indistinguishable.
NEVER_WRITTEN = (
    "A part of your result was never written; it holds whatever was in memory.",
    "Which entries does your code fill, and which does it leave as `torch.empty` made them?",
)
COMPUTED_WITH_SIGN = bool(torch.signbit(torch.tensor(torch.inf) - torch.inf))


def _is_as_found(entry: torch.Tensor) -> bool:
    """Return whether an entry that should be finite was never written: it holds the NaN of uninitialised
    memory.
    """
    return COMPUTED_WITH_SIGN and bool(entry.isnan()) and not bool(torch.signbit(entry))


def _wrong_items(context: CaseContext, step: str, found: Difference) -> Finding:
    observation = f"{_place(context, found)} contains something extra, or lacks something."
    question = "What should be in it?"
    return context.finding(NUMBERS, observation, question, step=step)


NEW = {
    "constant": (
        "All entries of `{}` are the same number when the module is made.",
        "How could training tell its entries apart?",
    ),
    "alike": (
        "`{}` and `{}` start with the same numbers.",
        "Is each parameter drawn separately?",
    ),
    "size": (
        "`{}` starts with numbers that are far too large or far too small, or with NaN or infinities.",
        "With such weights, how large are the outputs for ordinary inputs?",
    ),
}


def _wrong_start(context: CaseContext, step: str, found: Difference) -> Finding:
    names = [name for name in found.path if isinstance(name, str)]
    observation, question = NEW[found.what]
    observation = observation.format(*names)
    if len(set(names)) == 1 and found.what == "alike":
        observation = f"`{names[0]}` starts with the same numbers in every module."
    return context.finding(GRADIENT, observation, question, detail="", step="new")


DESCRIBE: dict[str, Callable[[CaseContext, str, Difference], Finding]] = {
    **dict.fromkeys(NEW, _wrong_start),
    "kind": _wrong_type,
    "class": _wrong_type,
    "length": _wrong_type,
    "keys": _wrong_keys,
    "shape": _wrong_shape,
    "kind of number": _wrong_kind_of_number,
    "dtype": _wrong_dtype,
    "value": _wrong_number,
    "not finite": _wrong_number,
    "any": _wrong_items,
}
