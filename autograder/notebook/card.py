"""How a verdict looks: a small card in a notebook, plain text elsewhere."""

import html
import re
from collections.abc import Iterable

from autograder.errors import OUR_ERROR, place_of
from autograder.notebook.running import is_validating, running_notebook
from autograder.verdict import PARTLY_RIGHT, RIGHT, Verdict

SIGNS = {RIGHT: "✓", PARTLY_RIGHT: "◐"}
COLOURS = {RIGHT: "#009E73", PARTLY_RIGHT: "#E69F00"}
CODE = re.compile("`([^`]+)`")
OTHER_SIGN, OTHER_COLOUR, NOTE_COLOUR = "✗", "#D55E00", "#0072B2"


def text_of(verdict: Verdict) -> str:
    """A headline and the lines of the message."""
    return "\n".join([_headline(verdict), *verdict.message.splitlines()])


def _headline(verdict: Verdict) -> str:
    sign = SIGNS.get(verdict.state, OTHER_SIGN)
    return f"{sign} {verdict.exercise}: {verdict.state}, {_points(verdict)}"


def _points(verdict: Verdict) -> str:
    total = f"{_number(verdict.points)} of {_number(verdict.max_points)} points"
    if verdict.state != PARTLY_RIGHT:
        return total
    aspects = (f"{one.name} {_number(one.points)} of {_number(one.max_points)}" for one in verdict.aspects)
    return f"{total} ({', '.join(aspects)})"


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def show_verdict(verdict: Verdict) -> None:
    """Displays a card in a notebook; prints the text elsewhere."""
    show(html_of(verdict), text_of(verdict))


def show(as_html: str, as_text: str) -> None:
    """Displays the HTML in a notebook; prints the text elsewhere."""
    if running_notebook() is None:
        print(as_text)
        return
    from IPython.display import display

    display({"text/html": as_html, "text/plain": as_text}, raw=True)


def html_of(verdict: Verdict) -> str:
    """The verdict as a small card."""
    colour = COLOURS.get(verdict.state, OTHER_COLOUR)
    return _html_card(colour, _headline(verdict), verdict.message.splitlines())


def _html_card(colour: str, head: str, lines: Iterable[str]) -> str:
    told = (CODE.sub(r"<code>\1</code>", html.escape(line)) for line in lines)
    body = "".join(f"<div>{line}</div>" for line in told)
    strong = f"<strong>{html.escape(head)}</strong>" if head else ""
    return (
        f'<div style="border-left: 4px solid {colour}; padding: 4px 12px; margin: 4px 0; overflow-wrap: anywhere">'
        f"{strong}{body}</div>"
    )


def show_failure(lines: list[str]) -> bool:
    """In a notebook, shows what a check says of an answer that is not right yet; elsewhere returns False.

    subtle: a card, because JupyterLab breaks the lines of an error in the middle of words. nbgrader's Validate shows
    the text of errors, and no cards.
    """
    if running_notebook() is None or is_validating():
        return False
    head, *rest = lines if len(lines) > 1 else ["", *lines]
    show(_html_card(OTHER_COLOUR, head, rest), "\n".join(lines))
    return True


def show_note(head: str, text: str, more: str) -> None:
    """Shows a short text under a head, and a line that says how to go on."""
    sentence = text[:1].upper() + text[1:]
    show(_html_card(NOTE_COLOUR, head, (sentence, more)), f"{head}: {text}\n{more}")


def show_picture(verdict: Verdict) -> None:
    """In a notebook, shows the expected result, the actual one and their difference; elsewhere nothing."""
    if verdict.picture is None or running_notebook() is None:
        return
    from IPython.display import display

    from autograder.notebook import figures

    found = verdict.picture
    try:
        display(figures.expected_and_yours(found.expected, found.actual, found.worst, found.title))
    except Exception as error:  # a picture never costs a point
        print(f"The picture is left out, by {OUR_ERROR}: {place_of(error.__cause__ or error)}.")
