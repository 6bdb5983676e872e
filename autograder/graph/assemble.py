"""Turns a recorded trace into the nodes and edges of model.py, with labels that a learner can read."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from autograder.graph import operations as ops
from autograder.graph.fold import folded, numberless
from autograder.graph.model import MAX_WHOLE, Edge, Edges, Node, Nodes, arranged, plain_text, shape_text
from autograder.graph.run import Trace
from autograder.graph.simplify import simplified
from autograder.graph.steps import Step
from autograder.graph.trace import TooLong

Groups = list[list[Step]]  # each inner list becomes one box
# Operations that combine parameters of several modules are drawn outside all of them.
_JOINING = {"copy", "cat", "stack", "multi_head_attention_forward"}
_SPOKEN = {
    "setitem": "write",
    "getitem": "pick",
    "T": "transpose",
    "mT": "transpose",
    "invert": "not",
    "unbind": "row",
}


def assembled(trace: Trace) -> tuple[Nodes, Edges]:
    """Return the graph of a trace as nodes and edges."""
    steps = simplified(trace)
    groups = folded(steps, trace.outputs)
    place = {step: number for number, group in enumerate(groups) for step in group}
    links = _links(groups, place)
    inlined = _inlined(groups, links)
    parameters: dict[int, list[Step]] = {}
    for number, target in inlined.items():
        parameters.setdefault(target, []).append(groups[number][0])
    nodes = [
        _node(number, group, parameters.get(number, ()), trace.failed)
        for number, group in enumerate(groups)
        if number not in inlined
    ]
    edges = [edge for edge in links if edge.source not in inlined]
    return _with_outputs(trace, nodes, edges, place)


def _links(groups: Groups, place: dict[Step, int]) -> Edges:
    """Return the edges between groups, at most one for each ordered pair of groups."""
    found: dict[tuple[int, int], list[tuple[bool, str]]] = {}
    for target, group in enumerate(groups):
        for step in group:
            for parent, position in step.parents:
                source = place[parent]
                if source != target:
                    found.setdefault((source, target), []).append((parent.is_auxiliary, str(position)))
    return [
        Edge(source, target, seen[0][0], tuple(sorted({place for _, place in seen})))
        for (source, target), seen in found.items()
    ]


def _common(values: Iterable, otherwise: Any = None) -> Any:
    """Return the value that all `values` share, or `otherwise` if they differ or there are none."""
    found = set(values)
    return found.pop() if len(found) == 1 else otherwise


def _inlined(groups: Groups, links: Edges) -> dict[int, int]:
    """Map each parameter that has a single use, inside its own part, to the group in whose box it is named.
    Keys and values are group numbers.

    For example, norm1.weight gets no box of its own if only the rms_norm of norm1 uses it: the box of that
    step names it, as "norm1: rms_norm, weight (7,)".
    """
    users: dict[int, list[int]] = {}
    for edge in links:
        users.setdefault(edge.source, []).append(edge.target)
    found = {}
    for number, group in enumerate(groups):
        step, targets = group[0], users.get(number, [])
        if step.kind == "parameter" and len(targets) == 1:
            user = groups[targets[0]][0]
            own = step.name.startswith(user.box + ".") if user.box else "." in step.name
            if own and user.op not in _JOINING:
                found[number] = targets[0]
    return found


def _node(number: int, group: list[Step], parameters: Sequence[Step], failed: Step | None) -> Node:
    step = group[-1]
    # heads.0 if all belong to one part; heads.* if heads.0, heads.1 ... were folded.
    box = plain_text(_common((one.box for one in group), numberless(group[0].box)))
    shape = _common(step.shape for step in group)
    if step.kind != "operation":
        known = step.kind == "constant" and step.value is not None
        name = plain_text(numberless(step.name) or step.kind)
        value = ops.number_text(step.value) if known else ""
        return Node(number, step.kind, "", name, value, shape, box=box)
    label, detail = (plain_text(text) for text in _lines(group, parameters))
    factor = step.factor
    return Node(
        number,
        "operation",
        step.op,
        label,
        detail,
        shape,
        times=len(group),
        box=box,
        state="failed" if failed is not None and failed in group else "",
        role=step.role,
        number=factor if factor is not None and math.isfinite(factor) else None,
        dim=step.dim,
        blocked=_common((step.blocked for step in group), ""),
        order=_common((step.order for step in group), ""),
        part=plain_text(step.part),
    )


def _lines(group: list[Step], parameters: Sequence[Step]) -> tuple[str, str]:
    """Return the first and second line of an operation's box."""
    step = group[-1]
    if step.op in ops.LAYOUT and "\n" in step.name:
        return ", ".join(_SPOKEN.get(word, word) for word in step.name.split("\n")[:3]), ""
    label = _SPOKEN.get(step.op, step.op)
    if not parameters:
        return label, _common((one.detail for one in group), "")
    owner = parameters[0].name.rpartition(".")[0].rpartition(".")[2]
    sizes = [f"{p.name.rpartition('.')[2]} {shape_text(p.shape)}" for p in parameters]
    return (label if owner.isdigit() else f"{owner}: {label}"), ", ".join(sizes)


def _with_outputs(trace: Trace, nodes: Nodes, edges: Edges, place: dict[Step, int]) -> tuple[Nodes, Edges]:
    """Append a node for each output, or a note if the drawing is cut short; mark inputs that nothing uses.
    Return the arranged graph.

    If the computation returned no tensor, the output node says what it returned.
    """
    number = len(place)
    used = {edge.source for edge in edges}
    several = len(trace.outputs) > 1
    for position, (steps, shape) in enumerate(trace.outputs, 1):
        number += 1
        nodes.append(Node(number, "output", "", f"output {position}" if several else "output", "", shape))
        sources = dict.fromkeys(place[step] for step in steps)
        edges += [Edge(source, number) for source in sources]
        used |= sources.keys()
    if isinstance(trace.error, TooLong):
        nodes.append(Node(number + 1, "note", "", "\u2026 and more: the drawing stops here"))
    elif trace.error is None and not trace.outputs:
        nodes.append(Node(number + 1, "output", "", f"returns {trace.returned}"))
    # A result of unobserved operations may depend on any input.
    unseen = trace.error is not None or any(node.label == "constant" for node in nodes)
    idle = [node.id for node in nodes if node.kind == "input" and node.id not in used and not unseen]
    nodes = [replace(node, state="unused") if node.id in idle else node for node in nodes]
    # subtle: a folded step has the position of its first repeat, which may run before the inputs of later
    # repeats.
    return arranged(nodes, edges, MAX_WHOLE)
