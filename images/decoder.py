"""The pictures of lesson 06."""

import math

from drawing import arrow, box
from matplotlib.patches import Circle

from autograder.notebook.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    VERMILLION,
    Picture,
    axes,
    canvas,
    card,
    styled,
)


def _plus(ax, x, y):
    ax.add_patch(Circle((x, y), 0.15, facecolor="white", edgecolor=INK, linewidth=1.6, zorder=3))
    ax.text(x, y - 0.01, "+", ha="center", va="center", fontsize=12, fontweight="bold", zorder=4)


def _stream(ax, x, top, bottom, start="x", end="output"):
    """The residual line, from the layer's input above to its output below."""
    ax.text(x, top + 0.17, start, ha="center", va="center", fontweight="bold")
    ax.plot([x, x], [top, bottom + 0.2], color=VERMILLION, linewidth=2.6, zorder=0)
    arrow(ax, (x, bottom + 0.2), (x, bottom), VERMILLION, 2.6)
    ax.text(x, bottom - 0.17, end, ha="center", va="center", fontweight="bold")


def _branch(ax, x, y, parts, away=1.35, wide=1.2):
    """Leaves the residual line at (x, y), passes the boxes (name, colour) and is added. Returns the plus's y."""
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
    """A norm that stands on the residual line."""
    box(ax, x, y, name, "", GREEN, width=0.9, height=0.42)


@styled
def decoder_flow() -> Picture:
    """The pre-norm decoder layer, and the same parts in post-norm order."""
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
    """The encoder-decoder layer: three sublayers, each followed by plus and norm."""
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
            arrow(ax, (4.35, y - 0.46), (3.32, y - 0.46), PURPLE)
            ax.text(3.84, y - 0.29, "keys, values", fontsize=9, color=GREY, ha="center", va="center")
        y = below - 0.8
    return Picture(
        figure,
        "A flow chart of three sublayers, one below the other. First causal self-attention, plus, norm1. Then "
        "multihead_attn, whose keys and values come from the memory of shape (B, M, d_model), plus, norm2. Then "
        "the feed-forward network, plus, norm3. A residual line leads from x past each sublayer to its plus, and "
        "through the three norms.",
    )


@styled
def activations() -> Picture:
    """GELU and ReLU, and how far the tanh form of GELU is from the exact one."""
    xs = [k / 50 - 4 for k in range(401)]
    exact = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in xs]
    approximate = [x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2 for x in xs]
    figure = card(6.0, 3.0, "GELU bends softly where ReLU has a corner")
    left = axes(figure, 0.45, 0.6, 2.6, 1.7)
    left.plot(xs, exact, color=ORANGE, linewidth=2.4, label="GELU")
    left.plot(xs, [max(x, 0) for x in xs], color=GREY, linestyle="--", label="ReLU")
    left.set(xlabel="z", xlim=(-4, 3), ylim=(-0.4, 3))
    left.legend(frameon=False, fontsize=9.5)
    left.grid(alpha=0.25, color=GREY)
    right = axes(figure, 3.85, 0.6, 1.9, 1.7)
    gap = [1000 * (a - e) for a, e in zip(approximate, exact, strict=True)]
    right.plot(xs, gap, color=VERMILLION, linewidth=2)
    right.set_title("tanh form minus exact form", fontsize=9.5, pad=6)
    right.set(xlabel="z", ylabel="thousandths", xticks=range(-4, 5, 2))
    right.grid(alpha=0.25, color=GREY)
    return Picture(
        figure,
        "Left, two curves: ReLU is zero up to 0 and then a straight line; GELU follows it softly, dips a little "
        "below zero near -0.75 and comes close to the line from 2 on. Right, the tanh form of GELU minus the "
        "exact one: at most half a thousandth.",
    )


def pictures() -> dict[str, Picture]:
    """Name -> picture."""
    return {
        "decoder_flow": decoder_flow(),
        "cross_layer_flow": cross_layer_flow(),
        "activations": activations(),
    }
