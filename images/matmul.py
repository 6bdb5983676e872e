"""The pictures of lesson 02."""

import torch
from drawing import arrow, box, squares
from matplotlib.patches import FancyBboxPatch

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, SKY, VERMILLION
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.figures.words import number, rows
from autograder.notebook.sentence import FEATURES, TOKENS, embed

PALE_BLUE, PALE_ORANGE, PALE_RED = "#CFE6F5", "#FBE3B5", "#F9D9BD"


@styled
def attention_flow() -> Picture:
    """Draw the path from queries, keys and values to the output, with the shape of every result."""
    figure = card(5.4, 4.9, "Attention, with the shape of everything")
    ax = canvas(figure, 0, 0, 5.4, 4.9)
    boxes = (
        (0.95, 3.9, "q", "(N, D)", BLUE),
        (2.55, 3.9, "k", "(M, D)", ORANGE),
        (1.75, 2.8, "scores", "(N, M)", GREY),
        (1.75, 1.6, "weights", "(N, M)", GREY),
        (4.0, 1.6, "v", "(M, E)", GREEN),
        (2.85, 0.5, "output", "(N, E)", PURPLE),
    )
    for placed in boxes:
        box(ax, *placed)
    arrow(ax, (1.05, 3.57), (1.5, 3.14))
    arrow(ax, (2.45, 3.57), (2.0, 3.14))
    arrow(ax, (1.75, 2.47), (1.75, 1.94))
    arrow(ax, (1.95, 1.27), (2.55, 0.84))
    arrow(ax, (3.8, 1.27), (3.15, 0.84))
    ax.text(2.5, 2.8, "q$_i$ \u00b7 k$_j$ / \u221aD, for every pair", va="center", color=GREY)
    ax.text(1.9, 2.2, "softmax, each row on its own", va="center", color=GREY)
    ax.text(3.6, 0.5, "weights \u00d7 values", va="center", color=GREY)
    return Picture(
        figure,
        (
            "A flow chart. Queries of shape (N, D) and keys of shape (M, D) give scores of shape (N, M), "
            "divided by the "
            "root of D; softmax over each row makes them weights; weights and values of shape (M, E) "
            "give the output of "
            "shape (N, E)."
        ),
    )


@styled
def loops_and_matmul() -> Picture:
    """Draw two loops that fill the score matrix cell by cell, and one matrix product that fills it at
    once."""
    figure = card(5.85, 4.7)
    ax = canvas(figure, 0, 0, 5.85, 4.7)
    size, i, j, left, right = 0.32, 2, 3, 0.5, 2.55
    top, beside, above = 2.4, right + 4 * 0.32 + 0.14, 2.4 + 0.14 + 4 * 0.32
    done = {(r, c): SKY for r in range(5) for c in range(5) if (r, c) < (i, j)} | {(i, j): VERMILLION}
    squares(ax, left, top, 5, 5, size, done)
    squares(ax, right, top, 5, 4, size, {(i, c): BLUE for c in range(4)})
    squares(ax, beside, above, 4, 5, size, {(r, j): ORANGE for r in range(4)})
    squares(
        ax, beside, top, 5, 5, size, {(r, c): SKY for r in range(5) for c in range(5)} | {(i, j): VERMILLION}
    )
    for x, y in ((left, top), (beside, above)):
        ax.text(
            x + (j + 0.5) * size, y + 0.12, "j", ha="center", va="center", color=VERMILLION, fontweight="bold"
        )
    for x in (left, right):
        ax.text(
            x - 0.12,
            top - (i + 0.5) * size,
            "i",
            ha="center",
            va="center",
            color=VERMILLION,
            fontweight="bold",
        )
    ax.plot([2.27, 2.27], [0.3, 4.4], color="#D1D5DB", linewidth=1)
    ax.text(0.25, 4.25, "two loops:\none cell at a time", fontweight="bold", va="center")
    ax.text(2.45, 4.25, "one matrix product:\nall cells together", fontweight="bold", va="center")
    ax.text(
        left + 0.8,
        0.45,
        "scores: q$_i$ \u00b7 k$_j$,\nN \u00d7 M times",
        ha="center",
        va="center",
        color=GREY,
    )
    for x, text in ((right + 0.64, "q\n(N, D)"), (beside + 0.8, "scores\n(N, M)")):
        ax.text(x, 0.45, text, ha="center", va="center", color=GREY)
    ax.text(beside - 0.1, top + 0.78, "k transposed\n(D, M)", ha="right", va="center", color=GREY)
    return Picture(
        figure,
        (
            "Left: two Python loops fill a score matrix cell by cell, each cell the dot product of query "
            "i and key j. "
            "Right: q with N rows and D columns times k transposed with D rows and M columns gives all N "
            "by M scores at "
            "once; the result is beside q and below k transposed, so that row i of q and column j of k "
            "transposed meet in the same cell."
        ),
    )


