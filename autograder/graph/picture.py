"""The drawing itself: SVG on a white card with round corners, in the palette of the lessons' figures.

It reads well on a dark page and in print, says what it shows to a screen reader, and is the same to the byte
for the same graph. Colour is never alone: every box says in words what it is.
"""

from itertools import zip_longest

from autograder.graph import dot
from autograder.graph.elements import arrow_head, disc, pair, rect, safe, wrapped, write
from autograder.graph.letters import legend
from autograder.graph.model import shape_text
from autograder.graph.operations import category

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, GREY, INK, LINE = "#CC79A7", "#56B4E9", "#4B5563", "#1F2937", "#D1D5DB"
# Line and fill of a box by what it does; fills are the line's colour, thinned on white.
_STYLES = {
    "input": (BLUE, "#DCEBF5"),
    "output": (BLUE, "#DCEBF5"),
    "parameter": (LINE, "#F9FAFB"),
    "constant": (LINE, "#F9FAFB"),
    "note": (LINE, "#FFFFFF"),
    "product": (ORANGE, "#FDF3DD"),
    "softmax": (GREEN, "#DDF2EB"),
    "mask": (PURPLE, "#F8E9F1"),
    "norm": (SKY, "#E7F4FC"),
    "activation": (GREEN, "#F0F9F6"),
    "other": ("#9CA3AF", "#FFFFFF"),
    "layout": (None, "none"),
    "part": (BLUE, "#FFFFFF"),
    "failed": (VERMILLION, "#FBE6DA"),
}
_FONT = "Helvetica, Arial, sans-serif"
MARGIN = 30
_HALO = ' stroke="#FFFFFF" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'


class Panel:
    """One laid-out graph as SVG elements, with its size."""

    def __init__(self, nodes, edges):
        self.nodes, self.edges = nodes, edges
        self.placed = dot.layout(nodes, edges)
        self.width, self.drawn = (float(number) for number in self.placed["bb"].split(",")[2:])
        self.letters = legend(nodes, edges)
        drawn = self.width
        self.width = max(drawn, dot.text_width(self.letters, 11))
        self.left = (self.width - drawn) / 2
        self.height = self.drawn + (26 if self.letters else 0)

    def elements(self):
        by_id = {node.id: node for node in self.nodes}
        things = self.placed.get("objects", ())
        quiet = {(edge.source, edge.target) for edge in self.edges if edge.quiet}
        shapes = [(source, text) for (source, text), _ in dot.shared_shapes(self.edges, by_id).items()]
        frames = [self._cluster(item) for item in things if "bb" in item]
        parts = [frame for frame, _ in frames]
        parts += [self._arrow(item, things, shapes, quiet) for item in self.placed.get("edges", ())]
        parts += [name for _, name in frames]
        parts += [self._shape(item, shapes) for item in things if item["name"][0] == "s" and "pos" in item]
        parts += [self._box(item, by_id) for item in things if item["name"][0] == "n" and "pos" in item]
        if self.letters:
            parts.append(write(self.width / 2, self.height - 2, self.letters, 11, GREY))
        return "\n".join(parts)

    def _point(self, text):
        x, y = text.split(",")[:2]
        return float(x) + self.left, self.drawn - float(y)

    def _cluster(self, item):
        left, low, right, high = (float(number) for number in item["bb"].split(","))
        left, right = left + self.left, right + self.left
        frame = rect(
            left, self.drawn - high, right - left, high - low, 8, "none", LINE, 'stroke-dasharray="4 3"'
        )
        name = dot.cluster_names(self.nodes).get(item["name"], "")
        # An arrow may pass behind the name: a white edge keeps it readable.
        return frame, write(left + 8, self.drawn - high + 15, name, 11, GREY, anchor="start", more=_HALO)

    def _arrow(self, item, things, shapes, quiet):
        tail, head = things[item["tail"]]["name"], things[item["head"]]["name"]
        source = int(tail[1:]) if tail[0] == "n" else shapes[int(tail[1:])][0]
        calm = any(ends[0] == source and (head[0] == "s" or ends[1] == int(head[1:])) for ends in quiet)
        tip, *points = item["pos"].removeprefix("e,").split(" ")
        points, colour = [self._point(point) for point in points], LINE if calm else "#9CA3AF"
        dash = ' stroke-dasharray="3 3"' if calm else ""
        if head[0] == "s":
            points.append(self._point(tip))
            points[-2] = points[-1]
        curve = f"M{pair(points[0])}C" + " ".join(
            pair(point) for point in points[1 : len(points) - (head[0] == "s")]
        )
        line = f'<path d="{curve}" fill="none" stroke="{colour}" stroke-width="1.3"{dash}/>'
        return line if head[0] == "s" else line + arrow_head(points[-1], self._point(tip), colour)

    def _shape(self, item, shapes):
        x, y = self._point(item["pos"])
        return write(x, y + dot.SHAPE * 0.34, shapes[int(item["name"][1:])][1], dot.SHAPE, GREY)

    def _box(self, item, by_id):
        node = by_id[int(item["name"][1:])]
        x, y = self._point(item["pos"])
        width, height = dot.size_of(node)
        line, fill = _style(node)
        line = VERMILLION if node.state == "differs" else line
        left, top = x - width / 2, y - height / 2
        dash = 'stroke-dasharray="4 3"' if node.state == "unused" else ""
        shapes = (
            rect(left, top, width, height, 7, fill, line, dash)
            if line
            else rect(left, top, width, height, 7, "#FFFFFF", "#FFFFFF")
        )
        if node.kind == "part":
            shapes += rect(left + 3, top + 3, width - 6, height - 6, 5, "none", LINE)
        if node.times > 1 and line:
            shapes = rect(left + 3.5, top + 3.5, width, height, 7, fill, line) + shapes
        shapes += _lines(node, x, top, height) + _badge(node, left, y)
        return f"<g><title>{_said(node)}</title>{shapes}</g>"


