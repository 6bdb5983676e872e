"""Turns nodes and edges into DOT text, which sets the labels and colours of the boxes, and turns DOT text
into SVG.

All texts are escaped here. Colour alone carries no meaning: every box says in words what it is. Graphviz,
which comes with the pygraphviz wheel, computes the layout and draws. The picture is one SVG element without
scripts, links or anything to be fetched; its white background keeps it readable on a dark page.
"""

from collections.abc import Iterable
from html import escape
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree

from autograder.graph.depth import levels, titled
from autograder.graph.model import Edge, Edges, Node, Nodes, plain_text, shape_text
from autograder.graph.walk import Walk
from autograder.isolation import quiet, quiet_libraries

INK, GREY, LINE, ARROW = "#1F2937", "#4B5563", "#D1D5DB", "#6B7280"
BLUE, VERMILLION = "#0072B2", "#D55E00"
# Line and fill of a box by what it does, in the palette of the lessons' figures.
STYLES = {
    "input": (BLUE, "#DCEBF5"),
    "output": (BLUE, "#DCEBF5"),
    "parameter": (LINE, "#F9FAFB"),
    "constant": (LINE, "#F9FAFB"),
    "note": (LINE, "#FFFFFF"),
    "product": ("#E69F00", "#FDF3DD"),
    "softmax": ("#009E73", "#DDF2EB"),
    "mask": ("#CC79A7", "#F8E9F1"),
    "norm": ("#56B4E9", "#E7F4FC"),
    "activation": ("#009E73", "#F0F9F6"),
    "plain": ("#9CA3AF", "#FFFFFF"),
    "layout": (LINE, "#FFFFFF"),
    "part": (BLUE, "#FFFFFF"),
    "failed": (VERMILLION, "#FBE6DA"),
}
_TITLE, _DETAIL = 13, 10.5
_SVG = "{http://www.w3.org/2000/svg}"
_HEAD = f"""digraph computation {{
  rankdir=TB; nodesep=0.22; ranksep=0.26; ordering=out; bgcolor=white; pad=0.2; fontname="Helvetica,Arial,sans-serif";
  node [shape=box, style="rounded,filled", margin="0.15,0.05", height=0.2, fontname="Helvetica,Arial,sans-serif"];
  edge [color="{ARROW}", arrowsize=0.6, penwidth=1.1];
"""


def dot_of(nodes: Nodes, edges: Edges, notes: tuple[str, ...] = ()) -> str:
    """Return one graph as DOT text, with the sentences in `notes` above it."""
    return _HEAD + _notes(notes) + _body(nodes, edges, "n") + "}\n"


def dot_of_pair(sides: list[tuple[str, Nodes, Edges]], notes: list[str]) -> str:
    """Return two graphs side by side as DOT text, each with its title, and the sentences in `notes` above
    them.
    """
    # An invisible node above both graphs keeps the first one on the left.
    text = _HEAD + _notes(notes) + '  start [style=invis, label="", width=0, height=0, margin=0];\n'
    for place, (title, nodes, edges) in enumerate(sides):
        name = "mt"[place]
        frame = f'margin=14; style=rounded; color="{LINE}"; {_frame(title, 14, INK)}'
        text += f"  subgraph cluster_{name} {{ {frame}\n{_body(nodes, edges, name)}  }}\n"
        text += "".join(
            f"  start -> {name}{node.id} [style=invis];\n" for node in nodes if node.kind == "input"
        )
    return text + "}\n"


def _notes(notes: Iterable[str]) -> str:
    wrapped = [
        wrap(plain_text(note, 400), 90, break_long_words=False, break_on_hyphens=False) for note in notes
    ]
    lines = "".join(f'{_safe(line)}<BR ALIGN="LEFT"/>' for note in wrapped for line in note)
    return f'  labelloc=t; labeljust=l; fontsize=13; fontcolor="{INK}"; label=<{lines}>;\n' if lines else ""


def _body(nodes: Nodes, edges: Edges, prefix: str) -> str:
    inside: dict[str, Any] = {}
    for node in nodes:
        place = inside
        for path in levels(node.box):
            place = place.setdefault(path, {})
        place.setdefault("", []).append(node)
    walk = Walk(nodes, edges)
    return _cluster(inside, prefix, "") + "".join(_arrow(walk, edge, prefix) for edge in edges)


