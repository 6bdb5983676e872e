"""Bar charts: one for each row of numbers, or two for one query (its weights and its output)."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS_DARK, INK, VERMILLION
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import Vector, listed, number, row, sentence


def draw_bars(
    ax: Axes,
    values: Sequence[float],
    names: Sequence[str],
    colour: str | Sequence[str],
    title: str,
    top: float | None = None,
) -> None:
    """Draw a zero line, and vertical bars with their values above them; `top` is the upper end of the scale."""
    low, high = min(0, *values), max(0, *values) if top is None else top
    room, size = 0.16 * (high - low or 1), 9.5 if len(values) <= 6 else 7.5
    ax.bar(range(len(values)), values, color=colour, width=0.68)
    ax.axhline(0, color=GREY, linewidth=0.8)
    for k, value in enumerate(values):
        ax.text(k, max(value, 0) + room * 0.18, number(value), ha="center", va="bottom", fontsize=size)
    ax.set(xlim=(-0.6, len(values) - 0.4), ylim=(low - (room * 0.3 if low < 0 else 0), high + room))
    ax.set_xticks(range(len(values)), names)
    ax.set_yticks([])
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_title(title, fontsize=10.5, color=INK, pad=8)


@styled
def bars(charts: Mapping[str, Vector], names: Sequence[str], title: str, top: float | None = None) -> Picture:
    """Draw bar charts over the same names, two per row.

    charts: title -> values, one for each name
    top: the upper end of every scale, such as 1 for weights; if None, each chart has its own scale
    """
    lines = -(-len(charts) // 2)
    figure = card(max(0.6 + 2.7 * min(len(charts), 2), 0.105 * len(title) + 0.8), 0.8 + 2.3 * lines, title)
    rows = {name: row(values) for name, values in charts.items()}
    for k, (name, values) in enumerate(rows.items()):
        ax = axes(figure, 0.3 + 2.7 * (k % 2), 0.45 + 2.3 * (lines - 1 - k // 2), 2.4, 1.7)
        draw_bars(ax, values, names, HEADS_DARK[k % 4], name, top)
    told = "; ".join(f"{name}: {listed(values)}" for name, values in rows.items())
    return Picture(figure, f"{sentence(title)} Bars over {', '.join(names)}: {told}")


@styled
def one_query(
    weights: Vector,
    output: Vector,
    tokens: Sequence[str],
    features: Sequence[str],
    query: str,
    title: str = "",
) -> Picture:
    """Draw one query's weights over the tokens, and the output that they give, feature by feature.

    The scales are fixed, so that the figure does not jump when an explorer redraws it.
    """
    weights, output = row(weights), row(output)
    figure = card(6.05, 3.2, title or f"What \u201c{query}\u201d listens to, and hears")
    draw_bars(axes(figure, 0.25, 0.5, 2.85, 1.75), weights, tokens, BLUE, "weights over the tokens", top=1)
    colours = [GREEN if value >= 0 else VERMILLION for value in output]
    ax = axes(figure, 3.35, 0.5, 2.45, 1.75)
    draw_bars(ax, output, features, colours, "output, feature by feature")
    ax.set_ylim(-2.3, 2.7)
    told = ", ".join(f"{token} {number(w)}" for token, w in zip(tokens, weights, strict=True))
    return Picture(
        figure, f"{title or 'What ' + query + ' listens to'}. Weights: {told}. Output: {listed(output)}"
    )
