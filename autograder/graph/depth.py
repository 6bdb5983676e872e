"""How much of a graph is shown: parts as open or closed boxes, and layers that repeat drawn once.

`depth` counts how many levels of parts are open: 0 shows each part as one box, 1 opens these and shows the parts
in them closed. None opens as much as fits on a screen.
"""

from dataclasses import replace

from autograder.graph.model import Node, in_order, plain_text
from autograder.graph.repeats import repeated

MOST_ROWS = 14


def shown(nodes, edges, depth=None, keep_open=()):
    """(nodes, edges) to draw. Parts with a failed or differing step stay open, and so do those named."""
    nodes, edges = repeated(nodes, edges)
    marked = {node.box for node in nodes if node.state in ("failed", "differs")} | set(keep_open)
    if depth is not None:
        return closed(nodes, edges, max(int(depth), 0), marked)
    deepest = max((len(levels(node.box)) for node in nodes), default=0)
    for level in range(deepest, -1, -1):
        found = closed(nodes, edges, level, marked) if level < deepest else (nodes, edges)
        if rows(*found) <= MOST_ROWS:
            break
    return found


def rows(nodes, edges):
    """How many boxes stand below each other: the longest path."""
    length = {node.id: 1 for node in nodes}
    into = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge.source)
    for node in nodes:
        length[node.id] += max((length[source] for source in into.get(node.id, ())), default=0)
    return max(length.values(), default=0)


def levels(box):
    """"layers.0.self_attn" -> ["layers.0", "layers.0.self_attn"]: a number belongs to the name before it."""
    found = []
    for word in box.split(".") if box else ():
        if found and (word.isdigit() or word == "*"):
            found[-1] += "." + word
        else:
            found.append((found[-1] + "." if found else "") + word)
    return found


def closed(nodes, edges, depth, marked=()):
    """Parts below that level as one box each."""
    groups = _components(nodes, edges, depth, marked)
    stands_for = {member: group[0] for group in groups for member in group}
    by_id = {node.id: node for node in nodes}
    parts = {group[0]: _part([by_id[member] for member in group], edges, depth) for group in groups}
    kept = [parts.get(node.id, node) for node in nodes if stands_for.get(node.id, node.id) == node.id]
    links = {}
    for edge in edges:
        ends = stands_for.get(edge.source, edge.source), stands_for.get(edge.target, edge.target)
        if ends[0] != ends[1]:
            links.setdefault(ends, replace(edge, source=ends[0], target=ends[1]))
    ordered = in_order(kept, list(links.values()))
    return (nodes, edges) if ordered is None else (ordered, list(links.values()))


def _components(nodes, edges, depth, marked):
    """Steps of one part that hang together; a part that is called twice is two boxes."""
    home = {}
    for node in nodes:
        path = levels(node.box)
        if len(path) > depth and node.kind in ("operation", "constant"):
            home[node.id] = path[depth]
    for box in marked:
        home = {number: part for number, part in home.items() if part not in levels(box)}
    group = {number: [number] for number in home}
    for edge in edges:
        a, b = edge.source, edge.target
        if a in home and b in home and home[a] == home[b] and group[a] is not group[b]:
            group[a] += group[b]
            for member in group[b]:
                group[member] = group[a]
    kinds = {node.id: node.kind for node in nodes}
    distinct = {id(members): sorted(members) for members in group.values()}
    found = [m for m in distinct.values() if sum(kinds[member] == "operation" for member in m) > 1]
    return [members for members in found if not _leaves_and_returns(members, edges)]


def _leaves_and_returns(members, edges):
    """Does a way lead out of these steps and back into them?"""
    inside, reached = set(members), set()
    out = {}
    for edge in edges:
        out.setdefault(edge.source, []).append(edge.target)
    waiting = [target for member in members for target in out.get(member, ()) if target not in inside]
    while waiting:
        number = waiting.pop()
        if number in inside:
            return True
        if number not in reached:
            reached.add(number)
            waiting += out.get(number, ())
    return False


def _part(members, edges, depth):
    """One box for a closed part."""
    inside = {node.id for node in members}
    steps = [node for node in members if node.kind == "operation"]
    ends = [n for n in steps if any(e.source == n.id and e.target not in inside for e in edges)] or steps
    box = levels(steps[0].box)[depth]
    own = [node.part for node in steps if node.box == box and node.part]
    times = {node.times for node in steps}
    badges = sorted(node.badge for node in steps if node.badge)
    return Node(
        members[0].id,
        "part",
        "",
        plain_text(titled(box)),
        own[0] if own else "",
        ends[-1].shape,
        times.pop() if len(times) == 1 else 1,
        box.rpartition(".")[0] if depth else "",
        axes=ends[-1].axes,
        badge=badges[0] if badges else 0,
        last_badge=badges[-1] if badges else 0,
    )


def titled(box):
    """The name on a frame: "layers.0", "layers × 6", "each of heads"."""
    path = levels(box)
    word = path[-1].removeprefix(path[-2] + ".") if len(path) > 1 else box
    return f"each of {word[:-2]}" if word.endswith(".*") else word
