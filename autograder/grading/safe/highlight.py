"""Colours code on pages, as Python and as nothing else.

subtle: lexers are regular expressions, and some take hours for a text made to slow them down: IPython's, for a
line of a million dots. Python's takes time in proportion to the text.
"""

from typing import Any

from nbconvert.filters.highlight import Highlight2HTML

PYTHON = {"python", "python3", "py", "ipython", "ipython3"}


def highlighted(source: str, language: str | None = None, metadata: Any = None) -> str:
    """Return code as HTML, whatever its notebook says of its language: a filter for nbconvert's templates."""
    html: str = Highlight2HTML(pygments_lexer="python3")(source)
    return html
