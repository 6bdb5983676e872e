"""Layers that are alike and follow each other, drawn once: layers.0, layers.1 ... become one frame, "layers × 6"."""

from dataclasses import replace

from autograder.graph.model import in_order


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
