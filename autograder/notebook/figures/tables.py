"""Tables of numbers with named rows and columns: embeddings, scores, weights."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import GREY, INK, SEQUENTIAL, SIGNED
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import Matrix, listed, number, rows

CELL_WIDTH, CELL_HEIGHT = 0.72, 0.5


@styled
def table(values: Matrix, row_names: Sequence[str], column_names: Sequence[str], title: str = "") -> Picture:
    """Draw a matrix of numbers of both signs (embeddings, queries, outputs), one row per token."""
    values = rows(values)
    wide = max(CELL_WIDTH, 0.1 * max(map(len, column_names)) + 0.2)
    height = len(values) * CELL_HEIGHT + 0.75 + (0.5 if title else 0)
    left = max(1.1, 0.4 + 0.085 * max(map(len, row_names)))
    figure = card(max(left + 0.4 + wide * len(column_names), 0.105 * len(title) + 0.8), height, title)
    ax = axes(figure, left, 0.3, len(column_names) * wide, len(values) * CELL_HEIGHT)
    high = _largest(values)
    draw_table(ax, values, row_names, column_names, SIGNED, -high, high)
    alt = f"A table of {len(values)} rows and {len(column_names)} columns. " + spelled(values, row_names)
    return Picture(figure, (title + ". " if title else "") + alt)


@styled
def scores(
    values: Matrix, tokens: Sequence[str], keys: Sequence[str] | None = None, title: str = "Scores"
) -> Picture:
    """Draw the (N, M) score matrix, one row per query, one column per key."""
    values, keys = rows(values), keys or tokens
    figure = card(max(2.0 + CELL_WIDTH * len(keys), 4), len(values) * CELL_HEIGHT + 1.45, title)
    ax = axes(figure, 1.4, 0.3, len(keys) * CELL_WIDTH, len(values) * CELL_HEIGHT)
    high = _largest(values)
    draw_table(ax, values, tokens, keys, SIGNED, -high, high)
    name_axes(ax)
    return Picture(
        figure, f"{title}. A matrix of scores, one row a query, one column a key. {spelled(values, tokens)}"
    )


@styled
def weights(
    values: Matrix, tokens: Sequence[str], keys: Sequence[str] | None = None, title: str = "Attention weights"
) -> Picture:
    """Draw the (N, M) weight matrix, darker for more attention, with the sum of each row next to it."""
    values, keys = rows(values), keys or tokens
    figure = card(max(2.4 + CELL_WIDTH * len(keys), 4.4), len(values) * CELL_HEIGHT + 1.45, title)
    ax = axes(figure, 1.2, 0.3, len(keys) * CELL_WIDTH, len(values) * CELL_HEIGHT)
    draw_table(ax, values, tokens, keys, SEQUENTIAL, 0, 1)
    name_axes(ax)
    row_sums(ax, values, len(keys))
    told = spelled(values, tokens)
    return Picture(
        figure, f"{title}. A matrix of weights between 0 and 1, one row a query, one column a key. {told}"
    )


def draw_table(
    ax: Axes,
    values: list,
    row_names: Sequence[str],
    column_names: Sequence[str],
    colours: Colormap,
    low: float,
    high: float,
    size: float | None = None,
) -> None:
    """Draw coloured cells with their numbers in them, first row at the top. The colour map `colours` covers
    the values from `low` to `high`.
    """
    for i, line in enumerate(values):
        for j, value in enumerate(line):
            shade = colours((min(max(value, low), high) - low) / (high - low))
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor=shade, edgecolor="white", linewidth=2))
            ink = "white" if is_dark(shade) else INK
            ax.text(j + 0.5, i + 0.5, number(value), ha="center", va="center", color=ink, fontsize=size)
    name_cells(ax, row_names, column_names)


def is_dark(shade: tuple) -> bool:
    """Return whether white text is easier to read on the colour (r, g, b, ...) than dark text."""
    return 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.55


def name_cells(ax: Axes, row_names: Sequence[str], column_names: Sequence[str]) -> None:
    """Set up cells of size 1, with the first row at the top, row names at the left, column names above, and
    no frame.
    """
    ax.set(xlim=(0, len(column_names)), ylim=(len(row_names), 0))
    ax.set_xticks([j + 0.5 for j in range(len(column_names))], column_names)
    ax.set_yticks([i + 0.5 for i in range(len(row_names))], row_names)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def name_axes(ax: Axes) -> None:
    """Label the axis of the keys and the axis of the queries."""
    ax.set_xlabel("key (attended to)", color=GREY, labelpad=6)
    ax.set_ylabel("query (attends)", color=GREY, labelpad=6)


def row_sums(ax: Axes, values: list, n_columns: int, size: float | None = None) -> None:
    """Write the sum of each row at its right end."""
    look: dict = {"ha": "center", "va": "center", "color": GREY, "fontsize": size}
    ax.text(n_columns + 0.6, -0.3, "sum", **look)
    for i, line in enumerate(values):
        ax.text(n_columns + 0.6, i + 0.5, number(sum(line)), **look)


def column_sums(ax: Axes, values: list, n_rows: int, size: float | None = None) -> None:
    """Write the sum of each column below it."""
    look: dict = {"va": "center", "color": GREY, "fontsize": size}
    for j, column in enumerate(zip(*values, strict=True)):
        ax.text(j + 0.5, n_rows + 0.35, number(sum(column)), ha="center", **look)
    ax.text(-0.15, n_rows + 0.35, "sum", ha="right", **look)


def spelled(values: list, row_names: Sequence[str]) -> str:
    """Return the table in words, row by row."""
    return "; ".join(f"{name}: {listed(line)}" for name, line in zip(row_names, values, strict=True))


def _largest(values: list) -> float:
    return max(1e-9, max(abs(value) for line in values for value in line))
