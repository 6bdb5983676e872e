"""Makes students' names and texts safe to show in a terminal or on a page.

Students choose the names of folders and the texts of errors. In a terminal, an escape sequence could move the
cursor and overwrite a line, and a line break could add a forged line. In a terminal as well as on a page, a
bidirectional override could reverse text.
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
    """Return the text with each line escaped by `printable`, keeping the line breaks."""
    return "\n".join(printable(line) for line in text.split("\n"))
