"""Highlights code on pages, always as Python.

subtle: lexers use regular expressions, and some take hours for a text that was made to slow them down.
IPython's lexer does so for a line of a million dots. The time that Python's lexer takes is proportional to
the length of the text.
"""

from typing import Any

from nbconvert.filters.highlight import Highlight2HTML

PYTHON = {"python", "python3", "py", "ipython", "ipython3"}


def highlighted(source: str, language: str | None = None, metadata: Any = None) -> str:
    """Return code as HTML, highlighted as Python whatever language the notebook states. This is a filter for
    nbconvert's templates.
    """
    html: str = Highlight2HTML(pygments_lexer="python3")(source)
    return html
