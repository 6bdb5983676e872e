"""Attention maps side by side: small ones with their numbers, large ones as colours only."""

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from autograder.notebook.figures.masks import described, draw_mask
from autograder.notebook.figures.palette import SEQUENTIAL, SIGNED, VERMILLION
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.tables import column_sums, draw_table, row_sums, spelled
from autograder.notebook.figures.words import Matrix, number, rows, sentence

FEW = 6  # with up to this many columns there is room for numbers
MOST_NAMES = 16  # with more rows or columns, only some are named
LEFT, GAP, SUMS = 0.55, 0.3, 0.5  # in inches: row names, space between maps, row sums


@styled
def attention_maps(
    maps: Mapping[str, Matrix],
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    title: str = "Attention weights",
    *,
    note: str = "row: query, column: key",
    sums: bool = False,
    framed: Mapping[str, Matrix] | None = None,
) -> Picture:
    """Draw attention maps side by side, darker for more; a map of Booleans is drawn as a mask.

    maps: name -> (N, M) weights from 0 to 1, one row for each query and one column for each key; without
        `keys`, the keys are the queries. With up to six keys, every weight is written in its cell. If a
        number is negative (a position code, a bias), all maps are coloured by sign and size.
    note: a line below the title that says what rows and columns are; if "key" or "attend" is in it, the
        alternative text speaks of attention
    sums: write the sum of each row at the right, and of each column below; only where the weights are written
    framed: name -> (N, M) Booleans, True for each cell to be framed
    """
    keys, tables = keys or queries, {name: rows(values) for name, values in maps.items()}
    across = min(len(maps), 2 if len(keys) <= FEW else 4)
    cell = _cell_size(across, len(queries), len(keys), SUMS * sums)
    panel = cell * len(keys) + GAP + SUMS * sums
    line = cell * len(queries) + 0.75 + 0.3 * sums
    lines = -(-len(maps) // across)
    width = max(LEFT + across * panel, 0.105 * len(title) + 0.8, 0.072 * len(note) + 0.6)
    height = lines * line + 0.8
    figure = card(width, height, title, note)
    colours, told = _colours(tables), []
    most = "attends most to" if "key" in note or "attend" in note else "is largest at"
    for k, (name, values) in enumerate(tables.items()):
        bottom = 0.45 + 0.3 * sums + (lines - 1 - k // across) * line
        ax = axes(figure, LEFT + k % across * panel, bottom, cell * len(keys), cell * len(queries))
        told.append(f"{name}: {_draw(ax, values, queries, keys, sums, colours, most)}")
        _label(ax, name, queries, keys, cell, 0.2 + 0.3 * sums, has_rows=k % across == 0)
        told += _frame(ax, rows(framed[name])) if framed and name in framed else []
    return Picture(figure, f"{sentence(title)} {sentence(note)} Darker is more. {'. '.join(told)}.")


def _label(
    ax: Axes,
    name: str,
    queries: Sequence[str],
    keys: Sequence[str],
    cell: float,
    below: float,
    has_rows: bool,
) -> None:
    """Write the name of a map below it, and set the size of its row and column names. Row names are shown
    only with `has_rows`.
    """
    size = min(9.5, 56 * cell * min(_step(queries), _step(keys)))
    ax.tick_params(labelsize=size, labelleft=has_rows, pad=2)
    place = (len(keys) / 2, len(queries) + below / cell)
    ax.text(*place, name, ha="center", va="center", fontweight="bold", fontsize=9.5)


def _cell_size(across: int, n_queries: int, n_keys: int, sums: float) -> float:
    """Return the size of a cell in inches, small enough for a phone to show the whole figure at once."""
    room = 6.0 - LEFT - across * (GAP + sums)
    return min(0.5 if n_keys <= FEW else 0.42, room / (across * n_keys), 3.2 / n_queries)


def _colours(maps: Mapping[str, list]) -> tuple:
    """Return (colour map, low end of its scale, high end of its scale), the same for all maps."""
    finite = [v for values in maps.values() for line in values for v in line if math.isfinite(v)]
    if min(finite, default=0) >= 0:
        return SEQUENTIAL, 0, 1
    high = max(map(abs, finite))
    return SIGNED, -high, high


def _draw(
    ax: Axes, values: list, queries: Sequence[str], keys: Sequence[str], sums: bool, colours: tuple, most: str
) -> str:
    """Draw one map, and return a description of it in words. If the map is too large for numbers, the
    description has the phrase `most` ("attends most to") between a row's name and the column of its largest
    entry.
    """
    has_numbers, (cmap, low, high) = len(keys) <= FEW, colours
    if isinstance(values[0][0], bool):
        draw_mask(ax, values, queries, keys, ("True", "False") if has_numbers else None)
        return described(values, queries, keys)
    if has_numbers:
        draw_table(ax, values, queries, keys, cmap, low, high, 8.5)
        if sums:
            row_sums(ax, values, len(keys), 8.5)
            column_sums(ax, values, len(values), 8.5)
        return spelled(values, queries)
    ax.pcolormesh(
        values, cmap=cmap, vmin=low, vmax=high, edgecolors="#E5E7EB", linewidth=min(0.6, 10 / len(keys))
    )
    ax.set(xlim=(0, len(keys)), ylim=(len(queries), 0))
    for axis, names in ((ax.xaxis, keys), (ax.yaxis, queries)):
        some = range(0, len(names), _step(names))
        axis.set_ticks([k + 0.5 for k in some], [names[k] for k in some])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    return _strongest(values, queries, keys, most)


def _step(names: Sequence[str]) -> int:
    """Return n such that only every n-th row or column is labelled."""
    return -(-len(names) // MOST_NAMES)


def _frame(ax: Axes, chosen: list) -> list[str]:
    """Frame the chosen cells, and return a list with one phrase that says how many there are."""
    places = [(i, j) for i, line in enumerate(chosen) for j, is_framed in enumerate(line) if is_framed]
    look: dict = {"facecolor": "none", "edgecolor": VERMILLION, "linewidth": 1.6}
    for i, j in places:
        ax.add_patch(Rectangle((j + 0.06, i + 0.06), 0.88, 0.88, **look))
    return [f"{len(places)} cells are framed"]


def _strongest(values: list, queries: Sequence[str], keys: Sequence[str], most: str) -> str:
    """Return a description in words: for each row, the column of its largest entry."""
    tops = [max(range(len(line)), key=line.__getitem__) for line in values]
    return "; ".join(
        f"{query} {most} {keys[top]} ({number(line[top])})"
        for query, top, line in zip(queries, tops, values, strict=True)
    )
