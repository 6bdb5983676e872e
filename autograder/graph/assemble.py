"""Folded steps -> the nodes and edges of model.py, with names that a learner reads."""

from dataclasses import replace

from autograder.graph import operations as ops
from autograder.graph.fold import folded, numberless
from autograder.graph.labels import lines
from autograder.graph.model import (
    MAX_WHOLE,
    Edge,
    Node,
    bounded,
    in_order,
    plain_text,
    renumbered,
)
from autograder.graph.roles import factor, is_quiet, role
from autograder.graph.simplify import simplified


def assembled(trace):
    """(nodes, edges) of a trace."""
    steps = simplified(trace)
    groups = folded(steps, trace.outputs)
    place = {step: number for number, group in enumerate(groups) for step in group}
    links = _links(groups, place)
    inlined = _inlined(groups, links)
    boxes = _boxes(groups, inlined)
    parameters = {}
    for number, target in inlined.items():
        parameters.setdefault(target, []).append(groups[number][0])
    nodes = [
        _node(number, group, boxes.get(number, ""), parameters.get(number, ()), trace.failed)
        for number, group in enumerate(groups)
        if number not in inlined
    ]
    edges = [
        Edge(source, target, shape, quiet, places, letters)
        for (source, target), (shape, quiet, places, letters) in links.items()
        if source not in inlined
    ]
    return _with_outputs(trace, nodes, edges, place)


def _links(groups, place):
    """(source, target) -> (shape, quiet, places, letters), the shape merged over the repeats."""
    found = {}
    for target, group in enumerate(groups):
        for step in group:
            for parent, position, shape in step.parents:
                source = place[parent]
                if source != target:
                    letters = parent.axes if shape == parent.shape else ()
                    seen = found.setdefault((source, target), [])
                    seen.append((shape, is_quiet(parent), str(position), letters))
    return {
        ends: (
            merged([shape for shape, *_ in seen]),
            seen[0][1],
            _sorted(at for _, _, at, _ in seen),
            shared([letters for *_, letters in seen]),
        )
        for ends, seen in found.items()
    }


def shared(letters):
    """The letters that all of them have."""
    if len({len(words) for words in letters}) != 1:
        return ()
    return tuple(words[0] if len(set(words)) == 1 else "" for words in zip(*letters))


def _sorted(places):
    return tuple(sorted(set(places)))


def merged(shapes):
    """One shape for several: sizes that differ become a range."""
    shapes = [shape for shape in shapes if shape is not None]
    if not shapes or len({len(shape) for shape in shapes}) > 1:
        return None
    return tuple(
        sizes[0] if len(set(sizes)) == 1 else f"{min(sizes)}\u2013{max(sizes)}" for sizes in zip(*shapes)
    )


def _inlined(groups, links):
    """Parameters that only their own part uses: group -> the group in whose box they are named."""
    users = {}
    for source, target in links:
        users.setdefault(source, []).append(target)
    found = {}
    for number, group in enumerate(groups):
        step, targets = group[0], users.get(number, [])
        if step.kind == "parameter" and len(targets) == 1:
            user = groups[targets[0]][0]
            own = step.name.startswith(user.box + ".") if user.box else "." in step.name and user.op != "copy"
            if own:
                found[number] = targets[0]
    owners = {}
    for number, target in found.items():
        owners.setdefault(target, set()).add(groups[number][0].name.rpartition(".")[0])
    # What joins the weights of several parts belongs to none of them.
    return {number: target for number, target in found.items() if len(owners[target]) == 1}


def _boxes(groups, inlined):
    """Group -> the part that it is drawn in. A part with one step needs no frame of its own."""
    boxes = {number: _home(group) for number, group in enumerate(groups) if number not in inlined}
    for _ in range(6):
        count = {}
        for box in boxes.values():
            for prefix in _prefixes(box):
                count[prefix] = count.get(prefix, 0) + 1
        lone = {number: box.rpartition(".")[0] for number, box in boxes.items() if box and count[box] == 1}
        if not lone:
            break
        boxes.update(lone)
    return boxes


def _home(group):
    """heads.0 where all are of one part; heads.* where heads.0, heads.1 ... were folded."""
    boxes = {step.box for step in group}
    return boxes.pop() if len(boxes) == 1 else numberless(group[0].box)


def _prefixes(box):
    words = box.split(".")
    return [".".join(words[:n]) for n in range(1, len(words) + 1)] if box else []


def _node(number, group, box, parameters, failed):
    first = group[-1]
    state = "failed" if failed is not None and failed in group else ""
    shape = merged([step.shape for step in group])
    if first.kind != "operation":
        known = first.kind == "constant" and first.value is not None
        name = plain_text(numberless(first.name) or first.kind)
        letters = shared([step.axes for step in group])
        value = ops.number_text(first.value) if known else ""
        return Node(number, first.kind, "", name, value, shape, box=plain_text(box), axes=letters)
    label, detail = (plain_text(text) for text in lines(group, parameters))
    node = Node(number, "operation", first.op, label, detail, shape, len(group), plain_text(box), state)
    return replace(
        node,
        role=role(first),
        number=factor(first),
        dim=first.dim,
        fill=first.fill,
        axes=shared([step.axes for step in group]),
        blocked=_same([step.blocked for step in group]),
        moved=_same([step.moved for step in group]),
        side=_same([step.side for step in group]),
        does=_same([step.does for step in group]),
        part=plain_text(first.part),
    )


def _same(texts):
    return texts[0] if len(set(texts)) == 1 else ""


def _with_outputs(trace, nodes, edges, place):
    """Adds what comes out, or where and why it stopped."""
    number = len(place)
    used = {edge.source for edge in edges}
    several = len(trace.outputs) > 1
    for position, (steps, shape) in enumerate(trace.outputs):
        number += 1
        letters = trace.axes[position]
        name = f"output {position + 1}" if several else "output"
        nodes.append(Node(number, "output", "", name, "", shape, axes=letters))
        edges += [Edge(place[step], number, shape, axes=letters) for step in dict.fromkeys(steps)]
        used |= {place[step] for step in steps}
    if trace.too_long:
        nodes.append(Node(number + 1, "note", "", "\u2026 and more: the drawing stops here"))
    elif trace.error is None and not trace.outputs:
        nodes.append(Node(number + 1, "output", "", f"returns {trace.returned}"))
    # What came by a way that is not seen may have come from any input.
    unseen = trace.error is not None or any(node.label == "constant" for node in nodes)
    idle = [node.id for node in nodes if node.kind == "input" and node.id not in used and not unseen]
    nodes = [replace(node, state="unused") if node.id in idle else node for node in nodes]
    # subtle: a folded step stands where its first repeat ran, which may be before what its other repeats take.
    return renumbered(*bounded(in_order(nodes, edges) or nodes, edges, MAX_WHOLE))