@styled
def self_attention() -> Picture:
    """Draw one input, three weight matrices, three roles, one attention."""
    figure = card(5.7, 5.6, "Self-attention: one input in three roles")
    ax = canvas(figure, 0, 0, 5.7, 5.6)
    box(ax, 2.85, 4.65, "x", "(N, d_in)", INK)
    roles = (
        (1.0, "W_query", "q", BLUE, "what am I\nlooking for?"),
        (2.85, "W_key", "k", ORANGE, "what can I\nbe found by?"),
        (4.7, "W_value", "v", GREEN, "what do I\npass on?"),
    )
    for x, weight, name, colour, question in roles:
        box(ax, x, 3.5, weight, "(d_in, d_out)", colour, width=1.45)
        box(ax, x, 2.4, name, "(N, d_out)", colour)
        arrow(ax, (2.85 + (x - 2.85) * 0.2, 4.32), (x, 3.84))
        arrow(ax, (x, 3.17), (x, 2.74))
        start = (2.85, 1.6) if name == "k" else (x + (2.85 - x) * 0.32, 2.05)
        arrow(ax, start, (2.85 + (x - 2.85) * 0.2, 1.34))
        ax.text(x, 1.84, question, ha="center", va="center", fontsize=9, color=GREY, style="italic")
    box(ax, 2.85, 1.07, "attention", "", PURPLE, width=1.3, height=0.5)
    arrow(ax, (2.85, 0.8), (2.85, 0.5))
    ax.text(2.85, 0.33, "output (N, d_out)", ha="center", va="center", color=GREY)
    return Picture(
        figure,
        (
            "A flow chart. The input x of shape (N, d_in) is multiplied by three matrices of shape "
            "(d_in, d_out): W_query "
            "gives queries (what am I looking for), W_key gives keys (what can I be found by), W_value "
            "gives values (what "
            "do I pass on), each (N, d_out). Attention makes of them an output of shape (N, d_out)."
        ),
    )


def _state(ax, x, y, colour):
    """Draw a small box for a network's state at one token, with its centre at (x, y)."""
    style = {"facecolor": "white", "edgecolor": colour, "linewidth": 1.8}
    ax.add_patch(
        FancyBboxPatch((x - 0.2, y - 0.17), 0.4, 0.34, boxstyle="round,pad=0,rounding_size=0.08", **style)
    )


@styled
def recurrence(tokens) -> Picture:
    """Draw a recurrent network, which passes a state from token to token, and attention, which connects every
    pair directly.
    """
    step, right = 0.92, 0.6 + 0.92 * len(tokens)
    figure = card(right, 4.3)
    ax = canvas(figure, 0, 0, right, 4.3)
    halves = ((2.35, "recurrence: token by token", ORANGE), (0.3, "attention: every pair at once", BLUE))
    for floor, title, colour in halves:
        ax.text(0.3, floor + 1.62, title, fontweight="bold", va="center")
        for k, token in enumerate(tokens):
            x = 0.75 + step * k
            ax.text(x, floor, token, ha="center", va="center")
            _state(ax, x, floor + 1.15, colour)
    for k in range(len(tokens)):
        x = 0.75 + step * k
        arrow(ax, (x, 2.5), (x, 3.3), GREY, 1.2)
        if k:
            arrow(ax, (x - step + 0.2, 3.5), (x - 0.22, 3.5), ORANGE, 2)
        for other in range(len(tokens)):
            arrow(ax, (0.75 + step * other, 0.45), (x, 1.25), BLUE, 0.9, alpha=0.55)
    return Picture(
        figure,
        (
            "Above: a recurrent network. Each token feeds one state, and each state feeds the next, in a "
            "chain from the "
            "first token to the last. Below: attention. Every token has an arrow to every output, with no "
            "arrows between "
            "outputs."
        ),
    )


