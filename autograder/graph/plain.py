"""A drawing as plain lists, for another process, and back with every item checked.

A student's code may have made the lists. So nothing is taken on trust: types, counts, lengths, ranges, names from
fixed lists, no characters that steer anything. What passes can be drawn: texts are escaped where they are
written, and there is no field for a link, a file or markup.
"""

import math
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from autograder.errors import UserError
from autograder.graph.drawing import Drawing
from autograder.graph.model import KINDS, MAX_TEXT, MAX_WHOLE, STATES, Edge, Node, arranged, plain_text
from autograder.graph.steps import ROLES

VERSION = 5
PARTS = {"version", "title", "stopped", "nodes", "edges"}
MAX_EDGES = 4 * MAX_WHOLE
_TITLE, _STOPPED, _BOX, _LONG = 80, 400, 200, 200


def as_data(drawing: Drawing) -> dict:
    """A drawing as dicts, lists, texts and numbers: {"version", "title", "stopped", "nodes", "edges"}."""
    nodes, edges = arranged(*drawing.whole, MAX_WHOLE)
    return {
        "version": VERSION,
        "title": plain_text(drawing.title, _TITLE),
        "stopped": plain_text(drawing.stopped, _STOPPED),
        "nodes": [_listed(node) for node in nodes],
        "edges": [_listed(edge) for edge in edges[:MAX_EDGES]],
    }


def _listed(item):
    """The values of a node or an edge, in the order of its fields."""
    return [list(value) if isinstance(value, tuple) else value for value in vars(item).values()]


def from_data(data: Any, depth: int | None = None) -> Drawing:
    """The drawing that such data describes. Raises `UserError`, one sentence, if anything is not as agreed."""
    try:
        _expect(type(data) is dict and set(data) == PARTS)
        _expect(type(data["version"]) is int and data["version"] == VERSION)
        nodes = [_record(Node, item, _NODE) for item in _list_of(MAX_WHOLE)(data["nodes"])]
        edges = [_record(Edge, item, _EDGE) for item in _list_of(MAX_EDGES)(data["edges"])]
        _expect([node.id for node in nodes] == list(range(len(nodes))))
        _expect(all(edge.source < edge.target < len(nodes) for edge in edges))
        _expect(len({(edge.source, edge.target) for edge in edges}) == len(edges))
        return Drawing(_text(_TITLE)(data["title"]), nodes, edges, _text(_STOPPED)(data["stopped"]), depth)
    except Exception as error:
        raise UserError("a computation graph could not be read: it is not of the agreed form") from error


def _expect(holds: bool) -> None:
    if not holds:
        raise ValueError


def _record(kind: type, item: Any, checks: tuple[Callable, ...]):
    """A node or an edge from a list with one value for each field."""
    _expect(type(item) is list and len(item) == len(checks) == len(fields(kind)))
    return kind(*(check(value) for check, value in zip(checks, item)))


# Each of these makes a function that gives back a value that is as agreed, and raises ValueError otherwise.


def _that(holds: Callable[[Any], bool]) -> Callable:
    def checked(value):
        _expect(holds(value))
        return value

    return checked


def _list_of(most: int) -> Callable:
    return _that(lambda value: type(value) is list and len(value) <= most)


def _text(most: int) -> Callable:
    return _that(lambda value: type(value) is str and len(value) <= most and value.isprintable())


def _like(pattern: str) -> Callable:
    found = re.compile(pattern, re.ASCII)
    return _that(lambda value: type(value) is str and len(value) <= _LONG and found.fullmatch(value) is not None)


def _count(least: int, most: int) -> Callable:
    return _that(lambda value: type(value) is int and least <= value <= most)


def _or_none(check: Callable) -> Callable:
    return lambda value: None if value is None else check(value)


def _tuple_of(check: Callable, most: int) -> Callable:
    return lambda value: tuple(check(one) for one in _list_of(most)(value))


_NUMBER = _that(lambda value: type(value) in (int, float) and math.isfinite(value))
_OP, _ID, _SHAPE = _like(r"[A-Za-z0-9_]{0,40}"), _count(0, MAX_WHOLE), _or_none(_tuple_of(_count(0, 10**12), 12))
_NODE = (
    *(_ID, _like("|".join(KINDS)), _OP, _text(MAX_TEXT), _text(MAX_TEXT), _SHAPE, _count(1, 10**6), _text(_BOX)),
    *(_like("|".join(STATES)), _like("|".join(("", *ROLES))), _or_none(_NUMBER), _or_none(_count(-20, 0))),
    *(_like(r"([\dx]{0,60}:[0-9a-f]{12})?"), _like(r"([\dx]{0,60}>[\dx]{0,60}:(same|[0-9a-f]{12}))?"), _text(MAX_TEXT)),
)
_EDGE = (_ID, _ID, _that(lambda value: type(value) is bool), _tuple_of(_like(r"\w{1,20}"), 40))
