"""Checks data from a file, from another process or from a student, and builds records from it.

A check is called with a value. It returns the value, or the record that the value describes, and raises
Unreadable if the value does not have the agreed form. Types must match exactly: True is not a number, and an
instance of a subclass is not accepted in place of its base class.

    flag, number, whole, text, matching        plain values
    list_of, tuple_of, row, or_none, fields    values that consist of others
    checked, typed                             records, checked against the annotations of a dataclass

This is our own code because libraries such as cattrs convert values that must be refused here (3 to "3"), and
do not limit sizes.
"""

import re
import types
from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
Check = Callable[[Any], Any]


class Unreadable(ValueError):
    """Raised if data do not have the agreed form. The text names the form."""


def require(holds: bool, form: str = "data of the agreed form") -> None:
    """Raise Unreadable unless the condition holds."""
    if not holds:
        raise Unreadable(f"not {form}")


def without_surrogates(text: str) -> str:
    """Return the text with a question mark for each lone surrogate (half of a character). JSON and file names
    may contain lone surrogates, but a file in UTF-8 cannot.
    """
    return text.encode(errors="replace").decode()


def as_text(value: object, most: int) -> str:
    """Return the text, cut to `most` characters and without surrogates, or an empty string if `value` is not a
    string.
    """
    return without_surrogates(value[:most]) if isinstance(value, str) else ""


def such_that(holds: Callable[[Any], bool], form: str = "data of the agreed form") -> Check:
    """Return a check for values for which `holds` is true; `form` describes them in the error."""

    def check(value: Any) -> Any:
        require(holds(value), form)
        return value

    return check


def exactly(kind: type) -> Check:
    """Return a check for values of exactly this type."""
    return such_that(lambda value: type(value) is kind, f"of the type {kind.__name__}")


flag = exactly(bool)
number = such_that(lambda value: type(value) in (int, float), "a number")


def whole(least: int, most: int) -> Check:
    """Return a check for integers from `least` to `most`."""
    return such_that(
        lambda value: type(value) is int and least <= value <= most, "a whole number, or too large"
    )


def text(most: int) -> Check:
    """Return a check for strings. It returns them without surrogates and cut to `most` characters."""
    return lambda value: as_text(exactly(str)(value), most)


def matching(pattern: str, most: int) -> Check:
    """Return a check that accepts a string of at most `most` characters if the pattern matches all of it, with
    the flag re.ASCII.
    """
    found = re.compile(pattern, re.ASCII)
    return such_that(
        lambda value: type(value) is str and len(value) <= most and found.fullmatch(value) is not None,
        "such a text",
    )


def list_of(check: Check, most: int | None = None) -> Check:
    """Return a check for lists of at most `most` items, each of which passes `check`."""

    def checked_list(value: Any) -> list:
        require(type(value) is list and (most is None or len(value) <= most), "a list, or too long")
        return [check(item) for item in value]

    return checked_list


def tuple_of(check: Check, most: int | None = None) -> Check:
    """Return a check that accepts the same lists as `list_of`, and returns a tuple."""
    items = list_of(check, most)
    return lambda value: tuple(items(value))


def row(*checks: Check) -> Check:
    """Return a check that takes a list with one item for each of `checks`, and returns a tuple."""

    def checked_row(value: Any) -> tuple:
        require(type(value) is list and len(value) == len(checks), f"a list of {len(checks)} items")
        return tuple(check(item) for check, item in zip(checks, value, strict=True))

    return checked_row


def or_none(check: Check) -> Check:
    """Return a check for None, or for whatever `check` accepts."""
    return lambda value: None if value is None else check(value)


def fields(value: Any, /, **checks: Check) -> dict[str, Any]:
    """Return the dict `value` with each item checked. Raise Unreadable unless `value` is a dict with exactly
    the keys of `checks`.
    """
    require(type(value) is dict and value.keys() == checks.keys(), "a dict with the agreed keys")
    return {name: check(value[name]) for name, check in checks.items()}


def checked(kind: type[T], value: Any) -> T:
    """Return the record of the class `kind` that `value` describes. `value` is what `dataclasses.asdict`
    gives, after a round trip through JSON. `kind` may also be a list, dict or tuple type of such classes.
    """
    annotation: Any = kind
    made: T = typed(annotation)(value)
    return made


@lru_cache
def typed(kind: Any) -> Check:
    """Return a check for values of the annotated type `kind`: a dataclass (by its fields), a list, dict or
    tuple, `X | None`, or a plain type.
    """
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        checks = {field.name: typed(hints[field.name]) for field in fields_of(kind)}
        return lambda value: kind(**fields(value, **checks))
    origin, parts = get_origin(kind), get_args(kind)
    if origin is types.UnionType:
        return or_none(typed(next(part for part in parts if part is not types.NoneType)))
    if origin is list or (origin is tuple and parts[1:] == (...,)):
        return (list_of if origin is list else tuple_of)(typed(parts[0]))
    if origin is tuple:
        return row(*map(typed, parts))
    if origin is dict:
        return _dict(int if parts[0] is int else exactly(str), typed(parts[1]))
    return number if kind is float else (lambda value: value) if kind is Any else exactly(kind)


def _dict(key: Check, item: Check) -> Check:
    """Return a check for dicts. Every key comes from JSON as a text, which `key` checks or converts."""

    def checked_dict(value: Any) -> dict:
        require(type(value) is dict, "a dict")
        return {key(name): item(one) for name, one in value.items()}

    return checked_dict
