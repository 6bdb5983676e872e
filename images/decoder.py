"""The pictures of lesson 06."""

import math

from drawing import arrow, box
from matplotlib.patches import Circle

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled


def _plus(ax, x, y):
    ax.add_patch(Circle((x, y), 0.15, facecolor="white", edgecolor=INK, linewidth=1.6, zorder=3))
    ax.text(x, y - 0.01, "+", ha="center", va="center", fontsize=12, fontweight="bold", zorder=4)


def _stream(ax, x, top, bottom, start="x", end="output"):
    """Draw the residual line, from the layer's input above to its output below."""
    ax.text(x, top + 0.17, start, ha="center", va="center", fontweight="bold")
    ax.plot([x, x], [top, bottom + 0.2], color=VERMILLION, linewidth=2.6, zorder=0)
    arrow(ax, (x, bottom + 0.2), (x, bottom), VERMILLION, 2.6)
    ax.text(x, bottom - 0.17, end, ha="center", va="center", fontweight="bold")


def _branch(ax, x, y, parts, away=1.35, wide=1.2):
    """Draw a branch from the residual line at (x, y) through boxes of (name, colour) to a plus; return the
    plus's y.
    """
    side = x + away
    ax.plot([x, side], [y, y], color=GREY, linewidth=1.6)
    for name, colour in parts:
        arrow(ax, (side, y), (side, y - 0.24))
        y -= 0.46
        box(ax, side, y, name, "", colour, width=wide, height=0.42)
        y -= 0.21
    plus = y - 0.25
    ax.plot([side, side], [y, plus], color=GREY, linewidth=1.6)
    arrow(ax, (side, plus), (x + 0.15, plus))
    _plus(ax, x, plus)
    return plus


def _norm(ax, x, y, name="norm"):
    """Draw a norm that stands on the residual line."""
    box(ax, x, y, name, "", GREEN, width=0.9, height=0.42)


@styled
def decoder_flow() -> Picture:
    """Draw the pre-norm decoder layer, and the same parts in post-norm order."""
    figure = card(6.0, 5.9, "One decoder layer, in two orders")
    ax = canvas(figure, 0, 0, 6.0, 5.9)
    norm, attend, network = ("norm", GREEN), ("attention", BLUE), ("network", ORANGE)
    for left, name, note in (
        (0.3, "pre-norm", "the residual line is free"),
        (3.1, "post-norm", "the norms stand on it"),
    ):
        ax.text(left, 5.15, name, fontweight="bold", va="center")
        ax.text(left, 4.91, note, color=GREY, fontsize=9.5, va="center")
    _stream(ax, 0.7, 4.45, 0.47)
    below = _branch(ax, 0.7, 4.3, (norm, attend))
    _branch(ax, 0.7, below - 0.28, (norm, network))
    _stream(ax, 3.6, 4.45, 0.47)
    below = _branch(ax, 3.6, 4.3, (attend,))
    _norm(ax, 3.6, below - 0.47)
    below = _branch(ax, 3.6, below - 0.88, (network,))
    _norm(ax, 3.6, below - 0.47)
    return Picture(
        figure,
        "A decoder layer in two orders. Pre-norm: x goes through a norm and attention and is added to x itself; "
        "the sum goes through a norm and the feed-forward network and is added to itself again. The residual "
        "line from x to the output passes nothing but two plus signs. Post-norm: x goes through attention, is "
        "added to x, and the sum goes through a norm; then network, plus, and norm again. Both norms stand on "
        "the residual line.",
    )


@styled
def cross_layer_flow() -> Picture:
    """Draw the encoder-decoder layer: three sublayers, each followed by plus and norm."""
    figure = card(6.0, 6.75, "Three sublayers, each followed by plus and norm")
    ax = canvas(figure, 0, 0, 6.0, 6.75)
    _stream(ax, 0.9, 5.9, 0.47)
    y = 5.75
    sublayers = (("self_attn", BLUE), ("multihead_attn", PURPLE), ("linear1, linear2", ORANGE))
    for k, part in enumerate(sublayers, 1):
        below = _branch(ax, 0.9, y, (part,), away=1.65, wide=1.5)
        _norm(ax, 0.9, below - 0.45, f"norm{k}")
        if k == 1:
            ax.text(3.4, y - 0.46, "causal", fontsize=9.5, color=GREY, va="center")
        if k == 2:
            box(ax, 5.05, y - 0.46, "memory", "(B, M, d_model)", PURPLE, width=1.4)
            box(ax, 5.05, y + 0.72, "encoder", "reads all of it", GREEN, width=1.4)
            arrow(ax, (5.05, y + 0.4), (5.05, y - 0.14))
            ax.text(5.05, y + 1.28, "the dog saw the cat", fontsize=9.5, ha="center", va="center")
            arrow(ax, (5.05, y + 1.18), (5.05, y + 1.04))
            arrow(ax, (4.35, y - 0.46), (3.32, y - 0.46), PURPLE)
            ax.text(3.84, y - 0.29, "keys, values", fontsize=9, color=GREY, ha="center", va="center")
        y = below - 0.8
    return Picture(
        figure,
        "A flow chart of three sublayers, one below the other. First causal self-attention, plus, norm1. Then "
        "multihead_attn, whose keys and values come from the memory of shape (B, M, d_model), plus, norm2; the memory "
        "is what an encoder, beside the layer, has made of the dog saw the cat. Then "
        "the feed-forward network, plus, norm3. A residual line leads from x past each sublayer to its plus, and "
        "through the three norms.",
    )


