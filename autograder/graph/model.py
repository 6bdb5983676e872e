"""A computation as plain data: nodes and edges that can be drawn, printed, stored and compared.

Nothing in here holds a tensor or a function, so a graph may come from another process. What comes from a
student's process is checked by `bounded` before it is drawn.
"""

from dataclasses import dataclass, replace

KINDS = ("input", "parameter", "constant", "operation", "part", "output", "note")
STATES = ("", "failed", "unused", "differs")
MAX_NODES = 160  # in a picture
MAX_WHOLE = 600  # kept, to be opened and compared
MAX_TEXT = 60


@dataclass(frozen=True)
class Node:
    """One box: what it is called, what it does, and how often it is done."""

    id: int
    kind: str  # one of KINDS
    op: str  # name of the operation as in the code: "matmul", "softmax"; empty for data
    label: str
    detail: str = ""  # the quiet second line
    shape: tuple | None = None  # of the result; a size that differs between repeats is a text, "1-6"
    times: int = 1  # how many such steps were folded into this one
    box: str = ""  # the part it belongs to, as in named_modules(): "self_attn.out_proj"
    state: str = ""  # one of STATES
    role: str = ""  # what it is as mathematics, see roles.py: "product", "scale", "mask"
    number: float | None = None  # the factor of a scale
    dim: int | None = None  # the axis, counted from the end
    fill: float | None = None  # what a mask writes
    axes: tuple = ()  # a letter for each axis of the shape, "" where none is certain
    blocked: str = ""  # what a mask forbids, see patterns.py
    moved: str = ""  # where a rearrangement puts each number, see patterns.py
    side: str = ""  # which axis of its weight a learned product sums over, "0" or "1"
    does: str = ""  # the activation that it and the steps before it amount to, see curves.py
    part: str = ""  # class of the part that it belongs to
    badge: int = 0  # number of the matching step on the other side of a comparison
    last_badge: int = 0  # the last such number in a closed part


@dataclass(frozen=True)
class Edge:
    """The result of `source` goes into `target`."""

    source: int
    target: int
    shape: tuple | None = None
    quiet: bool = False  # parameters, masks and constants
    places: tuple = ()  # which arguments of `target` it is: ("0",)
    axes: tuple = ()  # as in Node


def shape_text(shape, axes=()):
    """(2, 5, 8) as it is read aloud and drawn, letters for the sizes that have one; a single number is "number"."""
    if shape is None:
        return ""
    if not shape:
        return "number"
    if len(axes) == len(shape):
        shape = [letter or size for letter, size in zip(axes, shape)]
    return f"({shape[0]},)" if len(shape) == 1 else "(" + ", ".join(str(size) for size in shape) + ")"


def plain_text(text, limit=MAX_TEXT):
    """One bounded line without control characters: what names and messages from outside become."""
    words = "".join(c if c.isprintable() else " " for c in str(text)[: 20 * limit])
    line = " ".join(words.split())
    return line if len(line) <= limit else line[: limit - 1] + "\u2026"


def bounded(nodes, edges, limit=MAX_NODES):
    """At most `limit` nodes, in order; the rest becomes one note that says how many were left out."""
    if len(nodes) <= limit:
        return list(nodes), list(edges)
    kept = list(nodes[: limit - 2])
    ids = {node.id for node in kept}
    rest = [node for node in nodes[limit - 2 :] if node.kind in ("output",) or node.state == "failed"]
    left_out = len(nodes) - len(kept) - len(rest[:1])
    note = Node(max(node.id for node in nodes) + 1, "note", "", f"\u2026 {left_out} more steps")
    kept += [note] + rest[:1]
    ends = {node.id for node in rest[:1]}
    found = [edge for edge in edges if edge.source in ids and edge.target in ids]
    cut = {edge.source for edge in edges if edge.source in ids and edge.target not in ids | ends}
    found += [Edge(source, note.id) for source in sorted(cut)[-3:]]
    found += [Edge(note.id, end) for end in sorted(ends)]
    return kept, found


def renumbered(nodes, edges):
    """The same graph with ids 0, 1, 2 ... in the order of the nodes."""
    new = {node.id: position for position, node in enumerate(nodes)}
    return (
        [replace(node, id=new[node.id]) for node in nodes],
        [replace(edge, source=new[edge.source], target=new[edge.target]) for edge in edges],
    )


def in_order(nodes, edges):
    """The nodes so that each stands after all that it takes; None where they form a ring."""
    waiting = {node.id: 0 for node in nodes}
    out = {}
    for edge in edges:
        waiting[edge.target] += 1
        out.setdefault(edge.source, []).append(edge.target)
    ordered, left = [], list(nodes)
    while left:
        ready = next((node for node in left if waiting[node.id] == 0), None)
        if ready is None:
            return None
        left.remove(ready)
        ordered.append(ready)
        for target in out.get(ready.id, ()):
            waiting[target] -= 1
    return ordered
