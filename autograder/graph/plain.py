"""Turns a drawing into plain lists for another process, and back, with a check of every item.

A student's code may have made the lists, so nothing is trusted: types, counts, lengths and ranges are
checked, names come from fixed lists, and control characters are refused. What passes is safe to draw: texts
are escaped where they are written, and there is no field for a link, a file or markup.
"""

import sys
from typing import Any

from autograder.errors import UserError
from autograder.graph.drawing import Drawing
from autograder.graph.model import KINDS, MAX_TEXT, MAX_WHOLE, STATES, Edge, Node, arranged, plain_text
from autograder.graph.steps import ROLES
from autograder.untrusted import (
    Check,
    Unreadable,
    fields,
    flag,
    list_of,
    matching,
    or_none,
    require,
    row,
    such_that,
    tuple_of,
    whole,
)

VERSION = 5
MAX_EDGES = 4 * MAX_WHOLE
_TITLE, _STOPPED, _BOX, _LONG = 80, 400, 200, 200


def as_data(drawing: Drawing) -> dict:
    """Return a drawing as dicts, lists, strings and numbers: {"version", "title", "stopped", "nodes",
    "edges"}.
    """
    nodes, edges = arranged(*drawing.whole, MAX_WHOLE)
    return {
        "version": VERSION,
        "title": plain_text(drawing.title, _TITLE),
        "stopped": plain_text(drawing.stopped, _STOPPED),
        "nodes": [_listed(node) for node in nodes],
        "edges": [_listed(edge) for edge in edges[:MAX_EDGES]],
    }


def _listed(item: Node | Edge) -> list:
    """Return the values of a node or an edge, in the order of its fields."""
    return [list(value) if isinstance(value, tuple) else value for value in vars(item).values()]


def from_data(data: Any, depth: int | None = None) -> Drawing:
    """Return the drawing that `data` describes in the format of `as_data`. Raises `UserError`, with one
    sentence, if anything deviates from the format.
    """
    try:
        given = fields(
            data, version=whole(VERSION, VERSION), title=_text(_TITLE), stopped=_text(_STOPPED), **_LISTS
        )
        nodes = [Node(*values) for values in given["nodes"]]
        edges = [Edge(*values) for values in given["edges"]]
        require([node.id for node in nodes] == list(range(len(nodes))))
        require(all(edge.source < edge.target < len(nodes) for edge in edges))
        require(len({(edge.source, edge.target) for edge in edges}) == len(edges))
        return Drawing(given["title"], nodes, edges, given["stopped"], depth)
    except Unreadable as error:
        raise UserError("a computation graph could not be read: it is not in the expected format") from error


def _text(most: int) -> Check:
    """Return a check that a value is a printable string of at most `most` characters."""
    return such_that(
        lambda value: type(value) is str and len(value) <= most and value.isprintable(), "printable"
    )


def _like(pattern: str) -> Check:
    return matching(pattern, _LONG)


_NUMBER = such_that(
    lambda value: type(value) in (int, float) and abs(value) <= sys.float_info.max, "a finite number"
)
_OP, _ID, _SHAPE = _like(r"[A-Za-z0-9_]{0,40}"), whole(0, MAX_WHOLE), or_none(tuple_of(whole(0, 10**12), 12))
# One check for each field, in their order.
_NODE = row(
    *(
        _ID,
        _like("|".join(KINDS)),
        _OP,
        _text(MAX_TEXT),
        _text(MAX_TEXT),
        _SHAPE,
        whole(1, 10**6),
        _text(_BOX),
    ),
    *(_like("|".join(STATES)), _like("|".join(("", *ROLES))), or_none(_NUMBER), or_none(whole(-20, 0))),
    *(
        _like(r"([\dx]{0,60}:[0-9a-f]{12})?"),
        _like(r"([\dx]{0,60}>[\dx]{0,60}:(same|[0-9a-f]{12}))?"),
        _text(MAX_TEXT),
    ),
)
_EDGE = row(_ID, _ID, flag, tuple_of(_like(r"\w{1,20}"), 40))
_LISTS = {"nodes": list_of(_NODE, MAX_WHOLE), "edges": list_of(_EDGE, MAX_EDGES)}
