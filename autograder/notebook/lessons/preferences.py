"""The figures of lesson 18: curves over the steps of tuning, and the drift that each tuned model pays for its
gain.
"""

import math
from collections.abc import Mapping, Sequence

from autograder.notebook.figures.curves import LOOKS, add_legend, draw_curves
from autograder.notebook.figures.palette import GREY
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import number, sentence


def cheapest(p: float) -> float:
    """Return the least possible drift per token of a policy whose steps go up with probability p.

    The reference steps up or down with probability 1/2 each. Drift is the amount by which the policy lowers
    the log-probability of the reference's texts.
    """
    return -math.log(4 * p * (1 - p)) / 2


@styled
def tuning(charts: Mapping[str, Mapping[str, Sequence]], steps: Sequence[int], title: str) -> Picture:
    """Draw charts of curves over the steps, two per row, with one legend for all charts.

    charts: name of the chart -> its lines, as for `figures.curves`; the lines have the same names in every
        chart
    """
    lines, told = -(-len(charts) // 2), []
    figure = card(6.4, 1.6 + 2.1 * lines, title)
    for k, (name, runs) in enumerate(charts.items()):
        ax = axes(figure, 0.75 + 2.95 * (k % 2), 1.25 + 2.1 * (lines - 1 - k // 2), 2.4, 1.4)
        told.append(f"{name}: {draw_curves(ax, runs, steps, False, False, {})}")
        ax.set_title(name, fontsize=10.5, pad=8)
        ax.set_xlabel("step", fontsize=9.5, labelpad=2)
        ax.tick_params(labelsize=9.5)
    add_legend(figure, ax, 0.65)
    return Picture(
        figure, f"{sentence(title)} {len(charts)} charts over the steps of training. {' '.join(told)}"
    )


@styled
def price(paths: Mapping[str, Sequence[Sequence[tuple[float, float]]]], title: str) -> Picture:
    """Plot the drift of tuned models against the share of steps that go up.

    Each model is a path with a mark at its end; a dotted line shows the cheapest drift.

    paths: name of a method -> for each of its models, the (share, drift) during tuning; up to five methods
    """
    figure = card(max(6.0, 0.105 * len(title) + 0.8), 4.6, title)
    ax = axes(figure, 0.95, 1.25, 4.75, 2.6)
    shares = [k / 200 for k in range(100, 199)]
    ax.plot(
        shares,
        [cheapest(p) for p in shares],
        color=GREY,
        linewidth=1.6,
        linestyle=":",
        label="cheapest drift",
    )
    told = []
    for k, (name, models) in enumerate(paths.items()):
        colour, marker = LOOKS[k % len(LOOKS)][:2]
        for path in models:
            ax.plot(
                *zip(*path, strict=True), color=colour, linewidth=1.1, marker=".", markersize=3, alpha=0.7
            )
        ends = [path[-1] for path in models]
        ax.plot(*zip(*ends, strict=True), marker, color=colour, markersize=8, alpha=0.85, label=name)
        told.append(f"{name} ends: " + ", ".join(f"up {number(x)}, drift {number(y)}" for x, y in ends))
    ax.set(xlabel="share of written steps that go up", ylabel="drift per token", yscale="log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set(xlim=(0.4, 1.0), ylim=(0.05, 20))
    ax.grid(alpha=0.25, color=GREY)
    add_legend(figure, ax, 0.75, across=3)
    return Picture(
        figure,
        f"{sentence(title)} Drift per token over the share of steps that go up, a path for each model from left to its "
        "end, with a line for the cheapest drift of each share, from 0 at 0.5 to 0.51 at 0.9. "
        f"{'; '.join(told)}.",
    )
