"""The marks in a cell's text, such as ### BEGIN SOLUTION ... ### END SOLUTION.

The marks are nbgrader's own. This module finds the regions between them, and replaces or removes marks or
whole regions.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

SOLUTION = "SOLUTION"
HIDDEN_TESTS = "HIDDEN TESTS"
MARK_SCHEME = "MARK SCHEME"
ALL = (SOLUTION, HIDDEN_TESTS, MARK_SCHEME)


class SourceError(ValueError):
    """Raised for an error in a cell of a lesson's source. The error's text says what is wrong; the caller
    adds where.
    """


class MarkError(SourceError):
    """Raised if marks do not form pairs, or are not written correctly."""


class Region(NamedTuple):
    """A marked region of a text: the indices of the lines with its BEGIN mark (`first`) and its END mark
    (`last`), and the `lines` between them.
    """

    kind: str
    first: int
    last: int
    lines: list[str]


def find_regions(text: str) -> list[Region]:
    """Return the marked regions of a text, in order. Raises MarkError if marks are nested, unpaired or not
    written correctly.
    """
    lines, regions, opened = text.split("\n"), [], None
    for number, line in enumerate(lines):
        mark = _mark(line)
        if mark is None:
            continue
        edge, kind = mark
        if edge == "BEGIN":
            if opened:
                raise MarkError(f"### BEGIN {kind} is inside another region")
            opened = (kind, number)
        elif opened is None or opened[0] != kind:
            raise MarkError(f"### END {kind} closes nothing")
        else:
            regions.append(Region(kind, opened[1], number, lines[opened[1] + 1 : number]))
            opened = None
    if opened:
        raise MarkError(f"### BEGIN {opened[0]} is never closed")
    return regions


def without_regions(text: str, kind: str) -> str:
    """Return the text without its regions of this kind, their marks, and any line breaks at its end."""
    lines = text.split("\n")
    for region in reversed([region for region in find_regions(text) if region.kind == kind]):
        del lines[region.first : region.last + 1]
    return "\n".join(lines).rstrip("\n")


def replace_marks(text: str, begin: dict[str, list[str]]) -> str:
    """Return the text with each BEGIN mark replaced by the lines that `begin` holds for its kind, or removed
    if it holds none, and with each END mark removed.
    """
    lines = text.split("\n")
    for region in reversed(find_regions(text)):
        lines[region.last : region.last + 1] = []
        lines[region.first : region.first + 1] = begin.get(region.kind, [])
    return "\n".join(lines)


def replace_regions(text: str, stubs: Mapping[str, str]) -> str:
    """Return the text with each region and its marks replaced by `stubs[kind]`, indented like the BEGIN mark.
    Regions of kinds that are not in `stubs` are removed.
    """
    lines = text.split("\n")
    for region in reversed(find_regions(text)):
        indent = re.match(r"\s*", lines[region.first])[0]  # type: ignore[index]
        stub = stubs[region.kind].split("\n") if region.kind in stubs else []
        lines[region.first : region.last + 1] = [indent + line for line in stub]
    return "\n".join(lines)


def _mark(line: str) -> tuple[str, str] | None:
    text = line.strip()
    for kind in ALL:
        for edge in ("BEGIN", "END"):
            if text == f"### {edge} {kind}":
                return edge, kind
            if f"{edge} {kind}" in text:
                raise MarkError(f"write the mark as ### {edge} {kind}, alone on its line")
    return None
