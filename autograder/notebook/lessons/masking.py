"""The figure of lesson 03: several ways to hide a score, and their effects."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import GREY, INK
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.figures.words import number

RIGHT, WRONG = "#C9EBDD", "#F9D5C2"
COLUMNS = (
    "hidden weight,\nordinary scores",
    "hidden weight,\nlow scores",
    "fully masked\nquery: weights",
    "its gradient,\nonce they are 0",
    "float16",
)
NAME, WIDE, HIGH = 1.32, 1.1, 0.42  # inches: the name of a method, a cell's width and height


@styled
def facts_about_masking(
    examined: Mapping[str, Mapping[str, Any]], title: str = "Five ways to hide a score"
) -> Picture:
    """Draw a table of masking methods, with pale green cells where a method works and pale red cells where it
    does not.

    examined: name -> the facts about a method: "weights", the weights of a hidden key, for ordinary and for
        low scores; "empty", the weights of a fully masked query; "grad", the gradient with respect to
        its scores; "half", the masked scores in float16, or None if computing them raises an error
    """
    wide, high = NAME + WIDE * len(COLUMNS) + 0.4, 1.75 + HIGH * len(examined)
    figure = card(wide, high, title)
    ax = canvas(figure, 0, 0, wide, high)
    top, told = high - 1.25, []
    for j, column in enumerate(COLUMNS):
        middle = 0.25 + NAME + (j + 0.5) * WIDE
        ax.text(middle, top + 0.28, column, ha="center", va="center", fontsize=8.5, color=GREY)
    for i, (name, facts) in enumerate(examined.items()):
        y = top - (i + 1) * HIGH
        ax.text(0.25, y + HIGH / 2, name, va="center", fontsize=9.5, fontweight="bold")
        cells = _cells(facts)
        for j, (text, is_right) in enumerate(cells):
            _cell(ax, 0.25 + NAME + j * WIDE, y, text, is_right)
        told.append(f"{name}: {', '.join(text for text, _ in cells)}")
    note = "green: as it should be; red: wrong, or an error"
    ax.text(0.25, 0.25, note, fontsize=9.5, color=GREY, va="center")
    columns = ", ".join(column.replace("\n", " ") for column in COLUMNS)
    return Picture(figure, f"{title}. A table with the columns {columns}. {'; '.join(told)}.")


def _cells(facts: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return (text, whether the method works) for each column."""
    hidden = [(number(round(weight, 4)), weight < 1e-6) for weight in facts["weights"]]
    empty = [(_each(facts["empty"]), facts["empty"] == [0] * len(facts["empty"]))]
    gradient = [(_each(facts["grad"]), facts["grad"] == [0] * len(facts["grad"]))]
    half = facts["half"] is not None
    return [*hidden, *empty, *gradient, ("works" if half else "an error", half)]


def _each(values: Sequence[float]) -> str:
    """Return the numbers as text: a list or, if all are the same, one number with "each": "0 each"."""
    texts = [number(value) for value in values]
    return f"{texts[0]} each" if len(set(texts)) == 1 else ", ".join(texts)


def _cell(ax: Axes, x: float, y: float, text: str, is_right: bool) -> None:
    colour = RIGHT if is_right else WRONG
    ax.add_patch(Rectangle((x, y), WIDE, HIGH, facecolor=colour, edgecolor="white", linewidth=2))
    ax.text(x + WIDE / 2, y + HIGH / 2, text, ha="center", va="center", fontsize=9.5, color=INK)
