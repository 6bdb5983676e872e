"""The glossary's symbols: which letters it explains, and shapes whose letters lead there."""

import re
from functools import cache

from autograder.build.lesson import ROOT

GLOSSARY = ROOT / "book" / "glossary.md"
ENTRY = re.compile(r"^([A-Za-z][A-Za-z0-9_]*)$", flags=re.MULTILINE)
LETTER = re.compile(r"[A-Za-z_]+")


@cache
def explained() -> frozenset[str]:
    """The symbols that are entries of the glossary."""
    blocks = re.findall(r"^(:{3,}|`{3,})\{glossary\}\n(.*?)^\1$", GLOSSARY.read_text(), flags=re.S | re.M)
    return frozenset(name for _, block in blocks for name in ENTRY.findall(block))


def letters_of(axes: str) -> list[str]:
    """The letters of the axes of one tensor: "B n_heads*d_head 1" has B, n_heads and d_head."""
    return LETTER.findall(axes)


def linked_shape(axes: str) -> str:
    """ "B N" as (B, N) in markdown, each letter a link to its entry."""
    return "(" + ", ".join(LETTER.sub(_linked, axis) for axis in axes.split()) + ")"


def _linked(match: re.Match) -> str:
    name = match[0]
    return f"{{term}}`{name}`" if name in explained() else f"`{name}`"
