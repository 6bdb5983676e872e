"""Curves: what an experiment measured, over steps, lengths, depth or anything else."""

from collections.abc import Collection, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import sentence

# The first line is solid and a little broader, the others are dashed, so that lines that coincide are all seen.
# It must not be so broad that the first name looks like the most important one.
LOOKS = (
    (BLUE, "o", "-", 2.2),
    (VERMILLION, "^", "--", 1.8),
    (GREEN, "s", "-.", 1.8),
    (ORANGE, "D", ":", 2.2),
    (PURPLE, "v", "--", 1.8),
)
FEW = 24  # points are marked on lines with at most this many


@styled
def curves(
    lines: Mapping[str, Sequence],
    x: Sequence | None = None,
    *,
    title: str,
    xlabel: str = "step",
    ylabel: str = "loss",
    log_x: bool = False,
    log_y: bool = False,
    reference: Mapping[str, float] | None = None,
) -> Picture:
    """Draw curves in one chart.

    lines: name -> values; or name -> a list of runs of equal length (one for each seed), each drawn thin,
        with their mean as the line
    x: where the values are, as numbers or as names; if None, 0, 1, 2, ... A line may be shorter than x
    log_x, log_y: logarithmic axes; the ticks of the x axis are at the values of x, on a scale of base 2
    reference: name -> a level to compare with, drawn as a dotted line
    """
    entries = len(lines) + len(reference or {})
    legend = 0.26 * -(-entries // 2) if entries > 1 else 0
    figure = card(max(6.0, 0.105 * len(title) + 0.8), 3.5 + legend, title)
    ax = axes(figure, 0.95, 0.75 + legend, 4.75, 2.0)
    told = draw_curves(ax, lines, x, log_x, log_y, reference or {})
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if entries > 1:
        add_legend(figure, ax, 0.2 + legend)
    return Picture(figure, f"{sentence(title)} {ylabel} over {xlabel}. {told}")


@styled
def panels(
    charts: Mapping[str, Mapping[str, Sequence]],
    x: Sequence | None = None,
    *,
    title: str,
    xlabel: str = "step",
    log_x: bool = False,
    log_y: Collection[str] = (),
) -> Picture:
    """Draw several charts of curves, one below the other, over the same x.

    charts: name of the chart -> its lines, as for `curves`; the lines have the same names in every chart
    log_y: the names of the charts with a logarithmic y axis
    """
    count, told = len(charts), []
    legend = 0.26 * ((max(map(len, charts.values())) + 1) // 2 - 1)  # height of its further rows
    figure = card(6.0, 1.35 + 1.85 * count + legend, title)
    for k, (name, lines) in enumerate(charts.items()):
        ax = axes(figure, 0.85, 0.95 + legend + 1.85 * (count - 1 - k), 4.75, 1.3)
        told.append(f"{name}: {draw_curves(ax, lines, x, log_x, name in log_y, {})}")
        ax.set_title(name, fontsize=10.5, pad=8)
    ax.set_xlabel(xlabel)
    add_legend(figure, ax, 0.42 + legend)
    return Picture(figure, f"{sentence(title)} {count} charts over {xlabel}. {' '.join(told)}")


def draw_curves(
    ax: Axes, lines: Mapping, x: Sequence | None, log_x: bool, log_y: bool, reference: Mapping[str, float]
) -> str:
    """Draw the lines, and return a description of them in words."""
    told, runs_of = [], {name: _runs(values) for name, values in lines.items()}
    longest = max(len(runs[0]) for runs in runs_of.values())
    names = x if x is not None and isinstance(x[0], str) else None
    places = list(range(longest)) if x is None or names else list(x)
    for k, (name, runs) in enumerate(runs_of.items()):
        colour, marker, style, width = LOOKS[k % len(LOOKS)]
        mean = _mean(runs)
        for run in runs if len(runs) > 1 else ():
            ax.plot(places[: len(mean)], run, color=colour, linewidth=0.9, alpha=0.4)
        mark: dict = {"marker": marker, "markersize": 5} if len(mean) <= FEW else {}
        ax.plot(places[: len(mean)], mean, style, color=colour, linewidth=width, label=name, **mark)
        told.append(f"{name}: {_told(mean, names or places)}.")
    for name, level in reference.items():
        ax.axhline(level, color=GREY, linewidth=1.2, linestyle=":", label=name)
        told.append(f"{name}: {_short(level)}.")
    _scale(ax, places, names, log_x, log_y)
    return " ".join(told)


def _scale(ax, places: list, names: Sequence[str] | None, log_x: bool, log_y: bool) -> None:
    ax.grid(alpha=0.25, color=GREY)
    if log_x:
        ax.set_xscale("log", base=2)
        ax.set_xticks(places, [str(place) for place in places])
        ax.xaxis.set_minor_locator(NullLocator())
    elif names:
        ax.set_xticks(places, names)
    elif all(float(place).is_integer() for place in places):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if log_y:
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        if high < 200 * low:  # a range this small may hold a single power of ten
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())
    elif ax.get_ylim()[0] <= 0.5 * ax.get_ylim()[1] and ax.dataLim.ymin >= 0:
        ax.set_ylim(-0.05 * ax.dataLim.ymax, None)  # from zero on, with zero in sight


def add_legend(figure: Figure, ax: Axes, height: float, across: int = 2) -> None:
    """Add a legend at the left of the card, with its top at `height` (in inches) and `across` names
    per row.
    """
    wide, high = figure.get_size_inches()
    place: dict = {"loc": "upper left", "bbox_to_anchor": (0.55 / wide, height / high)}
    names = ax.get_legend_handles_labels()
    figure.legend(*names, ncols=across, frameon=False, fontsize=9.5, borderpad=0, **place)


def _runs(values: Sequence) -> list[list[float]]:
    """Return the runs of a line; a line given as plain values is a single run."""
    is_line = getattr(values[0], "ndim", 0) == 0 and not isinstance(values[0], list | tuple)
    return [[float(value) for value in run] for run in ([values] if is_line else values)]


def _mean(runs: list[list[float]]) -> list[float]:
    return [sum(values) / len(runs) for values in zip(*runs, strict=True)]


def _told(values: list[float], places: Sequence) -> str:
    """Return a description of a line in words: all values of a short line, the first and the last of a long
    one.
    """
    if len(values) <= 8:
        return ", ".join(f"{_short(value)} at {place}" for value, place in zip(values, places))
    return f"from {_short(values[0])} at {places[0]} to {_short(values[-1])} at {places[len(values) - 1]}"


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