def svg(panels, title, description, notes=(), titles=()):
    """A card with one graph or several beside each other, under the sentences that matter."""
    gap, row = 34, 20
    widths = [max(panel.width, _title_width(word)) for panel, word in zip_longest(panels, titles, fillvalue="")]
    graphs = sum(widths) + gap * (len(panels) - 1)
    notes = [line for note in notes for line in wrapped(note, max(60, min(int(graphs / 6.6), 110)))]
    inner = max([graphs, 180, *(dot.text_width(note, 13) * 0.98 for note in notes)])
    head = (row * len(notes) + 10 if notes else 0) + (30 if titles else 0)
    width, height = inner + 2 * MARGIN, max(panel.height for panel in panels) + head + 2 * MARGIN
    parts = [rect(0.5, 0.5, width - 1, height - 1, 12, "#FFFFFF", LINE)]
    for number, note in enumerate(notes):
        parts.append(write(MARGIN, MARGIN + 11 + row * number, note, 13, INK, anchor="start"))
    middle = MARGIN + (inner - graphs) / 2
    for panel, wide, word in zip_longest(panels, widths, titles, fillvalue=""):
        middle += wide / 2
        if word:
            parts.append(write(middle, MARGIN + head - 18, word, 14, INK, bold=True))
        place = f"{middle - panel.width / 2:.2f},{MARGIN + head}"
        parts.append(f'<g transform="translate({place})">\n{panel.elements()}\n</g>')
        middle += wide / 2 + gap
    return _card(width, height, title, description, parts)


def _title_width(text):
    return dot.text_width(text, 14) * 1.06


def _card(width, height, title, description, parts):
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.2f} {height:.2f}" role="img" aria-label="{safe(title, 400)}" '
        f'style="max-width:100%;height:auto" font-family="{_FONT}">'
    )
    told = [f"<title>{safe(title, 400)}</title>", f"<desc>{safe(description, 4000)}</desc>"]
    return "\n".join([opening, *told, *parts, "</svg>"]) + "\n"


def _style(node):
    if node.kind != "operation":
        return _STYLES[node.kind]
    return _STYLES["failed" if node.state == "failed" else "mask" if node.role == "mask" else category(node.op)]


def _badge(node, left, middle):
    """The number that the matching step carries on the other side, or the sign of a difference."""
    if node.state == "differs":
        return disc(left, middle, 8, VERMILLION) + write(left, middle + 4, "\u2260", 12, "#FFFFFF", bold=True)
    if not node.badge:
        return ""
    text = str(node.badge) if node.last_badge <= node.badge else f"{node.badge}\u2013{node.last_badge}"
    wide = 15 + 6 * (len(text) - 1)
    left -= wide / 2 - 4
    frame = rect(left - wide / 2, middle - 7.5, wide, 15, 7.5, "#FFFFFF", LINE)
    return frame + write(left, middle + 3.5, text, 10, GREY)


def _lines(node, x, top, height):
    lines = dot.lines_of(node)
    y = top + (height - sum(size * 1.3 for _, size in lines)) / 2
    parts = []
    for number, (text, size) in enumerate(lines):
        y += size * 1.3
        main = number == 0 and not dot.is_small(node)
        parts.append(write(x, y - size * 0.32, text, size, INK if main else GREY, bold=main))
    return "".join(parts)


def _said(node):
    times = f", {node.times} times" if node.times > 1 else ""
    return safe(
        " ".join(word for word in (node.label, node.detail, shape_text(node.shape)) if word) + times
    )
