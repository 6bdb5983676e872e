"""A computation as plain data: nodes and edges that can be drawn, printed, stored and compared.

Nothing here holds a tensor or a function, so a graph may come from another process; if so, plain.py checks
it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

KINDS = ("input", "parameter", "constant", "operation", "part", "output", "note")
STATES = ("", "failed", "unused", "differs")
MAX_NODES = 160  # in a picture
MAX_WHOLE = 600  # in a whole graph, for opening parts and for comparing
MAX_TEXT = 60


@dataclass(frozen=True)
class Node:
    """One box: its name, its operation, and how often it runs."""

    id: int
    kind: str  # one of KINDS
    op: str  # name of the operation as in the code: "matmul", "softmax"; empty for data
    label: str
    detail: str = ""  # the second line
    shape: tuple | None = None  # of the result; None if it differs between repeats
    times: int = 1  # how many such steps were folded into this one
    box: str = ""  # the part it belongs to, as in named_modules(): "self_attn.out_proj"
    state: str = ""  # one of STATES
    role: str = ""  # the mathematical role, see Step.role: "product", "scale", "mask"
    number: float | None = None  # the factor of a scale; always finite, because JSON has no infinity
    dim: int | None = None  # the axis, counted from the end
    blocked: str = ""  # which entries of a softmax or an exponential are zero, see propagation.py
    order: str = ""  # where a rearrangement puts each entry, see propagation.py
    part: str = ""  # class of the part that it belongs to


@dataclass(frozen=True)
class Edge:
    """The result of `source` is an input of `target`."""

    source: int
    target: int
    is_auxiliary: bool = False  # a parameter, a mask or a constant
    places: tuple = ()  # which arguments of `target` it is: ("0",)


Nodes = list[Node]
Edges = list[Edge]


def shape_text(shape: tuple | None) -> str:
    """Return a shape as text: "(2, 5, 8)", "number" for a single number, and "" for None."""
    if shape is None:
        return ""
    return str(tuple(shape)) if shape else "number"


def plain_text(text: object, limit: int = MAX_TEXT) -> str:
    """Return a name or message from outside as one line of at most `limit` characters, without control
    characters.
    """
    words = "".join(c if c.isprintable() else " " for c in str(text)[: 20 * limit])
    line = " ".join(words.split())
    return line if len(line) <= limit else line[: limit - 1] + "\u2026"


def arranged(nodes: Nodes, edges: Edges, limit: int = MAX_NODES) -> tuple[Nodes, Edges]:
    """Return the graph with each node after its inputs, and with ids 0, 1, 2 ... If there are more than
    `limit` nodes, the last ones are replaced by a note that says how many are left out. A failed node is
    never left out.
    """
    nodes = in_order(nodes, edges) or nodes
    if len(nodes) > limit:
        failed = [node for node in nodes[limit - 2 :] if node.state == "failed"][:1]
        kept = [*nodes[: limit - 2], *failed]
        nodes = [*kept, Node(-1, "note", "", f"\u2026 {len(nodes) - len(kept)} more steps")]
    new = {node.id: position for position, node in enumerate(nodes)}
    kept_edges = [edge for edge in edges if {edge.source, edge.target} <= new.keys()]
    return (
        [replace(node, id=new[node.id]) for node in nodes],
        [replace(edge, source=new[edge.source], target=new[edge.target]) for edge in kept_edges],
    )


def in_order(nodes: Nodes, edges: Edges) -> Nodes | None:
    """Return the nodes sorted so that each comes after its inputs; None if they form a cycle."""
    into, ordered, left = sources_of(edges), [], list(nodes)
    done: set[int] = set()
    while left:
        ready = next((node for node in left if done.issuperset(into.get(node.id, ()))), None)
        if ready is None:
            return None
        left.remove(ready)
        done.add(ready.id)
        ordered.append(ready)
    return ordered


def sources_of(edges: Iterable[Edge]) -> dict[int, list[int]]:
    """Return a dict: for the id of each node with inputs, the ids of the nodes whose results it takes."""
    into: dict[int, list[int]] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge.source)
    return into
