"""Draws an expected result next to the actual one, for `check`."""

from collections.abc import Sequence

from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import GREY, INK, SIGNED, VERMILLION
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.tables import draw_table
from autograder.notebook.figures.words import number

CELL_WIDTH, CELL_HEIGHT, GAP = 0.62, 0.4, 0.55


@styled
def expected_and_yours(
    expected: Sequence[Sequence[float]], yours: Sequence[Sequence[float]], worst: tuple[int, int], title: str
) -> Picture:
    """Draw three matrices side by side: expected, yours and their difference, with the worst cell marked.

    worst: (row, column) of the cell that is furthest off
    NaN and infinities are written as such.
    """
    difference = [[y - e for e, y in zip(*lines, strict=True)] for lines in zip(expected, yours, strict=True)]
    n_rows, n_columns = len(expected), len(expected[0])
    across = n_columns * CELL_WIDTH
    figure = card(max(3 * across + 3 * GAP + 0.5, 0.09 * len(title) + 0.6), n_rows * CELL_HEIGHT + 1.45)
    # The colour scale is that of the expected numbers; far larger ones get its darkest colour.
    high = max([1e-9, *(abs(v) for line in expected for v in line if abs(v) < float("inf"))])
    row, column = worst
    matrices = [("expected", expected), ("yours", yours), ("yours − expected", difference)]
    for k, (name, values) in enumerate(matrices):
        ax = axes(figure, 0.55 + k * (across + GAP), 0.55, across, n_rows * CELL_HEIGHT)
        _matrix(ax, values, high, name)
        ax.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=INK, linewidth=2.5, zorder=5))
    width, height = figure.get_size_inches()
    figure.text(0.3 / width, 0.27 / height, title, color=GREY, fontsize=9, va="center")
    alt = (
        f"Expected, yours and the difference for {title}. Furthest off is row {row}, column {column}: expected "
        f"{number(expected[row][column], 4)}, yours {_spoken(yours[row][column])}."
    )
    return Picture(figure, alt)


def _matrix(ax, values: Sequence[Sequence[float]], high: float, name: str) -> None:
    finite = [[value if abs(value) < float("inf") else 0.0 for value in line] for line in values]
    row_names, column_names = ([str(k) for k in range(len(table))] for table in (values, values[0]))
    draw_table(ax, finite, row_names, column_names, SIGNED, -high, high)
    for text, value in zip(ax.texts, (value for line in values for value in line), strict=True):
        text.set_fontsize(8.5)
        if abs(value) >= 100:
            text.set_text(number(value, 0) if abs(value) < 1e5 else f"{value:.0e}")
        if not abs(value) < float("inf"):
            text.set_text(_spoken(value))
            text.set_color(VERMILLION)
    ax.set_title(name, fontsize=10.5, color=INK, pad=22)


def _spoken(value: float) -> str:
    return "NaN" if value != value else number(value, 4) if abs(value) < float("inf") else f"{value}"
