"""The figure of lesson 21: a heat map with one number per head and layer, or per token and layer."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from autograder.notebook.figures.palette import SEQUENTIAL, SIGNED
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import Matrix, number, rows, sentence

NAMED = 3  # how many of the largest numbers are named in words


@styled
def heat(
    maps: Mapping[str, Matrix],
    names: Sequence[str],
    title: str,
    *,
    xlabel: str = "layer",
    ylabel: str = "head",
    note: str = "",
    high: float = 1.0,
) -> Picture:
    """Draw matrices of numbers as heat maps, one below the other.

    Darker means larger. If any number is negative, the colour shows the sign and the size.

    maps: name -> (rows, columns), for instance one row for each head and one column for each layer
    names: the names of the rows
    high: the number that is drawn darkest
    """
    tables = {name: rows(values) for name, values in maps.items()}
    columns = max(len(line) for values in tables.values() for line in values)
    signed = any(value < 0 for values in tables.values() for line in values for value in line)
    longest = max(map(len, names))
    left, cell = 0.5 + 0.08 * longest, 0.26
    width, tall = 6.0 - left - 0.25, cell * len(names)
    figure = card(6.0, 0.75 + len(tables) * (tall + 0.75) + (0.2 if note else 0), title, note)
    told = []
    for k, (name, values) in enumerate(tables.items()):
        bottom = 0.5 + (len(tables) - 1 - k) * (tall + 0.75)
        ax = axes(figure, left, bottom, width, tall)
        look: dict = {"cmap": SIGNED if signed else SEQUENTIAL, "vmin": -high if signed else 0, "vmax": high}
        ax.pcolormesh(values, edgecolors="#E5E7EB", linewidth=0.4, **look)
        _name(ax, names, columns)
        ax.set_title(name, fontsize=9.5, pad=4, loc="left", fontweight="bold")
        ax.set(ylabel=ylabel if longest < 3 else "", xlabel=xlabel if k == len(tables) - 1 else "")
        told.append(f"{name}: {_largest(values, names, xlabel, ylabel)}")
    return Picture(figure, f"{sentence(title)} {note and sentence(note)} {'. '.join(told)}.")


def _name(ax: Axes, names: Sequence[str], columns: int) -> None:
    """Label every row by name and about ten columns by number, with the first row at the top."""
    ax.set(ylim=(len(names), 0), xlim=(0, columns))
    ax.set_yticks([k + 0.5 for k in range(len(names))], names)
    some = range(0, columns, max(1, columns // 10))
    ax.set_xticks([k + 0.5 for k in some], [str(k) for k in some])
    ax.tick_params(length=0, labelsize=8.5)
    ax.spines[["left", "bottom"]].set_visible(False)


def _largest(values: list, names: Sequence[str], xlabel: str, ylabel: str) -> str:
    """Return a phrase that names the largest numbers and their positions."""
    places = [(value, i, j) for i, line in enumerate(values) for j, value in enumerate(line)]
    best = sorted(places, reverse=True)[:NAMED]
    return "largest are " + ", ".join(f"{number(v)} ({ylabel} {names[i]}, {xlabel} {j})" for v, i, j in best)