def _cluster(inside: dict[str, Any], prefix: str, place: str) -> str:
    """Return DOT text for one part: a box for each of its nodes, and a frame for each part inside it that has
    more than one step.
    """
    text = "".join(f"  {prefix}{node.id} [{_box(node)}];\n" for node in inside.get("", ()))
    for number, path in enumerate(filter(None, inside)):
        part = inside[path]
        if len(part) == len(part.get("", ())) == 1:  # a part with one step needs no frame
            text += _cluster(part, prefix, place)
            continue
        name = f"cluster_{prefix}{place}{number}"
        frame = f'margin=10; style="rounded,dashed"; color="{LINE}"; labeljust=l; {_frame(titled(path), 11, GREY)}'
        text += f"  subgraph {name} {{ {frame}\n{_cluster(part, prefix, f'{place}{number}_')}  }}\n"
    return text


def _frame(title: str, size: int, colour: str) -> str:
    return f'fontsize={size}; fontcolor="{colour}"; label=<{_safe(title)}>;'


def _box(node: Node) -> str:
    line, fill = STYLES[_kind(node)]
    line, wide = (VERMILLION, 2.6) if node.state == "differs" else (line, 1.2)
    style = 'style="rounded,filled,dashed", ' if node.state == "unused" else ""
    twice = "peripheries=2, " if node.times > 1 or node.kind == "part" else ""
    return f'label=<{_label(node)}>, {style}{twice}color="{line}", fillcolor="{fill}", penwidth={wide}'


def _kind(node: Node) -> str:
    if node.state == "failed":
        return "failed"
    if node.kind != "operation":
        return node.kind
    return node.role if node.role in STYLES else "plain"


def _label(node: Node) -> str:
    mark = {"failed": "\u2717 ", "differs": "\u2260 "}.get(node.state, "")
    times = f" \u00d7 {node.times}" if node.times > 1 else ""
    lines = filter(None, (node.detail, shape_text(node.shape)))
    below = "".join(
        f'<BR/><FONT POINT-SIZE="{_DETAIL}" COLOR="{GREY}">{_safe(line)}</FONT>' for line in lines
    )
    title = _safe(f"{mark}{node.label}{times}")
    if _kind(node) in ("layout", "parameter", "constant"):
        return f'<FONT POINT-SIZE="{_DETAIL}" COLOR="{INK}">{title}</FONT>{below}'
    return f'<FONT POINT-SIZE="{_TITLE}" COLOR="{INK}"><B>{title}</B></FONT>{below}'


def _arrow(walk: Walk, edge: Edge, prefix: str) -> str:
    look = ""
    if walk.kept_by_sum(edge.target) == edge.source:
        look = f' [color="{BLUE}", penwidth=2.6]'  # a residual connection, thick from end to end
    elif edge.is_auxiliary:
        look = f' [color="{LINE}", style=dashed]'
    return f"  {prefix}{edge.source} -> {prefix}{edge.target}{look};\n"


def _safe(text: object) -> str:
    """Escape text for an HTML-like label, so that it holds no markup and nothing that Graphviz interprets."""
    return escape(plain_text(text, 200), quote=True).replace("\\", "&#92;")


def svg_of(dot: str, title: str, description: str) -> str:
    """Return the picture of some DOT text as SVG, with a title and a description for screen readers. Raises
    ImportError if pygraphviz is missing.
    """
    import pygraphviz

    # subtle: the libraries that measure text warn about fonts, and nbgrader takes that for a failure.
    with quiet_libraries(), quiet():
        drawn = pygraphviz.AGraph(string=dot).draw(format="svg", prog="dot")
    root = ElementTree.fromstring(drawn)
    for group in root.iter(f"{_SVG}g"):
        for name in group.findall(f"{_SVG}title"):  # n1, n2 ...
            group.remove(name)
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(_SVG + tag)
        element.text = text
        root.insert(place, element)
    root.attrib |= {"role": "img", "aria-label": title, "style": "max-width:100%;height:auto"}
    ElementTree.register_namespace("", _SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode") + "\n"
