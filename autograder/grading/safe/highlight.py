"""Highlights code on pages, always as Python.

subtle: lexers use regular expressions, and some take hours for a text that was made to slow them down.
IPython's lexer does so for a line of a million dots. The time that Python's lexer takes is proportional to
the length of the text.
"""

from html import escape
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.highlight import Highlight2HTML

from autograder.grading.safe.budget import LONGEST_SOURCE, budget_of

PYTHON = {"python", "python3", "py", "ipython", "ipython3"}


@pass_context
def highlight_code(context: Context, source: str, language: str | None = None, metadata: Any = None) -> str:
    """Return a cell's code as HTML, highlighted as Python whatever language the notebook states. This is a
    filter for nbconvert's templates. Code that is too long, or comes after code that has used up the page's
    tags, is not highlighted.
    """
    budget = budget_of(context)
    if len(source) > LONGEST_SOURCE or budget.code_tags <= 0:
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    html = highlighted(source)
    budget.code_tags -= html.count("<")
    return html


def highlighted(source: str) -> str:
    """Return code as HTML, highlighted as Python."""
    html: str = Highlight2HTML(pygments_lexer="python3")(source)
    return html
