"""Nodes and edges -> DOT text, and its layout by Graphviz (inside the pygraphviz wheel: no system package).

The DOT holds plain quoted texts and sizes only: no HTML, no links, no files. Graphviz decides where things
stand; picture.py draws them.
"""

import json
import warnings

from autograder.graph.depth import levels, titled
from autograder.graph.model import shape_text

# Widths of letters relative to the size of the type: Helvetica, Arial and their like agree to a few per cent.
_NARROW, _WIDE = set("iljtfrI.,:;'|![]() -"), set("mwMWQO@%\u2026")
TITLE, DETAIL, SHAPE = 14, 11, 10.5
_HEAD = """digraph computation {
  rankdir=TB; nodesep=0.28; ranksep=0.12; splines=spline; ordering=out;
  node [shape=box, fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=10.5, arrowsize=0.6];
"""


def text_width(text, size):
    """About how wide a line is, in points."""
    return size * sum(0.32 if c in _NARROW else 0.88 if c in _WIDE else 0.58 for c in text)


def lines_of(node):
    """(text, size) of each line on a box."""
    times = f" \u00d7 {node.times}" if node.times > 1 else ""
    first = DETAIL + 0.5 if is_small(node) else TITLE
    if is_small(node) and node.detail:
        return [(f"{node.label} {node.detail}{times}", first)]
    mark = "\u2717 " if node.state == "failed" else ""
    found = [(mark + node.label + times, first)]
    if node.detail:
        found.append((node.detail, DETAIL))
    if node.kind in ("parameter", "constant") and node.shape and not node.detail:
        found[0] = (f"{node.label} {shape_text(node.shape, node.axes)}", first)
    return found


def is_small(node):
    from autograder.graph.operations import category

    return node.kind in ("parameter", "constant") or (
        node.kind == "operation" and category(node.op) == "layout"
    )


def size_of(node):
    """Width and height of a box in points."""
    lines = lines_of(node)
    width = max(text_width(text, size) * (1.06 if size == TITLE else 1) for text, size in lines)
    height = sum(size * 1.3 for _, size in lines)
    return max(width + 24, 44), height + (8 if is_small(node) else 14)


def quoted(text):
    """Any text as a DOT string: plain, nothing in it interpreted by Graphviz but the ends of lines."""
    safe = "".join(c if c.isprintable() else "\0" if c == "\n" else " " for c in text)
    safe = safe.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + safe.replace("\0", "\\n") + '"'


def dot_text(nodes, edges):
    """The whole graph as DOT, to be read or drawn elsewhere."""
    lines = [_HEAD + _boxes(nodes)]
    for node in nodes:
        label = quoted("\n".join(text for text, _ in lines_of(node)))
        lines.append(f"  n{node.id} [label={label}];\n")
    by_id = {node.id: node for node in nodes}
    for edge in edges:
        text = edge_label(edge, by_id)
        label = f" [label={quoted(text)}]" if text else ""
        lines.append(f"  n{edge.source} -> n{edge.target}{label};\n")
    return "".join(lines) + "}\n"


def _layout_text(nodes, edges):
    """The same graph as sizes only. A shape is a place of its own, where the arrows of one tensor part.

    subtle: Graphviz loads fonts to measure a text, and may then warn on the process's standard error, where
    nbgrader takes a line for a failure. Without texts it has nothing to say.
    """
    by_id = {node.id: node for node in nodes}
    shapes = shared_shapes(edges, by_id)
    lines = [_HEAD + _boxes(nodes, _homes(shapes, by_id))]
    for node in nodes:
        lines.append(_place(f"n{node.id}", *size_of(node)))
    for number, ((source, _), (text, targets)) in enumerate(shapes.items()):
        start = f"n{source}"
        if text:
            start = f"s{number}"
            lines.append(_place(start, text_width(text, SHAPE) + 6, SHAPE * 1.25))
            lines.append(f"  n{source} -> {start} [weight=3];\n")
        # Arrows that spread need room to bend.
        room = " [minlen=2]" if len(targets) > 2 or not text else ""
        lines += [f"  {start} -> n{target}{room};\n" for target in targets]
    return "".join(lines) + "}\n"


def shared_shapes(edges, by_id):
    """(source, shape) -> (its text, the targets): one text for all arrows that carry one tensor."""
    found = {}
    for edge in edges:
        text = edge_label(edge, by_id)
        found.setdefault((edge.source, text), (text, []))[1].append(edge.target)
    return found


def _place(name, width, height):
    return f'  {name} [label="", width={width / 72:.3f}, height={height / 72:.3f}];\n'


def edge_label(edge, by_id):
    """The shape that flows along; a parameter carries its shape on its own box."""
    source = by_id[edge.source]
    return (
        ""
        if source.kind in ("parameter", "constant", "note")
        else shape_text(edge.shape, edge.axes)
    )


def _homes(shapes, by_id):
    """Shapes of tensors that stay inside a part are placed inside its box: name of the place -> box."""
    homes = {}
    for number, ((source, text), (_, targets)) in enumerate(shapes.items()):
        shared = [_common(by_id[source].box, by_id[target].box) for target in targets]
        if text and max(shared, key=len):
            homes[f"s{number}"] = max(shared, key=len)
    return homes


def _common(box, other):
    """The innermost part that holds both."""
    both = [path for path, again in zip(levels(box), levels(other)) if path == again]
    return both[-1] if both else ""


def _boxes(nodes, homes=None):
    """Parts of a model as nested clusters; with `homes` for the layout, where names are left out."""
    tree = _tree(nodes, homes or {})
    return "".join(
        _cluster(word, inner, str(number), homes is None)
        for number, (word, inner) in enumerate(tree.items())
        if word
    )


def _tree(nodes, homes=()):
    tree = {}
    members = [(f"n{node.id}", node.box) for node in nodes] + list(dict(homes).items())
    for name, box in members:
        place = tree
        for path in levels(box):
            place = place.setdefault(path, {})
        place.setdefault("", []).append(name)
    return tree


def _cluster(name, inner, number, labels):
    members = "".join(f" {member};" for member in inner.get("", ()))
    nested = "".join(
        _cluster(word, part, f"{number}_{n}", labels)
        for n, (word, part) in enumerate(inner.items())
        if word
    )
    look = (
        f'label={quoted(titled(name))}; fontsize=11; fontname="Helvetica"; labeljust=l;' if labels else 'label="";'
    )
    return f"  subgraph cluster_{number} {{ margin=22; {look}\n{nested}  {members}\n  }}\n"


def cluster_names(nodes):
    """Cluster -> the name of the part, numbered as in the DOT."""
    found = {}

    def walk(tree, prefix):
        for number, (word, inner) in enumerate(tree.items()):
            if word:
                found[f"cluster_{prefix}{number}"] = titled(word)
                walk(inner, f"{prefix}{number}_")

    walk(_tree(nodes), "")
    return found


def layout(nodes, edges):
    """Graphviz's answer as data: where each box and arrow stands."""
    import pygraphviz

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = pygraphviz.AGraph(string=_layout_text(nodes, edges))
        return json.loads(graph.draw(format="json0", prog="dot"))
