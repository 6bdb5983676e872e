"""Shows verdicts and notes: a card in a notebook, plain text elsewhere."""

from autograder.errors import OUR_ERROR, place_of
from autograder.notebook.card import OTHER_COLOUR, html_card, html_of, text_of
from autograder.notebook.running import is_validating, running_notebook
from autograder.verdict import Verdict

NOTE_COLOUR = "#0072B2"


def show_verdict(verdict: Verdict) -> None:
    """Show the verdict as a card in a notebook, and as plain text elsewhere."""
    show(html_of(verdict), text_of(verdict))


def show(as_html: str, as_text: str) -> None:
    """Display the HTML in a notebook; print the text elsewhere."""
    if running_notebook() is None:
        print(as_text)
        return
    from IPython.display import display

    display({"text/html": as_html, "text/plain": as_text}, raw=True)


def show_failure(lines: list[str]) -> bool:
    """Display, as a card in a notebook, the message about an answer that is not right yet. Return whether it
    was displayed.

    subtle: it is a card because JupyterLab breaks the lines of an error in the middle of words. nbgrader's
    Validate shows the text of errors but no cards, so nothing is displayed there.
    """
    if running_notebook() is None or is_validating():
        return False
    head, *rest = lines if len(lines) > 1 else ["", *lines]
    show(html_card(OTHER_COLOUR, head, rest), "\n".join(lines))
    return True


def show_note(head: str, text: str, more: str) -> None:
    """Show a short text under a heading, and a line that says how to go on."""
    sentence = text[:1].upper() + text[1:]
    show(html_card(NOTE_COLOUR, head, (sentence, more)), f"{head}: {text}\n{more}")


def show_picture(verdict: Verdict) -> None:
    """Display the verdict's picture in a notebook: the expected result, the actual one and their difference.
    Do nothing elsewhere, or if the verdict has no picture.
    """
    if verdict.picture is None or running_notebook() is None:
        return
    from IPython.display import display

    from autograder.notebook import figures

    found = verdict.picture
    try:
        display(figures.expected_and_yours(found.expected, found.actual, found.worst, found.title))
    except Exception as error:  # a picture never costs a point
        print(f"The picture is left out because of {OUR_ERROR}: {place_of(error.__cause__ or error)}.")
