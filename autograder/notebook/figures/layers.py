"""Decoder layers: how their parts are put together, and what depth does to the gradient."""

from matplotlib.patches import Circle

from autograder.notebook.figures.diagrams import _arrow, _box
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


def _around(ax, start, end, y, colour=VERMILLION):
    """The residual: a line that leaves the stream, passes below the branch and meets the plus."""
    low = y - 0.75
    ax.plot([start, start, end], [y, low, low], color=colour, linewidth=2.4, solid_joinstyle="round")
    _arrow(ax, (end, low), (end, y - 0.16), colour, 2.4)


def _chain(ax, left, y, parts, wide=0.98, gap=0.3):
    """Boxes in a row joined by arrows; "+" makes a plus. Returns the x of every part."""
    x, places = left, []
    for name, colour in parts:
        width = 0.3 if name == "+" else wide
        _arrow(ax, (x, y), (x + gap, y))
        centre = x + gap + width / 2
        if name == "+":
            _plus(ax, centre, y)
        else:
            _box(ax, centre, y, name, "", colour, width=width, height=0.46)
        places.append(centre)
        x = centre + width / 2
    _arrow(ax, (x, y), (x + gap, y))
    return places


@styled
def decoder_flow():
    """The pre-norm decoder layer, and the same parts in post-norm order."""
    figure = card(9.6, 4.5, "One decoder layer, in two orders")
    ax = canvas(figure, 0, 0, 9.6, 4.5)
    norm, attend, network = ("norm", GREEN), ("attention", BLUE), ("network", ORANGE)
    plus = ("+", INK)
    orders = (
        (
            3.05,
            "pre-norm",
            "the residual line is free from x to the output",
            (norm, attend, plus, norm, network, plus),
        ),
        (1.2, "post-norm", "every norm stands on the residual line", (attend, plus, norm, network, plus, norm)),
    )
    for y, name, note, parts in orders:
        ax.text(0.3, y + 0.62, name, fontweight="bold", va="center")
        ax.text(1.45, y + 0.62, note, color=GREY, fontsize=9.5, va="center")
        ax.text(0.42, y, "x", ha="center", va="center", fontweight="bold", fontsize=12)
        places = _chain(ax, 0.6, y, parts)
        pluses = [place for place, (part, _) in zip(places, parts, strict=True) if part == "+"]
        first = 0.72
        second = pluses[0] + 0.22 if name == "pre-norm" else places[2] + 0.58
        _around(ax, first, pluses[0], y)
        _around(ax, second, pluses[1], y)
        ax.text(
            places[-1] + (0.55 if name == "pre-norm" else 0.9), y, "output", va="center", fontweight="bold"
        )
    return Picture(
        figure,
        "A decoder layer in two orders. Pre-norm: x goes through a norm and attention and is added to x itself; "
        "the sum goes through a norm and the feed-forward network and is added to itself again. The residual "
        "line from x to the output passes nothing but two plus signs. Post-norm: x goes through attention, is "
        "added to x, and the sum goes through a norm; then network, plus, and norm again. Both norms stand on "
        "the residual line.",
    )


