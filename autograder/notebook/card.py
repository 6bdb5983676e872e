"""Formats a verdict as text, and as a small card in HTML."""

import html
import re
from collections.abc import Iterable

from autograder.verdict import PARTLY_RIGHT, RIGHT, Verdict, as_written

SIGNS = {RIGHT: "✓", PARTLY_RIGHT: "◐"}
COLOURS = {RIGHT: "#009E73", PARTLY_RIGHT: "#E69F00"}
CODE = re.compile("`([^`]+)`")
OTHER_SIGN, OTHER_COLOUR = "✗", "#D55E00"


def text_of(verdict: Verdict) -> str:
    """Return the verdict as text: a headline and the lines of the message."""
    return "\n".join([_headline(verdict), *verdict.message.splitlines()])


def _headline(verdict: Verdict) -> str:
    sign = SIGNS.get(verdict.state, OTHER_SIGN)
    return f"{sign} {verdict.exercise}: {verdict.state}, {_points(verdict)}"


def _points(verdict: Verdict) -> str:
    total = f"{as_written(verdict.points)} of {as_written(verdict.max_points)} points"
    if verdict.state != PARTLY_RIGHT:
        return total
    aspects = (
        f"{one.name} {as_written(one.points)} of {as_written(one.max_points)}" for one in verdict.aspects
    )
    return f"{total} ({', '.join(aspects)})"


def html_of(verdict: Verdict) -> str:
    """Return the verdict as a small card in HTML."""
    colour = COLOURS.get(verdict.state, OTHER_COLOUR)
    return html_card(colour, _headline(verdict), verdict.message.splitlines())


def with_code(text: str) -> str:
    """Return text as escaped HTML, in which text between backticks is set as code."""
    return CODE.sub(r"<code>\1</code>", html.escape(text))


def html_card(colour: str, head: str, lines: Iterable[str]) -> str:
    """Return a card in HTML: a coloured edge, a bold heading, and lines in which text between backticks is
    set as code.
    """
    body = "".join(f"<div>{with_code(line)}</div>" for line in lines)
    strong = f"<strong>{html.escape(head)}</strong>" if head else ""
    return (
        f'<div style="border-left: 4px solid {colour}; padding: 4px 12px; margin: 4px 0; overflow-wrap: anywhere">'
        f"{strong}{body}</div>"
    )
