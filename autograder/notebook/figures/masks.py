"""Masks: which query may attend to which key."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.tables import name_axes, name_cells
from autograder.notebook.figures.words import Matrix, rows

MAY, MAY_NOT = "#8CC4E6", "#F3F4F6"


def draw_mask(
    ax: Axes,
    allowed: list,
    row_names: Sequence[str],
    column_names: Sequence[str],
    words: tuple[str, str] | None = None,
) -> None:
    """Draw a mask, blue where a query may attend and hatched where it may not; `words` holds the texts for
    these two kinds of cell.
    """
    for i, line in enumerate(allowed):
        for j, may in enumerate(line):
            ax.add_patch(
                Rectangle(
                    (j, i),
                    1,
                    1,
                    facecolor=MAY if may else MAY_NOT,
                    edgecolor="white" if may else "#D1D5DB",
                    hatch=None if may else "////",
                    linewidth=0,
                )
            )
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor="none", edgecolor="white", linewidth=2))
            if words:
                _word(ax, j + 0.5, i + 0.5, words[0] if may else words[1])
    name_cells(ax, row_names, column_names)


def _word(ax: Axes, x: float, y: float, text: str) -> None:
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    ax.text(x, y, text, ha="center", va="center", fontsize=8.5, bbox=box)


def described(allowed: list, row_names: Sequence[str], column_names: Sequence[str]) -> str:
    """Return a description in words: for each row, the columns to which it may attend."""
    lines = []
    for name, line in zip(row_names, allowed, strict=True):
        seen = [column for column, may in zip(column_names, line, strict=True) if may]
        lines.append(f"{name} may attend to {', '.join(seen) or 'nothing'}")
    return "; ".join(lines)


@styled
def mask(
    allowed: Matrix,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    title: str = "Who may attend to whom",
) -> Picture:
    """Draw a Boolean mask as a table, True where the query of the row may attend to the key of the column."""
    allowed, keys = rows(allowed), keys or tokens
    left = max(1.4, 0.85 + 0.085 * max(map(len, tokens)))
    figure = card(max(left + 0.6 + 0.72 * len(keys), 4.4), 0.5 * len(allowed) + 1.45, title)
    ax = axes(figure, left, 0.3, 0.72 * len(keys), 0.5 * len(allowed))
    draw_mask(ax, allowed, tokens, keys, ("True", "False"))
    name_axes(ax)
    return Picture(figure, f"{title}. A table of True and False: {described(allowed, tokens, keys)}")
