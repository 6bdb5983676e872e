"""Products of tables with their numbers, and the matrices that are learned."""

from matplotlib.patches import FancyBboxPatch

from autograder.notebook.figures.diagrams import _arrow, _grid
from autograder.notebook.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    Picture,
    canvas,
    card,
    number,
    rows,
    styled,
)

_PALE_BLUE, _PALE_ORANGE, _PALE_RED = "#CFE6F5", "#FBE3B5", "#F9D9BD"


def _numbers(ax, x, y, values, size, bold=()):
    """The numbers of a table whose upper left corner is at (x, y)."""
    for i, line in enumerate(values):
        for j, value in enumerate(line):
            weight = "bold" if (i, j) in bold else "normal"
            place = (x + (j + 0.5) * size, y - (i + 0.5) * size)
            ax.text(*place, number(value), ha="center", va="center", fontsize=9, fontweight=weight)


@styled
def weights_times_values(weights, values, tokens, features, row=1, column=2):
    """weights @ values with all numbers: one row meets one column."""
    weights, values = rows(weights), rows(values)
    product = [[sum(w * v for w, v in zip(line, col, strict=True)) for col in zip(*values)] for line in weights]
    figure = card(5.8, 6.35, "One number of the output: a row times a column")
    size, n, e = 0.46, len(tokens), len(features)
    left, top, gap = 0.8, 0.6 + n * size, 0.36
    beside, above = left + n * size + gap, top + gap + n * size
    ax = canvas(figure, 0, 0, 5.8, 6.35)
    picked = [{(row, j) for j in range(n)}, {(i, column) for i in range(n)}, {(row, column)}]
    places = ((left, top), (beside, above), (beside, top))
    looks = ((weights, _PALE_BLUE), (values, _PALE_ORANGE), (product, _PALE_RED))
    for (x, y), (table, colour), cells in zip(places, looks, picked, strict=True):
        _grid(ax, x, y, n, len(table[0]), size, dict.fromkeys(cells, colour))
        _numbers(ax, x, y, table, size, cells)
    for x, y, names in ((left, top, tokens), (beside, above, features)):
        for j, name in enumerate(names):
            ax.text(x + (j + 0.5) * size, y + 0.1, name, ha="center", fontsize=8.5, color=GREY)
    for i, token in enumerate(tokens):
        for x, y in ((left, top), (beside, above)):
            ax.text(x - 0.08, y - (i + 0.5) * size, token, ha="right", va="center", fontsize=9)
    for x, y, text in (
        (left + n * size / 2, 0.36, "weights (N, M)"),
        (beside + e * size / 2, 0.36, "output (N, E)"),
        (left + n * size / 2 - 0.4, above - n * size / 2, "values (M, E)"),
    ):
        ax.text(x, y, text, ha="center", va="center", color=GREY)
    told = " + ".join(f"{number(w)} times {number(line[column])}" for w, line in zip(weights[row], values, strict=True))
    return Picture(
        figure,
        f"A table of weights times a table of values above its right end gives the output below the one and beside "
        f"the other. The row of {tokens[row]} meets the column {features[column]}: {told} = "
        f"{number(product[row][column])}.",
    )


@styled
def learned_matrices(d_in=4, d_out=4):
    """A self-attention module: the three matrices that it owns, and what goes in and comes out."""
    figure = card(6.05, 3.1, "What a self-attention owns: three matrices, no more")
    ax = canvas(figure, 0, 0, 6.05, 3.1)
    frame = {"boxstyle": "round,pad=0,rounding_size=0.12", "facecolor": PALE, "edgecolor": INK, "linewidth": 1.5}
    ax.add_patch(FancyBboxPatch((1.2, 0.6), 3.65, 1.9, **frame))
    for k, (name, colour) in enumerate((("W_query", BLUE), ("W_key", ORANGE), ("W_value", GREEN))):
        x = 1.35 + 1.18 * k
        _grid(ax, x, 2.0, d_in, d_out, 0.25, fill=colour)
        ax.text(x + 0.125 * d_out, 2.23, name, ha="center", va="center", fontweight="bold", fontsize=9.5)
        text = f"{d_in} \u00b7 {d_out} numbers"
        ax.text(x + 0.125 * d_out, 0.82, text, ha="center", va="center", fontsize=9, color=GREY)
    _arrow(ax, (0.85, 1.5), (1.16, 1.5))
    _arrow(ax, (4.89, 1.5), (5.2, 1.5))
    ax.text(0.48, 1.5, "x\n(N, d_in)", ha="center", va="center", fontsize=9.5)
    ax.text(5.58, 1.5, "output\n(N, d_out)", ha="center", va="center", fontsize=9.5)
    text = f"training may change these {3 * d_in * d_out} numbers; the length N does not occur"
    ax.text(3.02, 0.33, text, ha="center", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        f"A module as a box. Inside are three matrices, W_query, W_key and W_value, of {d_in} by {d_out} numbers each, "
        f"{3 * d_in * d_out} together. x of shape (N, d_in) goes in, an output of shape (N, d_out) comes out; N does "
        "not occur in the matrices.",
    )
