"""The pictures of lesson 08."""

import math

from drawing import arrow, cells
from matplotlib.patches import Circle, Rectangle

from autograder.notebook.figures.bars import draw_bars
from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, ORANGE, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.words import listed
from autograder.notebook.sentence import FEATURES, TOKENS, embed


@styled
def norm_steps() -> Picture:
    """Draw what a LayerNorm does to *dog*, step by step."""
    dog = embed(["dog"])[0]
    centred = dog - dog.mean()
    normed = centred / dog.std(correction=0)
    steps = {"as it comes": dog, "minus the mean, 0.5": centred, "over the std, 1.118": normed}
    figure = card(6.0, 3.0, "What a LayerNorm does to \u201cdog\u201d")
    for k, ((name, values), colour) in enumerate(zip(steps.items(), (GREY, ORANGE, BLUE), strict=True)):
        ax = axes(figure, 0.25 + 1.92 * k, 0.5, 1.7, 1.7)
        draw_bars(ax, values.tolist(), FEATURES, colour, name)
        ax.set_ylim(-1.9, 2.5)
        ax.tick_params(labelsize=8.5)
    told = "; ".join(f"{name}: {listed(values.tolist())}" for name, values in steps.items())
    return Picture(figure, f"Three charts of the features of dog, one for each step of a LayerNorm. {told}.")


@styled
def norm_axes() -> Picture:
    """Draw which numbers share a mean: those of one token in a LayerNorm, those of one feature in a
    BatchNorm.
    """
    figure = card(6.0, 3.55, "Which numbers share a mean?")
    ax = canvas(figure, 0, 0, 6.0, 3.55)
    kinds = (
        ("LayerNorm, RMSNorm", "one token: a row", lambda i, j: i == 1, BLUE),
        ("BatchNorm", "one feature: a column", lambda i, j: j == 1, VERMILLION),
    )
    lines = [[f"{value:g}".replace("-", "\u2212") for value in line] for line in embed().tolist()]
    for k, (name, note, chosen, colour) in enumerate(kinds):
        left = 0.75 + 2.85 * k
        ax.text(left, 2.88, name, fontweight="bold", va="center")
        ax.text(left, 2.64, note, color=GREY, fontsize=9.5, va="center")
        fills = [[HEADS[0] if chosen(i, j) else PALE for j in range(4)] for i in range(5)]
        cells(ax, left, 2.42, lines, fills)
        place = ((left, 2.42 - 0.8), 2.08, 0.4) if k == 0 else ((left + 0.52, 0.42), 0.52, 2.0)
        ax.add_patch(Rectangle(*place, fill=False, edgecolor=colour, linewidth=2.4))
        for i, token in enumerate(TOKENS):
            ax.text(left - 0.08, 2.22 - 0.4 * i, token, ha="right", va="center", fontsize=9.5)
    return Picture(
        figure,
        "The table of the sentence twice, five tokens by four features. Left, LayerNorm and RMSNorm: the row of dog is "
        "framed, its four numbers share a mean. Right, BatchNorm: the column of one feature is framed, its numbers "
        "come from all tokens.",
    )


@styled
def norm_geometry() -> Picture:
    """Draw tokens of two features before and after: RMSNorm moves them to a circle, LayerNorm to two points."""
    figure = card(6.0, 3.75, "Tokens of two features, before and after")
    points = (
        (2.8, 1.2),
        (0.5, 0.3),
        (2.2, -1.6),
        (0.3, -2.7),
        (-1.2, -2.2),
        (-2.9, -0.4),
        (-0.5, 0.4),
        (-1.3, 2.6),
        (0.9, 2.9),
    )
    for k, name in enumerate(("RMSNorm: onto a circle", "LayerNorm: onto two points")):
        ax = axes(figure, 0.4 + 2.85 * k, 0.45, 2.5, 2.5)
        ax.set(xlim=(-3.4, 3.4), ylim=(-3.4, 3.4), aspect="equal", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
        ax.grid(alpha=0.25, color=GREY)
        ax.set_title(name, fontsize=10.5, color=INK, pad=6)
        if k == 0:
            ax.add_patch(Circle((0, 0), math.sqrt(2), fill=False, edgecolor=BLUE, linewidth=1.6))
        else:
            ax.plot([-3.4, 3.4], [3.4, -3.4], color=GREEN, linewidth=1.2)
            ax.plot([1, -1], [-1, 1], "o", color=GREEN, markersize=9)
        for x, y in points:
            ax.plot([x], [y], "o", color=GREY, markersize=4)
            half = math.hypot(x, y) / math.sqrt(2)
            sign = 1 if x > y else -1
            end = (x / half, y / half) if k == 0 else (sign, -sign)
            arrow(ax, (x, y), end, (BLUE, GREEN)[k], 1.1, alpha=0.75)
    return Picture(
        figure,
        "Two charts of nine tokens with two features each, with an arrow from each token to what the norm makes of it. "
        "RMSNorm moves every token straight towards or away from the middle, onto a circle of radius 1.41. LayerNorm "
        "moves every token onto one of two points, (1, -1) and (-1, 1).",
    )


@styled
def norm_fold() -> Picture:
    """Draw the weight and bias of a norm moving into the linear layer behind it."""
    figure = card(6.0, 3.3, "Scale and shift move into the next layer")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    pale = [[PALE] * 4]
    rows = (
        ("weight of the layer", ["1", "0", "1", "0"], BLUE),
        ("weight of the norm", ["2", "1", "0.5", "1"], GREEN),
        ("bias of the norm", ["0.5", "0", "1", "0"], ORANGE),
    )
    for k, (name, values, colour) in enumerate(rows):
        y = 2.6 - 0.5 * k
        ax.text(1.75, y - 0.2, name, ha="right", va="center", fontsize=9.5, color=INK)
        cells(ax, 1.85, y, [values], pale)
        ax.add_patch(Rectangle((1.85, y - 0.4), 2.08, 0.4, fill=False, edgecolor=colour, linewidth=1.8))
    ax.text(4.1, 2.4, "bias of the layer: \u22122", va="center", fontsize=9.5)
    ax.plot([0.3, 5.7], [0.98, 0.98], color=GREY, linewidth=1)
    ax.text(1.75, 0.6, "new weight", ha="right", va="center", fontweight="bold", fontsize=9.5)
    cells(ax, 1.85, 0.8, [["2", "0", "0.5", "0"]], [[HEADS[0], PALE, HEADS[0], PALE]])
    ax.text(
        4.1, 0.6, "new bias: \u22122 + 0.5 + 1\n= \u22120.5", va="center", fontsize=9.5, fontweight="bold"
    )
    ax.text(1.85, 0.22, "each column times the norm's weight", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "A linear layer with weight 1, 0, 1, 0 and bias -2 behind a norm with weight 2, 1, 0.5, 1 and bias 0.5, 0, 1, "
        "0. The new layer has weight 2, 0, 0.5, 0, each column times the norm's weight, and bias -2 + 0.5 + 1 = -0.5.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "norm_steps": norm_steps(),
        "norm_axes": norm_axes(),
        "norm_geometry": norm_geometry(),
        "norm_fold": norm_fold(),
    }
