"""Chooses how much of a graph is shown: each part (a submodule) is an open or a closed box.

`depth` is the number of levels that are open: 0 shows each part as one box, 1 opens these boxes and shows the
parts inside them as closed boxes. None opens as much as fits on a screen.
"""

from dataclasses import replace

from autograder.graph.model import Edge, Edges, Node, Nodes, in_order, plain_text, sources_of

MOST_ROWS = 14


def shown(nodes: Nodes, edges: Edges, depth: int | None = None) -> tuple[Nodes, Edges]:
    """Return the graph to draw. Parts with a failed or differing step stay open."""
    deepest = max((len(levels(node.box)) for node in nodes), default=0)
    for level in range(deepest, -1, -1) if depth is None else (depth,):
        found = closed(nodes, edges, level)
        if rows(*found) <= MOST_ROWS:
            break
    return found


def rows(nodes: Nodes, edges: Edges) -> int:
    """Return the height of the drawing in boxes: the number of nodes on the longest path."""
    length: dict[int, int] = {}
    into = sources_of(edges)
    for node in nodes:
        length[node.id] = 1 + max((length[source] for source in into.get(node.id, ())), default=0)
    return max(length.values(), default=0)


def levels(box: str) -> list[str]:
    """Return the names of a part and of the parts around it, outermost first: "layers.0.self_attn" ->
    ["layers.0", "layers.0.self_attn"]. A number belongs to the name before it.
    """
    found: list[str] = []
    for word in box.split(".") if box else ():
        if found and (word.isdigit() or word == "*"):
            found[-1] += "." + word
        else:
            found.append((found[-1] + "." if found else "") + word)
    return found


def closed(nodes: Nodes, edges: Edges, depth: int) -> tuple[Nodes, Edges]:
    """Close each part at nesting level `depth` (0 is the outermost) into one box. Return the graph unchanged
    if that would make a cycle.
    """
    groups = _components(nodes, edges, depth)
    stands_for = {member: group[0] for group in groups for member in group}
    by_id = {node.id: node for node in nodes}
    parts = {group[0]: _part([by_id[member] for member in group], edges, depth) for group in groups}
    kept = [parts.get(node.id, node) for node in nodes if stands_for.get(node.id, node.id) == node.id]
    links: dict[tuple[int, int], Edge] = {}
    for edge in edges:
        ends = stands_for.get(edge.source, edge.source), stands_for.get(edge.target, edge.target)
        if ends[0] != ends[1]:
            links.setdefault(ends, replace(edge, source=ends[0], target=ends[1]))
    ordered = in_order(kept, list(links.values()))
    return (nodes, edges) if ordered is None else (ordered, list(links.values()))


def _components(nodes: Nodes, edges: Edges, depth: int) -> list[list[int]]:
    """Return the groups of steps, as lists of ids, that become one box each: the connected steps of one part.

    A part that is called twice, with other steps in between, becomes two boxes. A single step stays as it is.
    """
    home = {}
    for node in nodes:
        path = levels(node.box)
        if len(path) > depth and node.kind in ("operation", "constant"):
            home[node.id] = path[depth]
    for box in {node.box for node in nodes if node.state in ("failed", "differs")}:
        home = {number: part for number, part in home.items() if part not in levels(box)}
    group = {number: [number] for number in home}
    for edge in edges:
        a, b = edge.source, edge.target
        if a in home and home[a] == home.get(b) and group[a] is not group[b]:
            group[a] += group[b]
            group.update(dict.fromkeys(group[b], group[a]))
    kinds = {node.id: node.kind for node in nodes}
    distinct = {id(members): sorted(members) for members in group.values()}
    return [m for m in distinct.values() if sum(kinds[member] == "operation" for member in m) > 1]


def _part(members: Nodes, edges: Edges, depth: int) -> Node:
    """Return the node that replaces the steps of a closed part."""
    inside = {node.id for node in members}
    steps = [node for node in members if node.kind == "operation"]
    ends = [n for n in steps if any(e.source == n.id and e.target not in inside for e in edges)] or steps
    box = levels(steps[0].box)[depth]
    own = next((node.part for node in steps if node.box == box), "")
    parent = box.rpartition(".")[0] if depth else ""
    return Node(members[0].id, "part", "", plain_text(titled(box)), own, ends[-1].shape, box=parent)


def titled(box: str) -> str:
    """Return the title of a part's frame: "layers.0", or "each of heads" for heads.*."""
    path = levels(box)
    word = path[-1].removeprefix(path[-2] + ".") if len(path) > 1 else box
    return f"each of {word[:-2]}" if word.endswith(".*") else word
