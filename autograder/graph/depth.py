"""How much of a graph is shown: parts as open or closed boxes, and layers that repeat drawn once.

`depth` counts how many levels of parts are open: 0 shows each part as one box, 1 opens these and shows the parts
in them closed. None opens as much as fits on a screen.
"""

from dataclasses import replace

from autograder.graph.model import Node, plain_text

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


def repeated(nodes, edges):
    """layers.0, layers.1 ... that are alike and follow each other are one frame, "layers × 6"."""
    for stem in sorted({stem for node in nodes for stem in _stems(node.box)}, key=len):
        nodes, edges = _folded(stem, nodes, edges)
    return nodes, edges


def _stems(box):
    words = box.split(".")
    return [".".join(words[:n]) for n in range(1, len(words)) if words[n].isdigit()]


def _folded(stem, nodes, edges):
    copies = {}
    for node in nodes:
        rest = node.box.removeprefix(stem + ".")
        if node.box.startswith(stem + ".") and rest.split(".")[0].isdigit():
            copies.setdefault(int(rest.split(".")[0]), []).append(node)
    order = sorted(copies)
    if len(order) < 2 or any(node.state == "differs" or node.state == "failed" for g in copies.values() for node in g):
        return nodes, edges
    groups = [copies[number] for number in order]
    place = {node.id: (g, p) for g, group in enumerate(groups) for p, node in enumerate(group)}
    looks = {_looks(stem, number, copies[number]) for number in order}
    wires = [_wires(g, groups, place, edges) for g in range(len(groups))]
    if len(looks) > 1 or None in wires or len({w[0] for w in wires}) > 1 or len({w[1] for w in wires[1:]}) > 1:
        return nodes, edges
    if not _begins_alike(wires[0][1], wires[1][1]):
        return nodes, edges
    return _first_copy(stem, groups, place, nodes, edges)


def _looks(stem, number, group):
    start = f"{stem}.{number}"
    return tuple((n.op, n.label, n.detail, n.shape, n.times, n.box.removeprefix(start)) for n in group)


def _wires(g, groups, place, edges):
    """(edges inside, edges from outside) of a copy by places; None where it feeds more than the next copy."""
    inside, outside = [], []
    last = g == len(groups) - 1
    for edge in edges:
        source, target = place.get(edge.source), place.get(edge.target)
        if target and target[0] == g:
            if source and source[0] == g:
                inside.append((source[1], target[1]))
            elif source and source[0] == g - 1:
                outside.append((("before", source[1]), target[1]))
            else:
                outside.append((edge.source, target[1]))
        elif source and source[0] == g and not last and not (target and target[0] == g + 1):
            return None
    return tuple(sorted(inside)), frozenset(outside)


def _begins_alike(first, later):
    """The first copy takes one tensor from outside where the later ones take the result of the copy before."""
    chained = {target for source, target in later if isinstance(source, tuple)}
    shared = {link for link in later if not isinstance(link[0], tuple)}
    results = {source for source, _ in later if isinstance(source, tuple)}
    begins = {source for source, target in first - shared if target in chained}
    return len(begins) == 1 and len(results) == 1 and len(first) == len(later)


def _first_copy(stem, groups, place, nodes, edges):
    gone = {node.id for group in groups[1:] for node in group}
    name = f"{stem} \u00d7 {len(groups)}"
    start = groups[0][0].box.removeprefix(stem + ".").split(".")[0]

    def renamed(node):
        inside = node.id in place
        return replace(node, box=name + node.box.removeprefix(f"{stem}.{start}")) if inside else node

    kept = [renamed(node) for node in nodes if node.id not in gone]
    links = {}
    for edge in edges:
        source = place.get(edge.source)
        if edge.target in gone or (edge.source in gone and source[0] < len(groups) - 1):
            continue
        if source and source[0] == 0 and edge.target not in place and len(groups) > 1:
            continue
        number = groups[0][source[1]].id if edge.source in gone else edge.source
        links.setdefault((number, edge.target), replace(edge, source=number))
    return in_order(kept, list(links.values())) or kept, list(links.values())


