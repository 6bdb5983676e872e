"""The figure of lesson 07: pairs of features as arrows, and the score that they give."""

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle

from autograder.notebook.figures.palette import BLUE, GREY, INK, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.words import Vector, number, row, sentence

RADIUS = 0.62  # inches


@styled
def turned_pairs(
    query: Vector, key: Vector, curve: Sequence[float], at: int, title: str, note: str = ""
) -> Picture:
    """Draw the pairs of features of a query and a key as arrows, one circle for each pair, and the score at
    every distance as a curve.

    `query` and `key` are (D,) vectors, already rotated, with D even and at most 8. `curve` holds the scores
    at distances 0, 1, 2, ...; `at` is the distance between this query and this key, which is marked on the
    curve.
    """
    query, key, curve = row(query), row(key), row(curve)
    pairs = list(zip(query[0::2], query[1::2], key[0::2], key[1::2], strict=True))
    wide = max(6.0, 0.3 + 1.5 * len(pairs), 0.105 * len(title) + 0.8)
    figure = card(wide, 4.75, title, note)
    ax = canvas(figure, 0, 0, wide, 4.75)
    longest = max(math.hypot(*pair[k : k + 2]) for pair in pairs for k in (0, 2)) or 1
    for i, pair in enumerate(pairs):
        part = pair[0] * pair[2] + pair[1] * pair[3]
        dial(ax, 1.05 + 1.5 * i, 3.15, {"q": pair[:2], "k": pair[2:]}, RADIUS, longest)
        ax.text(1.05 + 1.5 * i, 2.3, f"pair {i}: {number(part)}", ha="center", va="center", fontsize=9.5)
    score = sum(a * b for a, b in zip(query, key, strict=True))
    ax.text(
        0.3 + 1.5 * len(pairs), 3.15, f"score {number(score)}", fontsize=12, fontweight="bold", va="center"
    )
    chart = axes(figure, 0.85, 0.7, wide - 1.2, 1.2)
    chart.plot(curve, color=INK, linewidth=1.6)
    chart.plot([at], [curve[at]], "o", color=VERMILLION, markersize=9)
    chart.set(xlabel="distance", ylabel="score")
    chart.grid(alpha=0.25, color=GREY)
    alt = f"{sentence(title)} {len(pairs)} dials with an arrow for the query and one for the key; score {number(score)}"
    return Picture(figure, f"{alt}. Below, the score over the distance, with distance {at} marked.")


def dial(
    ax: Axes,
    x: float,
    y: float,
    hands: Mapping[str, tuple[float, float]],
    radius: float = RADIUS,
    longest: float = 1.0,
) -> None:
    """Draw a circle with up to two arrows, the first one blue and the second one red.

    hands: name of the arrow -> its pair of features
    longest: the length of an arrow that nearly fills the circle
    """
    scale = 0.9 * radius / longest
    ax.add_patch(Circle((x, y), radius, facecolor="none", edgecolor="#D1D5DB", linewidth=1.2))
    for (name, (first, second)), colour in zip(hands.items(), (BLUE, VERMILLION)):
        tip = x + scale * first, y + scale * second
        style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.2, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tip, (x, y), arrowprops=style)
        length = math.hypot(first, second) or 1
        place = x + (scale * length + 0.13) * first / length, y + (scale * length + 0.13) * second / length
        ax.text(*place, name, ha="center", va="center", fontsize=9, color=colour, fontweight="bold")
