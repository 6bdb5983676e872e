"""Turns the exercises' texts into Markdown: plain text looks unchanged, and letters in shapes link to the
glossary.
"""

import re
from functools import cache

from autograder.build.lesson import ROOT

GLOSSARY = ROOT / "book" / "glossary.md"
ENTRY = re.compile(r"^([A-Za-z][A-Za-z0-9_]*)$", flags=re.MULTILINE)
LETTER = re.compile(r"[A-Za-z_]+")
CODE = re.compile(r"(`[^`]*`)")
MARKS = re.compile(r"([\\*_\[\]<>$|{}~])")


@cache
def explained() -> frozenset[str]:
    """Return the symbols that are entries of the glossary."""
    blocks = re.findall(r"^(:{3,}|`{3,})\{glossary\}\n(.*?)^\1$", GLOSSARY.read_text(), flags=re.S | re.M)
    return frozenset(name for _, block in blocks for name in ENTRY.findall(block))


def letters_of(axes: str) -> list[str]:
    """Return the letters and names in the axes of one tensor: "B n_heads*d_head 1" has B, n_heads and d_head."""
    return LETTER.findall(axes)


def linked_shape(axes: str) -> str:
    """Return a shape such as "B N" as (B, N) in markdown, with each letter linked to its entry in the
    glossary.
    """
    return "(" + ", ".join(LETTER.sub(_linked, axis.replace("*", " · ")) for axis in axes.split()) + ")"


def _linked(match: re.Match) -> str:
    name = match[0]
    return f"{{term}}`{name}`" if name in explained() else f"`{name}`"


def as_markdown(text: str) -> str:
    """Return the text of a hint or a mistake as markdown in which text in backticks is code and nothing else
    is markup.
    """
    parts = CODE.split(" ".join(text.split()))
    return "".join(part if number % 2 else MARKS.sub(r"\\\1", part) for number, part in enumerate(parts))