@styled
def cross_layer_flow():
    """The encoder-decoder layer: three sublayers, each followed by plus and norm."""
    figure = card(9.6, 3.3, "A decoder layer that reads: three sublayers, each followed by plus and norm")
    ax = canvas(figure, 0, 0, 9.6, 3.3)
    y = 1.2
    ax.text(0.28, y, "x", ha="center", va="center", fontweight="bold", fontsize=12)
    names = (
        ("self_attn", BLUE, "norm1"),
        ("multihead_attn", PURPLE, "norm2"),
        ("linear1, 2", ORANGE, "norm3"),
    )
    x = 0.42
    for k, (name, colour, norm) in enumerate(names):
        wide = 1.5 if k == 1 else 1.02
        start = x + 0.1
        _arrow(ax, (x, y), (x + 0.22, y))
        _box(ax, x + 0.22 + wide / 2, y, name, "", colour, width=wide, height=0.46)
        middle = x + 0.22 + wide / 2
        plus = x + 0.22 + wide + 0.33
        _arrow(ax, (plus - 0.33, y), (plus - 0.15, y))
        _plus(ax, plus, y)
        _around(ax, start, plus, y)
        _arrow(ax, (plus + 0.15, y), (plus + 0.33, y))
        _box(ax, plus + 0.33 + 0.33, y, norm, "", GREEN, width=0.66, height=0.46)
        if k == 1:
            _box(ax, middle, 2.4, "memory", "(B, M, d_model)", PURPLE, width=1.5)
            _arrow(ax, (middle, 2.07), (middle, y + 0.25), PURPLE)
            ax.text(middle + 0.1, 1.77, "keys, values", fontsize=9, color=GREY, va="center")
        if k == 0:
            ax.text(middle, y + 0.42, "causal", fontsize=9, color=GREY, ha="center")
        x = plus + 0.99
    _arrow(ax, (x, y), (x + 0.22, y))
    return Picture(
        figure,
        "A flow chart of three sublayers in a row. First causal self-attention, plus, norm1. Then "
        "multihead_attn, whose keys and values come from the memory of shape (B, M, d_model), plus, norm2. Then "
        "the feed-forward network, plus, norm3. A residual line leads around each sublayer to its plus.",
    )


@styled
def over_depth(lines, ylabel="gradient", title="What is left of the gradient?", logarithmic=True):
    """One line for each way of stacking, over the layers from the input on; `lines` maps a name to numbers."""
    figure = card(9.0, 3.8, title)
    ax = axes(figure, 0.95, 0.7, 4.9, 2.45)
    looks = ((BLUE, "o", "-"), (GREEN, "s", "-"), (VERMILLION, "^", "--"), (PURPLE, "D", "-."))
    told = []
    for (name, values), (colour, marker, style) in zip(lines.items(), looks, strict=False):
        ax.plot(
            range(len(values)),
            values,
            style,
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=2,
            label=name,
        )
        told.append(f"{name}: {values[0]:.2g} at the input, {values[-1]:.2g} at the output")
    ax.set_yscale("log" if logarithmic else "linear")
    ax.set(xlabel="layer, counted from the input", ylabel=ylabel)
    ax.grid(alpha=0.25, color=GREY)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.03, 0.5), fontsize=9.5)
    return Picture(figure, f"{title} {ylabel.capitalize()} over {len(values)} layers. " + "; ".join(told))


@styled
def activations():
    """GELU and ReLU, and how far the tanh form of GELU is from the exact one."""
    import math

    xs = [k / 50 - 4 for k in range(401)]
    exact = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in xs]
    approximate = [x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2 for x in xs]
    figure = card(9.0, 3.3, "GELU bends softly where ReLU has a corner")
    left = axes(figure, 0.6, 0.6, 3.7, 2.0)
    left.plot(xs, exact, color=ORANGE, linewidth=2.4, label="GELU")
    left.plot(xs, [max(x, 0) for x in xs], color=GREY, linestyle="--", label="ReLU")
    left.set(xlabel="z", xlim=(-4, 3), ylim=(-0.4, 3))
    left.legend(frameon=False, fontsize=9.5)
    left.grid(alpha=0.25, color=GREY)
    right = axes(figure, 5.3, 0.6, 3.3, 2.0)
    gap = [1000 * (a - e) for a, e in zip(approximate, exact, strict=True)]
    right.plot(xs, gap, color=VERMILLION, linewidth=2)
    right.set_title("tanh form minus exact form", fontsize=10, pad=6)
    right.set(xlabel="z", ylabel="thousandths")
    right.grid(alpha=0.25, color=GREY)
    return Picture(
        figure,
        "Left, two curves: ReLU is zero up to 0 and then a straight line; GELU follows it softly, dips a little "
        "below zero near -0.75 and comes close to the line from 2 on. Right, the tanh form of GELU minus the "
        "exact one: at most half a thousandth.",
    )
