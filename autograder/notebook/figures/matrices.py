"""Tables of numbers with named rows and columns: embeddings, scores, weights."""

from autograder.notebook.figures.style import (
    GREY,
    INK,
    SEQUENTIAL,
    SIGNED,
    Picture,
    axes,
    card,
    number,
    rows,
    styled,
)

CELL_WIDTH, CELL_HEIGHT = 0.72, 0.5


def _grid(ax, values, row_names, column_names, colours, low, high, size=None):
    """Coloured cells with their numbers in them, first row at the top."""
    for i, line in enumerate(values):
        for j, value in enumerate(line):
            shade = colours((min(max(value, low), high) - low) / (high - low))
            dark = 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.55
            ax.add_patch(_cell(j, i, shade))
            ink = "white" if dark else INK
            ax.text(j + 0.5, i + 0.5, number(value), ha="center", va="center", color=ink, fontsize=size)
    ax.set(xlim=(0, len(column_names)), ylim=(len(row_names), 0))
    ax.set_xticks([j + 0.5 for j in range(len(column_names))], column_names)
    ax.set_yticks([i + 0.5 for i in range(len(row_names))], row_names)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _cell(j, i, shade):
    from matplotlib.patches import Rectangle

    return Rectangle((j, i), 1, 1, facecolor=shade, edgecolor="white", linewidth=2)


def _axes(figure, left, n_rows, n_columns, cell_width=CELL_WIDTH):
    bottom = 0.3
    return axes(figure, left, bottom, n_columns * cell_width, n_rows * CELL_HEIGHT)


def _named_axes(ax):
    ax.set_xlabel("key: the word looked at", color=GREY, labelpad=6)
    ax.set_ylabel("query: the word that looks", color=GREY, labelpad=6)


def _spelled(values, row_names, digits=2):
    return "; ".join(
        f"{name}: " + ", ".join(number(value, digits) for value in line)
        for name, line in zip(row_names, values, strict=True)
    )


@styled
def table(values, row_names, column_names, title="", symbol=""):
    """A matrix of numbers of both signs (embeddings, queries, outputs), one row a token."""
    values = rows(values)
    wide = max(CELL_WIDTH, 0.1 * max(map(len, column_names)) + 0.2)
    height = len(values) * CELL_HEIGHT + 0.75 + (0.5 if title else 0)
    figure = card(max(1.5 + wide * len(column_names), 0.105 * len(title) + 0.8), height, title)
    high = max(1e-9, max(abs(value) for line in values for value in line))
    ax = _axes(figure, 1.1, len(values), len(column_names), wide)
    _grid(ax, values, row_names, column_names, SIGNED, -high, high)
    alt = f"A table of {len(values)} rows and {len(column_names)} columns. " + _spelled(values, row_names)
    return Picture(figure, (title + ". " if title else "") + alt)


@styled
def scores(values, tokens, keys=None, title="Scores"):
    """The score matrix: row i, column j holds how well query i and key j agree."""
    values, keys = rows(values), keys or tokens
    figure = card(max(2.0 + CELL_WIDTH * len(keys), 4), len(values) * CELL_HEIGHT + 1.45, title)
    high = max(1e-9, max(abs(value) for line in values for value in line))
    ax = _axes(figure, 1.4, len(values), len(keys))
    _grid(ax, values, tokens, keys, SIGNED, -high, high)
    _named_axes(ax)
    return Picture(
        figure, f"{title}. A matrix of scores, one row a query, one column a key. " + _spelled(values, tokens)
    )


@styled
def weights(values, tokens, keys=None, title="Attention weights"):
    """The weight matrix, darker for more attention, with the sum of every row beside it."""
    values, keys = rows(values), keys or tokens
    figure = card(max(2.4 + CELL_WIDTH * len(keys), 4.4), len(values) * CELL_HEIGHT + 1.45, title)
    ax = _axes(figure, 1.2, len(values), len(keys))
    _grid(ax, values, tokens, keys, SEQUENTIAL, 0, 1)
    _named_axes(ax)
    _row_sums(ax, values, len(keys))
    return Picture(
        figure,
        f"{title}. A matrix of weights between 0 and 1, one row a query, one column a key. "
        + _spelled(values, tokens),
    )


def _row_sums(ax, values, n_columns, size=None):
    look = {"ha": "center", "va": "center", "color": GREY, "fontsize": size}
    ax.text(n_columns + 0.6, -0.3, "sum", **look)
    for i, line in enumerate(values):
        ax.text(n_columns + 0.6, i + 0.5, number(sum(line)), **look)


def _column_sums(ax, values, n_rows, size=None):
    look = {"va": "center", "color": GREY, "fontsize": size}
    for j, column in enumerate(zip(*values, strict=True)):
        ax.text(j + 0.5, n_rows + 0.35, number(sum(column)), ha="center", **look)
    ax.text(-0.15, n_rows + 0.35, "sum", ha="right", **look)


@styled
def weights_side_by_side(left, right, tokens, titles, title="", keys=None):
    """Two weight matrices of one size, with the sums of rows and columns: what changed?"""
    left, right, keys = rows(left), rows(right), keys or tokens
    cell, size = 0.4, 8.5  # small, so that both are seen at once on a phone
    panel = cell * len(keys) + 0.93
    figure = card(2 * panel + 0.22, len(left) * cell + 1.2 + (0.4 if title else 0), title)
    for k, (values, name) in enumerate(zip((left, right), titles, strict=True)):
        ax = axes(figure, 0.53 + k * panel, 0.5, cell * len(keys), len(values) * cell)
        _grid(ax, values, tokens, keys, SEQUENTIAL, 0, 1, size)
        _row_sums(ax, values, len(keys), size)
        _column_sums(ax, values, len(values), size)
        ax.tick_params(labelsize=size, pad=2)
        ax.set_xlabel(name, color=INK, labelpad=8, fontweight="bold", fontsize=size)
    spelled = ". ".join(
        f"{name}: {_spelled(values, tokens)}" for values, name in zip((left, right), titles, strict=True)
    )
    return Picture(figure, f"{title or 'Two weight matrices side by side'}. {spelled}")