def _numbers(ax, x, y, values, size, bold=()):
    """Draw the numbers of a table whose upper left corner is at (x, y)."""
    for i, line in enumerate(values):
        for j, value in enumerate(line):
            weight = "bold" if (i, j) in bold else "normal"
            place = (x + (j + 0.5) * size, y - (i + 0.5) * size)
            ax.text(*place, number(value), ha="center", va="center", fontsize=9, fontweight=weight)


@styled
def weights_times_values(weights, values, tokens, features, row=1, column=2) -> Picture:
    """Draw weights @ values with all numbers: one row meets one column."""
    weights, values = rows(weights), rows(values)
    product = [
        [sum(w * v for w, v in zip(line, col, strict=True)) for col in zip(*values)] for line in weights
    ]
    figure = card(5.8, 6.35, "One number of the output: a row times a column")
    size, n, e = 0.46, len(tokens), len(features)
    left, top, gap = 0.8, 0.6 + n * size, 0.36
    beside, above = left + n * size + gap, top + gap + n * size
    ax = canvas(figure, 0, 0, 5.8, 6.35)
    picked = [{(row, j) for j in range(n)}, {(i, column) for i in range(n)}, {(row, column)}]
    places = ((left, top), (beside, above), (beside, top))
    looks = ((weights, PALE_BLUE), (values, PALE_ORANGE), (product, PALE_RED))
    for (x, y), (table, colour), cells in zip(places, looks, picked, strict=True):
        squares(ax, x, y, n, len(table[0]), size, dict.fromkeys(cells, colour))
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
    told = " + ".join(
        f"{number(w)} times {number(line[column])}" for w, line in zip(weights[row], values, strict=True)
    )
    return Picture(
        figure,
        f"A table of weights times a table of values above its right end gives the output below the one and beside "
        f"the other. The row of {tokens[row]} meets the column {features[column]}: {told} = "
        f"{number(product[row][column])}.",
    )


@styled
def learned_matrices(d_in=4, d_out=4) -> Picture:
    """Draw a self-attention module: the three matrices that it owns, and what goes in and comes out."""
    figure = card(6.05, 3.1, "What a self-attention owns: three matrices, no more")
    ax = canvas(figure, 0, 0, 6.05, 3.1)
    frame = {
        "boxstyle": "round,pad=0,rounding_size=0.12",
        "facecolor": PALE,
        "edgecolor": INK,
        "linewidth": 1.5,
    }
    ax.add_patch(FancyBboxPatch((1.2, 0.6), 3.65, 1.9, **frame))
    for k, (name, colour) in enumerate((("W_query", BLUE), ("W_key", ORANGE), ("W_value", GREEN))):
        x = 1.35 + 1.18 * k
        squares(ax, x, 2.0, d_in, d_out, 0.25, fill=colour)
        ax.text(x + 0.125 * d_out, 2.23, name, ha="center", va="center", fontweight="bold", fontsize=9.5)
        text = f"{d_in} \u00b7 {d_out} parameters"
        ax.text(x + 0.125 * d_out, 0.82, text, ha="center", va="center", fontsize=9, color=GREY)
    arrow(ax, (0.85, 1.5), (1.16, 1.5))
    arrow(ax, (4.89, 1.5), (5.2, 1.5))
    ax.text(0.48, 1.5, "x\n(N, d_in)", ha="center", va="center", fontsize=9.5)
    ax.text(5.58, 1.5, "output\n(N, d_out)", ha="center", va="center", fontsize=9.5)
    text = f"training may change these {3 * d_in * d_out} parameters; the length N does not occur"
    ax.text(3.02, 0.33, text, ha="center", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        f"A module as a box. Inside are three matrices, W_query, W_key and W_value, of {d_in} by {d_out} parameters "
        f"each, {3 * d_in * d_out} together. x of shape (N, d_in) goes in, an output of shape (N, d_out) comes out; "
        "N does not occur in the matrices.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    x = embed()
    weights = torch.softmax(x @ x.T / 2, dim=-1)
    return {
        "attention_flow": attention_flow(),
        "loops_and_matmul": loops_and_matmul(),
        "weights_times_values": weights_times_values(weights, x, TOKENS, FEATURES),
        "self_attention": self_attention(),
        "learned_matrices": learned_matrices(),
        "recurrence": recurrence(TOKENS),
    }
