"""The elements of a drawing in SVG: boxes, discs, texts, arrow heads. Every text is escaped here."""

import textwrap
from html import escape

from autograder.graph.model import plain_text


def disc(x, y, radius, fill):
    return rect(x - radius, y - radius, 2 * radius, 2 * radius, radius, fill, "#FFFFFF")


def safe(text, limit=200):
    return escape(plain_text(text, limit), quote=True)


def rect(x, y, width, height, radius, fill, line, more=""):
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" rx="{radius}" '
        f'fill="{fill}" stroke="{line}" stroke-width="1.3" {more}/>'
    )


def write(x, y, text, size, colour, bold=False, anchor="middle", more=""):
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
        f"{weight}{more}>{safe(text)}</text>"
    )


def arrow_head(start, end, colour):
    """An arrow's head from the end of the curve to its tip."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max((dx * dx + dy * dy) ** 0.5, 0.01)
    x, y = -dy / length * 3, dx / length * 3
    left, right = pair((start[0] + x, start[1] + y)), pair((start[0] - x, start[1] - y))
    return f'<path d="M{pair(end)}L{left}L{right}Z" fill="{colour}"/>'


def pair(point):
    return f"{point[0]:.2f},{point[1]:.2f}"


def wrapped(text, width):
    return textwrap.wrap(plain_text(text, 400), width) or [""]
