"""The figures of lessons 01 and 02."""

from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, INK, SIGNED, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.tables import is_dark
from autograder.notebook.figures.words import Matrix, Vector, listed, number, row, rows, sentence


@styled
def weighted_average(
    weights: Vector, values: Matrix, tokens: Sequence[str], query: str, features: Sequence[str]
) -> Picture:
    """Draw how the output of one query is computed: each of the (M,) weights times its row of the (M, E)
    values, and the sum of these products.
    """
    weights, values = row(weights), rows(values)
    output = [sum(w * v[e] for w, v in zip(weights, values, strict=True)) for e in range(len(values[0]))]
    n, height = len(tokens), 0.56 * len(tokens) + 1.2
    figure = card(6.05, height, f"The output for \u201c{query}\u201d: a weighted average of the values")
    ax = canvas(figure, 0, 0, 6.05, height)
    top, middle = height - 1.3, height - 1.3 - 0.28 * (n - 1)
    high = max(abs(value) for line in values for value in line) or 1
    _headings(ax, top + 0.42)
    for k in range(n):
        y = top - 0.56 * k
        ax.text(0.58, y, tokens[k], ha="right", va="center")
        ax.barh(y, 0.75 * weights[k], left=0.7, height=0.3, color=BLUE)
        ax.text(0.76 + 0.75 * weights[k], y, number(weights[k]), va="center", fontsize=9.5)
        _strip(ax, 1.9, y, values[k], high)
        look = {"linewidth": 0.5 + 5 * weights[k], "alpha": 0.25 + 0.7 * weights[k], "color": BLUE}
        ax.annotate("", (4.06, middle), (3.56, y), arrowprops={"arrowstyle": "-|>"} | look)
    _strip(ax, 4.15, middle, output, high)
    for e, name in enumerate(features):
        ax.text(4.36 + 0.42 * e, middle - 0.3, name, ha="center", va="top", fontsize=8.5, color=GREY)
    told = ", ".join(f"{number(w)} of {token}" for w, token in zip(weights, tokens, strict=True))
    return Picture(
        figure,
        f"The output for the query {query} is a weighted average of the value vectors: {told}, "
        f"added up to ({listed(output)})",
    )


def _headings(ax, y: float) -> None:
    for x, text in ((0.7, "weight"), (1.9, "value vector"), (4.15, "output: the sum")):
        ax.text(x, y, text, color=GREY, va="center")


def _strip(ax, x: float, y: float, values: list[float], high: float) -> None:
    """Draw a small row vector as coloured cells."""
    for e, value in enumerate(values):
        shade = SIGNED((value / high + 1) / 2)
        ax.add_patch(
            Rectangle((x + 0.42 * e, y - 0.2), 0.41, 0.4, facecolor=shade, edgecolor=GREY, linewidth=0.6)
        )
        ink = "white" if is_dark(shade) else INK
        place = (x + 0.205 + 0.42 * e, y)
        ax.text(*place, number(value), ha="center", va="center", fontsize=9, color=ink)


@styled
def meanings(
    start: Vector,
    ends: Mapping[str, Matrix],
    title: str,
    targets: Mapping[str, Vector] | None = None,
    features: Sequence[str] = ("thing", "action"),
    word: str = "saw",
) -> Picture:
    """Draw how one vector changes in up to three sentences, as arrows in the plane of its first two features.

    `start` is the vector that goes in, the same in every sentence. `ends` maps each sentence to the (R, D)
    vectors that come out, one row per run; an arrow leads to each of them. `targets` maps each meaning to the
    vector that would have exactly this meaning, drawn as a ring.
    """
    begin = tuple(row(start)[:2])
    rings = {name: tuple(row(target)[:2]) for name, target in (targets or {}).items()}
    figure = card(6.0, 4.3, title)
    ax = axes(figure, 0.95, 0.75, 4.75, 2.95)
    for name, target in rings.items():
        ax.plot(
            *target, "o", markersize=22, markerfacecolor="none", markeredgecolor=GREY, markeredgewidth=1.2
        )
        ax.annotate(name, target, xytext=(16, -3), textcoords="offset points", color=GREY, fontsize=9.5)
    told = []
    for (name, found), colour in zip(ends.items(), (BLUE, VERMILLION, GREEN)):
        reached = [tuple(end[:2]) for end in rows(found)]
        for end in reached:
            style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", end, begin, arrowprops=style)
        ax.plot([], [], color=colour, linewidth=2, label=name)
        told.append(f"{name}: to {' and '.join(f'({listed(end)})' for end in reached)}")
    ax.plot(*begin, "o", color=INK, markersize=8)
    ax.annotate(word, begin, xytext=(8, 6), textcoords="offset points", fontweight="bold")
    ax.set(xlim=(-1.7, 3.2), ylim=(-1.6, 2.7), xlabel=features[0], ylabel=features[1])
    ax.axhline(0, color=GREY, linewidth=0.6)
    ax.axvline(0, color=GREY, linewidth=0.6)
    ax.grid(alpha=0.25, color=GREY)
    ax.legend(loc="upper right", frameon=False, fontsize=9.5)
    return Picture(
        figure,
        f"{sentence(title)} Arrows from {word} at ({listed(begin)}), by {features[0]} and {features[1]}. "
        f"{'; '.join(told)}.",
    )
