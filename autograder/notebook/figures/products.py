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
    VERMILLION,
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
            ax.text(*place, number(value), ha="center", va="center", fontsize=8, fontweight=weight)


@styled
def weights_times_values(weights, values, tokens, features, row=1, column=2):
    """weights @ values with all numbers: one row meets one column."""
    weights, values = rows(weights), rows(values)
    product = [[sum(w * v for w, v in zip(line, col, strict=True)) for col in zip(*values)] for line in weights]
    figure = card(9.6, 3.9, "One number of the output: a row of weights times a column of values")
    ax, size, top, n = canvas(figure, 0, 0, 9.6, 3.9), 0.46, 2.75, len(tokens)
    picked = [{(row, j) for j in range(n)}, {(i, column) for i in range(n)}, {(row, column)}]
    places = ((0.85, weights, _PALE_BLUE), (4.1, values, _PALE_ORANGE), (7.1, product, _PALE_RED))
    for (x, table, colour), cells in zip(places, picked, strict=True):
        _grid(ax, x, top, n, len(table[0]), size, dict.fromkeys(cells, colour))
        _numbers(ax, x, top, table, size, cells)
    for x, names in ((0.85, tokens), (4.1, features), (7.1, features)):
        for j, name in enumerate(names):
            ax.text(x + (j + 0.5) * size, top + 0.13, name, ha="center", fontsize=7.5, color=GREY)
    for x, text in ((2.0, "weights (N, M)"), (5.02, "values (M, E)"), (8.02, "output (N, E)")):
        ax.text(x, 0.17, text, ha="center", va="center", color=GREY)
    for i, token in enumerate(tokens):
        for x in (0.78, 4.03, 7.03):
            ax.text(x, top - (i + 0.5) * size, token, ha="right", va="center", fontsize=8.5)
    for x, sign in ((3.4, "\u00d7"), (6.35, "=")):
        ax.text(x, top - 2.5 * size, sign, ha="center", va="center", fontsize=16)
    told = " + ".join(f"{number(w)} times {number(line[column])}" for w, line in zip(weights[row], values, strict=True))
    return Picture(
        figure,
        f"A table of weights times a table of values gives the output. The row of {tokens[row]} meets the column "
        f"{features[column]}: {told} = {number(product[row][column])}.",
    )


@styled
def learned_matrices(d_in=4, d_out=4):
    """A self-attention module: the three matrices that it owns, and what goes in and comes out."""
    figure = card(9.2, 3.1, "What a self-attention owns: three matrices, and nothing else")
    ax = canvas(figure, 0, 0, 9.2, 3.1)
    frame = {"boxstyle": "round,pad=0,rounding_size=0.12", "facecolor": PALE, "edgecolor": INK, "linewidth": 1.5}
    ax.add_patch(FancyBboxPatch((2.0, 0.55), 5.2, 1.95, **frame))
    for k, (name, colour) in enumerate((("W_query", BLUE), ("W_key", ORANGE), ("W_value", GREEN))):
        x = 2.45 + 1.65 * k
        _grid(ax, x, 2.0, d_in, d_out, 0.25, fill=colour)
        ax.text(x + 0.125 * d_out, 2.23, name, ha="center", va="center", fontweight="bold", fontsize=9.5)
        text = f"{d_in} \u00b7 {d_out} numbers"
        ax.text(x + 0.125 * d_out, 0.8, text, ha="center", va="center", fontsize=9, color=GREY)
    _arrow(ax, (1.35, 1.5), (1.95, 1.5))
    _arrow(ax, (7.25, 1.5), (7.85, 1.5))
    ax.text(0.75, 1.5, "x\n(N, d_in)", ha="center", va="center")
    ax.text(8.45, 1.5, "output\n(N, d_out)", ha="center", va="center")
    text = f"training may change these {3 * d_in * d_out} numbers; the length N does not occur in them"
    ax.text(4.6, 0.3, text, ha="center", va="center", fontsize=9.5, color=VERMILLION)
    return Picture(
        figure,
        f"A module as a box. Inside are three matrices, W_query, W_key and W_value, of {d_in} by {d_out} numbers each, "
        f"{3 * d_in * d_out} together. x of shape (N, d_in) goes in, an output of shape (N, d_out) comes out; N does "
        "not occur in the matrices.",
    )