@styled
def activations() -> Picture:
    """Draw GELU and ReLU, and what one hidden unit lets through for each token."""
    xs = [k / 50 - 4 for k in range(351)]
    figure = card(6.0, 3.5, "GELU lets positive numbers pass")
    ax = axes(figure, 0.75, 0.65, 4.85, 2.15)
    ax.plot(xs, [max(x, 0) for x in xs], color=GREY, linestyle="--", label="ReLU")
    ax.plot(xs, [_gelu(x) for x in xs], color=ORANGE, linewidth=2.4, label="GELU")
    for token, z in (("saw", -3), ("the", -2), ("cat", -1), ("dog", 1)):
        ax.plot([z, z], [0, _gelu(z)], color=BLUE, linewidth=1.2)
        ax.plot([z], [_gelu(z)], "o", color=BLUE, markersize=7)
        place = (z, 0.28) if z < 0 else (z + 0.15, 0.62)
        ax.text(*place, f"{token} {z}", ha="center" if z < 0 else "left", fontsize=9.5, color=BLUE)
    ax.set(xlabel="what the hidden unit adds up", ylabel="what it lets pass", xlim=(-4, 3), ylim=(-0.4, 3))
    ax.legend(frameon=False, fontsize=9.5, loc="upper left")
    ax.grid(alpha=0.25, color=GREY)
    return Picture(
        figure,
        "Two curves: ReLU is zero up to 0 and then a straight line; GELU follows it softly, dips a little "
        "below zero near -0.75 and comes close to the line from 2 on. Marks on GELU for what one hidden unit adds "
        "up: saw -3 and the -2 next to nothing, cat -1 a little below zero, dog 1 most of it.",
    )


def _gelu(x: float) -> float:
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


@styled
def saw_meaning() -> Picture:
    """Draw one ambiguous vector, and the two adjustments that attention adds to it."""
    figure = card(6.0, 4.1, "Attention adds to the word")
    ax = axes(figure, 0.75, 0.65, 4.9, 2.75)
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.axvline(0, color=GREY, linewidth=0.8)
    _vector(ax, (0, 0), (1, 1), INK)
    _vector(ax, (1, 1), (-1, 2), BLUE)
    _vector(ax, (1, 1), (2, -1), VERMILLION)
    ax.text(1.15, 1.02, "saw, alone: (1, 1)", fontweight="bold", va="center")
    ax.text(-1, 2.3, "an action: (-1, 2)", fontweight="bold", ha="center", va="center")
    ax.text(2.15, -1, "a tool: (2, -1)", fontweight="bold", va="center")
    ax.text(-0.15, 1.2, "dog adds\n(-2, 1)", fontsize=9.5, ha="right", va="center")
    ax.text(1.75, 0.35, "old adds\n(1, -2)", fontsize=9.5, va="center")
    ax.set(
        xlabel="thing",
        ylabel="action",
        xlim=(-3.6, 4.2),
        ylim=(-1.6, 2.6),
        xticks=range(-3, 5),
        yticks=range(-1, 3),
    )
    ax.grid(alpha=0.25, color=GREY)
    return Picture(
        figure,
        "A plane with thing to the right and action upwards. An arrow leads from the origin to saw alone, at (1, 1). "
        "From its tip one arrow, labelled dog adds (-2, 1), leads to (-1, 2), what somebody did; another, labelled "
        "old adds (1, -2), leads to (2, -1), a tool.",
    )


def _vector(ax, start, end, colour):
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=style)


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "decoder_flow": decoder_flow(),
        "cross_layer_flow": cross_layer_flow(),
        "activations": activations(),
        "saw_meaning": saw_meaning(),
    }
