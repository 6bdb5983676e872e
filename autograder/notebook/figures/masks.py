"""Masks: who may look at whom, what that does to the weights, and how masks of different shapes meet."""

from matplotlib.patches import Rectangle

from autograder.notebook.figures.diagrams import _arrow
from autograder.notebook.figures.matrices import _grid, _named_axes
from autograder.notebook.figures.style import (
    BLUE,
    GREY,
    INK,
    PALE,
    SEQUENTIAL,
    VERMILLION,
    Picture,
    axes,
    canvas,
    card,
    number,
    rows,
    styled,
)

MAY, MAY_NOT = "#8CC4E6", "#F3F4F6"


def _mask_grid(ax, allowed, row_names, column_names, words=None):
    """Blue where a query may attend, hatched where it may not; `words` are written for (may, may not)."""
    for i, line in enumerate(allowed):
        for j, may in enumerate(line):
            ax.add_patch(
                Rectangle(
                    (j, i),
                    1,
                    1,
                    facecolor=MAY if may else MAY_NOT,
                    edgecolor="white" if may else "#D1D5DB",
                    hatch=None if may else "////",
                    linewidth=0,
                )
            )
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor="none", edgecolor="white", linewidth=2))
            if words:
                _word(ax, j + 0.5, i + 0.5, words[0] if may else words[1])
    ax.set(xlim=(0, len(column_names)), ylim=(len(row_names), 0))
    ax.set_xticks([j + 0.5 for j in range(len(column_names))], column_names)
    ax.set_yticks([i + 0.5 for i in range(len(row_names))], row_names)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _word(ax, x, y, text):
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    ax.text(x, y, text, ha="center", va="center", fontsize=8.5, bbox=box)


def _told(allowed, row_names, column_names):
    """Who may look at whom, in words."""
    lines = []
    for name, line in zip(row_names, allowed, strict=True):
        seen = [column for column, may in zip(column_names, line, strict=True) if may]
        lines.append(f"{name} may look at {', '.join(seen) or 'nothing'}")
    return "; ".join(lines)


@styled
def mask(allowed, tokens, keys=None, title="Who may look at whom", rows_are="query: the word that looks"):
    """A Boolean mask as a table, True where the query of the row may attend to the key of the column."""
    allowed, keys = rows(allowed), keys or tokens
    left = max(1.4, 0.85 + 0.085 * max(map(len, tokens)))
    figure = card(max(left + 0.6 + 0.72 * len(keys), 4.4), 0.5 * len(allowed) + 1.45, title)
    ax = axes(figure, left, 0.3, 0.72 * len(keys), 0.5 * len(allowed))
    _mask_grid(ax, allowed, tokens, keys, ("True", "False"))
    _named_axes(ax)
    ax.set_ylabel(rows_are, color=GREY, labelpad=6)
    return Picture(figure, f"{title}. A table of True and False: {_told(allowed, tokens, keys)}")


