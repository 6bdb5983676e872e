"""Escapes names and texts of students for a terminal and a page.

A student chooses the name of a folder and the text of an error. On a terminal an escape sequence could move
the cursor and overwrite a line, and a line break could forge one; on both, a bidi override could reverse
text.
"""

import unicodedata

JOINERS = "\u200c\u200d"  # parts of names in some scripts


def printable(text: str) -> str:
    r"""Return the text on one line, with invisible characters as Python escapes: \x1b, \n, \u202e."""
    if text.isprintable():
        return text
    return "".join(c if _is_visible(c) else c.encode("unicode_escape").decode() for c in text)


def _is_visible(char: str) -> bool:
    return char.isprintable() or char in JOINERS or unicodedata.category(char) == "Zs"


def printable_lines(text: str) -> str:
    """Return each line of the text as `printable` does, keeping the line breaks."""
    return "\n".join(printable(line) for line in text.split("\n"))
