"""A drawing as plain lists, for another process, and back with every item checked.

A student's code may have made the lists. So nothing is taken on trust: types, counts, lengths, ranges, names from
fixed lists, no characters that steer anything. What passes can be drawn: texts are escaped where they are
written, and there is no field for a link, a file or markup.
"""

import math
import re
from dataclasses import fields

from autograder.errors import UserError
from autograder.graph.drawing import Drawing
from autograder.graph.model import (
    KINDS,
    MAX_TEXT,
    MAX_WHOLE,
    STATES,
    Edge,
    Node,
    in_order,
    plain_text,
    renumbered,
)

VERSION = 2
MAX_EDGES = 4 * MAX_WHOLE
_TITLE, _STOPPED, _BOX, _PATTERN = 80, 400, 200, 4200
_ROLES = ("", "product", "scale", "mask", "softmax", "norm", "activation", "layout", "add", "bias", "times", "plain")
_OP = re.compile(r"[A-Za-z0-9_]{0,40}")
_AXIS = re.compile(r"([A-Za-z]\w{0,7})?", re.ASCII)
_RANGE = re.compile(r"\d{1,9}\u2013\d{1,9}", re.ASCII)
_BLOCKED = re.compile(r"(\d{1,4}(x\d{1,4}){0,5}:[01]{0,4096})?", re.ASCII)
_MOVED = re.compile(r"([\dx]{0,60}>[\dx]{0,60}:[0-9a-f]{12}:[0-9a-f]{12})?", re.ASCII)
_PLACE = re.compile(r"\w{1,20}", re.ASCII)


class BadGraph(UserError):
    """What was handed over is no graph of ours."""


def as_data(drawing):
    """A drawing as dicts, lists, texts and numbers: {"version", "title", "stopped", "nodes", "edges"}."""
    nodes, edges = drawing.whole
    nodes, edges = renumbered(in_order(nodes, edges) or nodes, edges)
    return {
        "version": VERSION,
        "title": plain_text(drawing.title, _TITLE),
        "stopped": plain_text(drawing.stopped, _STOPPED),
        "nodes": [_listed(node) for node in nodes],
        "edges": [_listed(edge) for edge in edges[:MAX_EDGES]],
    }


def _listed(item):
    """The values of a node or an edge, in the order of its fields."""
    values = (getattr(item, part.name) for part in fields(item))
    return [list(value) if isinstance(value, tuple) else _finite(value) for value in values]


def _finite(value):
    """JSON has no word for infinity."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def from_data(data, depth=None):
    """The drawing that such data describes. Raises `BadGraph`, one sentence, where anything about it is not as due."""
    try:
        _due(type(data) is dict and set(data) == {"version", "title", "stopped", "nodes", "edges"}, "its parts")
        _due(type(data["version"]) is int and data["version"] == VERSION, "its version")
        title, stopped = _text(data["title"], _TITLE), _text(data["stopped"], _STOPPED)
        nodes = [_node(number, item) for number, item in enumerate(_list(data["nodes"], MAX_WHOLE))]
        edges = [_edge(item, len(nodes)) for item in _list(data["edges"], MAX_EDGES)]
        _due(len({(edge.source, edge.target) for edge in edges}) == len(edges), "its edges")
        for edge in edges:
            _due(edge.source < edge.target, "the order of its steps")
        return Drawing(title, nodes, edges, stopped, depth)
    except BadGraph:
        raise
    except Exception as error:
        raise BadGraph("a computation graph could not be read: it is not of the agreed form") from error


def _due(holds, what):
    if not holds:
        raise BadGraph(f"a computation graph could not be read: {what} are not as agreed")


def _list(value, most):
    _due(type(value) is list and len(value) <= most, "its lists")
    return value


def _text(value, most):
    _due(type(value) is str and len(value) <= most and value.isprintable(), "its texts")
    return value


def _matching(value, pattern):
    _due(type(value) is str and len(value) <= _PATTERN and pattern.fullmatch(value) is not None, "its names")
    return value


def _one_of(value, allowed):
    _due(type(value) is str and value in allowed, "its names")
    return value


def _count(value, least, most):
    _due(type(value) is int and least <= value <= most, "its numbers")
    return value


def _number(value):
    if value is None:
        return None
    if type(value) is str and value in ("inf", "-inf"):
        return float(value)
    _due(type(value) in (int, float) and abs(value) < 1e300, "its numbers")
    return float(value)


def _dim(value):
    if value is None or (type(value) is str and value == "all"):
        return value
    return _count(value, -20, 20)


def _shape(value):
    if value is None:
        return None
    return tuple(
        _count(size, 0, 10**12) if type(size) is int else _matching(size, _RANGE) for size in _list(value, 12)
    )


def _axes(value, shape):
    axes = tuple(_matching(word, _AXIS) for word in _list(value, 12))
    _due(not axes or (shape is not None and len(axes) == len(shape)), "its axes")
    return axes


def _node(number, item):
    _due(type(item) is list and len(item) == len(fields(Node)), "its steps")
    (id, kind, op, label, detail, shape, times, box, state, role, factor, dim, fill, axes, blocked, moved, side, does,
     part, badge, last_badge) = item  # fmt: skip
    shape = _shape(shape)
    return Node(
        _count(id, number, number),
        _one_of(kind, KINDS),
        _matching(op, _OP),
        _text(label, MAX_TEXT),
        _text(detail, MAX_TEXT),
        shape,
        _count(times, 1, 10**6),
        _text(box, _BOX),
        _one_of(state, STATES),
        _one_of(role, _ROLES),
        _number(factor),
        _dim(dim),
        _number(fill),
        _axes(axes, shape),
        _pattern(blocked),
        _matching(moved, _MOVED),
        _one_of(side, ("", "0", "1")),
        _matching(does, _OP),
        _text(part, MAX_TEXT),
        _count(badge, 0, MAX_WHOLE),
        _count(last_badge, 0, MAX_WHOLE),
    )


def _pattern(text):
    """A mask's bits: as many as its sizes say."""
    _matching(text, _BLOCKED)
    if text:
        sizes, _, bits = text.partition(":")
        _due(math.prod(int(size) for size in sizes.split("x")) == len(bits), "its masks")
    return text


def _edge(item, count):
    _due(type(item) is list and len(item) == len(fields(Edge)), "its edges")
    source, target, shape, quiet, places, axes = item
    _due(type(quiet) is bool, "its edges")
    shape = _shape(shape)
    return Edge(
        _count(source, 0, count - 1),
        _count(target, 0, count - 1),
        shape,
        quiet,
        tuple(_matching(place, _PLACE) for place in _list(places, 40)),
        _axes(axes, shape),
    )
