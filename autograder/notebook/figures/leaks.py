"""What a mask does: to the weights of one word, to what leaks from the future, to what can be learned."""

from matplotlib.patches import Rectangle

from autograder.notebook.figures.bars import _bars, _softmax
from autograder.notebook.figures.matrices import _grid
from autograder.notebook.figures.style import (
    BLUE,
    GREY,
    ORANGE,
    SEQUENTIAL,
    SKY,
    VERMILLION,
    Picture,
    axes,
    card,
    number,
    row,
    rows,
    styled,
)


@styled
def mask_before_or_after(scores, allowed, tokens, query):
    """One row of weights: without a mask, zeroed after softmax, masked before softmax."""
    scores, allowed = row(scores), row(allowed)
    free = _softmax(scores)
    after = [w if may else 0.0 for w, may in zip(free, allowed, strict=True)]
    some = iter(_softmax([s for s, may in zip(scores, allowed, strict=True) if may]))
    before = [next(some) if may else 0.0 for may in allowed]
    ways = (("no mask", free, GREY), ("zeroed after softmax", after, ORANGE), ("masked before", before, BLUE))
    figure = card(6.0, 3.2, f"What \u201c{query}\u201d listens to when it may not look ahead")
    for k, (name, values, colour) in enumerate(ways):
        ax = axes(figure, 0.15 + 1.92 * k, 0.45, 1.86, 1.65)
        _bars(ax, values, tokens, colour, f"{name}\nsum {number(sum(values))}", top=1)
        ax.tick_params(labelsize=9.5)
        for text in ax.texts:
            text.set_fontsize(8.5)
    told = "; ".join(f"{name}: {', '.join(number(w) for w in values)}" for name, values, _ in ways)
    return Picture(figure, f"Three bar charts of the weights of {query} over {', '.join(tokens)}. {told}")


@styled
def influence(maps, tokens, title="Whose output moves when a word changes?"):
    """How strongly each output (row) depends on each word (column); `maps` maps a name to a matrix."""
    n, cell, across = len(tokens), 0.5, 2
    side, lines = cell * n, -(-len(maps) // across)
    figure = card(6.0, 1.0 + lines * (side + 0.8), title)
    _, high = figure.get_size_inches()
    notes = ("row: the output that moves; column: the word that changes", "framed: a later word moves it")
    for k, note in enumerate(notes):
        figure.text(0.25 / 6.0, 1 - (0.64 + 0.22 * k) / high, note, fontsize=9.5, color=GREY, va="center")
    told = []
    for k, (name, values) in enumerate(maps.items()):
        values = rows(values)
        bottom = 0.45 + (lines - 1 - k // across) * (side + 0.8)
        ax = axes(figure, 0.55 + k % across * (side + 0.25), bottom, side, side)
        _grid(ax, values, tokens, tokens, SEQUENTIAL, 0, 1, 9)
        ax.tick_params(labelleft=k % across == 0, labelsize=9.5, pad=2)
        later = [(i, j) for i in range(n) for j in range(i + 1, n) if values[i][j] > 1e-6]
        for i, j in later:
            ax.add_patch(_frame(j, i))
        ax.text(n / 2, n + 0.4, name, ha="center", va="center", fontweight="bold")
        told.append(f"{name}: {len(later)} of {n * (n - 1) // 2} outputs move with a later word")
    return Picture(figure, f"{title} Rows are outputs, columns are words. " + "; ".join(told))


def _frame(x, y):
    return Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, facecolor="none", edgecolor=VERMILLION, linewidth=1.6)


@styled
def by_position(losses, level, names, title="How hard is each next symbol?"):
    """Loss at every position, one line a model, with the level of pure chance."""
    figure = card(6.0, 3.3, title)
    ax = axes(figure, 0.7, 0.72, 5.05, 2.0)
    looks = ((BLUE, "o", "-"), (VERMILLION, "s", "--"), (SKY, "^", ":"))
    places = range(len(names))
    ax.axhline(level, color=GREY, linewidth=1, linestyle=":")
    guessing = {"ha": "right", "va": "bottom", "color": GREY}
    ax.text(len(names) - 0.75, level * 1.02, f"guessing: {level:.2f}", **guessing)
    for (name, values), (colour, marker, style) in zip(losses.items(), looks, strict=False):
        ax.plot(
            places, row(values), style, color=colour, marker=marker, markersize=6, linewidth=2, label=name
        )
    ax.set_xticks(places, names)
    ax.set(xlabel="the symbol to predict", ylabel="loss", ylim=(-0.12, level * 1.25))
    ax.legend(frameon=False, loc="center right")
    told = "; ".join(
        f"{name}: {', '.join(number(v) for v in row(values))}" for name, values in losses.items()
    )
    return Picture(
        figure, f"{title} Loss for each symbol ({', '.join(names)}); guessing gives {level:.2f}. {told}"
    )