@styled
def mask_patterns(patterns, tokens, title="Masks: blue may be looked at, hatched may not"):
    """Masks, three in a line; `patterns` maps a name to (mask, a line of explanation)."""
    n, cell, across = len(tokens), 0.33, 3
    wide = high = cell * n
    lines = -(-len(patterns) // across)
    figure = card(6.0, 0.6 + lines * (high + 0.95), title)
    told = []
    for k, (name, (allowed, line)) in enumerate(patterns.items()):
        allowed = rows(allowed)
        bottom = 0.65 + (lines - 1 - k // across) * (high + 0.95)
        ax = axes(figure, 0.55 + k % across * (wide + 0.15), bottom, wide, high)
        _mask_grid(ax, allowed, tokens, tokens)
        ax.tick_params(labelsize=8.5, labelleft=k % across == 0, pad=2)
        ax.text(n / 2, n + 0.55, name, ha="center", va="center", fontweight="bold")
        ax.text(n / 2, n + 1.2, line, ha="center", va="center", fontsize=9, color=GREY)
        told.append(f"{name} ({line}): {_told(allowed, tokens, tokens)}")
    return Picture(figure, f"{title}. " + ". ".join(told))


@styled
def mask_conventions(allowed, tokens, title="One mask, written in three ways"):
    """The same mask as True = may, as True = may not, and as numbers added to the scores."""
    allowed = rows(allowed)
    n, width, height = len(tokens), 5.1 / (3 * len(tokens)), 0.42
    panel = width * n + 0.1
    figure = card(6.0, height * n + 2.0, title)
    ways = (
        ("True = may look", "this course, and F.scaled_\ndot_product_attention", "", ("True", "False")),
        ("True = may NOT look", "nn.MultiheadAttention", "the opposite!", ("False", "True")),
        ("added to the scores", "both accept it", "", ("0", "\u2212\u221e")),
    )
    for k, (name, who, more, words) in enumerate(ways):
        ax = axes(figure, 0.52 + k * panel, 1.0, width * n, height * n)
        _mask_grid(ax, allowed, tokens, tokens, words)
        ax.tick_params(labelleft=k == 0, labelsize=9.5, pad=2)
        colour = VERMILLION if k == 1 else INK
        bold = {"fontweight": "bold", "fontsize": 9.5, "color": colour}
        ax.text(n / 2, n + 0.5, name, ha="center", va="center", **bold)
        ax.text(n / 2, n + 0.9, who, ha="center", va="top", fontsize=8.5, color=GREY)
        ax.text(n / 2, n + 1.7, more, ha="center", va="center", fontsize=9, color=colour)
    return Picture(
        figure,
        f"{title}; in all three, {_told(allowed, tokens, tokens)}. Left, for F.scaled_dot_product_attention "
        "and this course: True where a word may look. Middle, for nn.MultiheadAttention: True where it may "
        "not. Right, a mask of numbers that are added to the scores: 0 where it may, minus infinity where "
        "it may not.",
    )


@styled
def mask_and_weights(allowed, weights, tokens, title=""):
    """A mask and the weights that it leaves; the explorer's figure."""
    allowed, weights = rows(allowed), rows(weights)
    n = len(tokens)
    cell = 2.4 / n
    figure = card(6.0, 2.4 + 1.3, title or "The mask, and the weights that it leaves")
    left = axes(figure, 0.5, 0.3, cell * n, cell * n)
    _mask_grid(left, allowed, tokens, tokens, ("True", "False"))
    right = axes(figure, 1.0 + cell * n, 0.3, cell * n, cell * n)
    _grid(right, weights, tokens, tokens, SEQUENTIAL, 0, 1, 9)
    for ax in (left, right):
        ax.tick_params(labelsize=9.5, pad=2)
    spelled = "; ".join(
        f"{token}: {', '.join(number(w) for w in line)}" for token, line in zip(tokens, weights, strict=True)
    )
    return Picture(figure, f"{title}. {_told(allowed, tokens, tokens)}. Weights: {spelled}")


@styled
def mask_broadcasting(causal, padding, names):
    """(N, N) and (B, N), each given axes of size 1, meet as (B, 1, N, N)."""
    causal, padding = rows(causal), rows(padding)
    n, size, middle = len(causal), 0.2, 1.75
    wide, top = n * size, middle + n * size / 2
    figure = card(6.0, 3.5, "Two masks of different shapes meet")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    _small(ax, 0.35, top, causal, size)
    _under(ax, 0.35 + wide / 2, top - wide, "causal", "(N, N)", "\u2192 (1, 1, N, N)")
    ax.text(1.62, middle, "and", ha="center", va="center", color=GREY)
    for b, line in enumerate(padding):
        _small(ax, 1.9, middle + 0.32 - 0.5 * b, [line], size)
        ax.text(1.9, middle + 0.41 - 0.5 * b, names[b], fontsize=8.5, color=GREY, va="center")
    _under(ax, 1.9 + wide / 2, top - wide, "padding", "(B, N)", "\u2192 (B, 1, 1, N)")
    _arrow(ax, (3.05, middle), (3.45, middle))
    for b, line in enumerate(padding):
        both = [[c and p for c, p in zip(across, line, strict=True)] for across in causal]
        _small(ax, 3.6 + 1.15 * b, top, both, size)
        ax.text(3.6 + 1.15 * b, top + 0.13, names[b], fontsize=8.5, color=GREY, va="center")
    _under(ax, 3.6 + (wide + 1.15) / 2, top - wide, "both allow", "(B, 1, N, N)", "one mask a sentence")
    note = "An axis of size 1 is repeated as often as the other mask needs."
    ax.text(0.25, 2.82, note, fontsize=9.5, color=GREY, va="center")
    return Picture(
        figure,
        f"A causal mask of shape ({n}, {n}), a triangle, becomes (1, 1, N, N). A padding mask of shape "
        f"({len(padding)}, {n}), one row a sentence, becomes (B, 1, 1, N). Together they make one mask a "
        "sentence, shape (B, 1, N, N): the triangle, and in the shorter sentence the columns of the padding "
        "blocked as well.",
    )


def _small(ax, x, y, allowed, size):
    """A mask in small squares, its upper left corner at (x, y)."""
    for i, line in enumerate(allowed):
        for j, may in enumerate(line):
            ax.add_patch(
                Rectangle(
                    (x + j * size, y - (i + 1) * size),
                    size,
                    size,
                    facecolor=MAY if may else PALE,
                    edgecolor="white" if may else "#D1D5DB",
                    hatch=None if may else "////",
                    linewidth=0.5,
                )
            )


def _under(ax, x, bottom, name, shape, becomes):
    ax.text(x, bottom - 0.25, name, ha="center", va="center", fontweight="bold")
    ax.text(x, bottom - 0.52, shape, ha="center", va="center", color=GREY)
    ax.text(x, bottom - 0.78, becomes, ha="center", va="center", color=BLUE, fontsize=9.5)
