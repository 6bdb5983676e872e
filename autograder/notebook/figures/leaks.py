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
    figure = card(8.6, 3.1, f"What \u201c{query}\u201d listens to when it may not look ahead")
    for k, (name, values, colour) in enumerate(ways):
        title = f"{name}: sum {number(sum(values))}"
        _bars(axes(figure, 0.3 + 2.8 * k, 0.45, 2.4, 1.7), values, tokens, colour, title, top=1)
    told = "; ".join(f"{name}: {', '.join(number(w) for w in values)}" for name, values, _ in ways)
    return Picture(figure, f"Three bar charts of the weights of {query} over {', '.join(tokens)}. {told}")


@styled
def influence(maps, tokens, title="Whose output moves when a word changes?"):
    """How strongly each output (row) depends on each word (column); `maps` maps a name to a matrix."""
    n, cell = len(tokens), 0.5
    panel = cell * n + 0.3
    wide, high = len(maps) * panel + 1.1, cell * n + 1.95
    figure = card(wide, high, title)
    note = "row: the output that moves; column: the word that changes; framed: the word comes later"
    figure.text(0.25 / wide, 1 - 0.66 / high, note, fontsize=9.5, color=GREY, va="center")
    told = []
    for k, (name, values) in enumerate(maps.items()):
        values = rows(values)
        ax = axes(figure, 0.85 + k * panel, 0.55, cell * n, cell * n)
        _grid(ax, values, tokens, tokens, SEQUENTIAL, 0, 1)
        ax.tick_params(labelleft=k == 0, labelsize=9)
        for text in ax.texts:
            text.set_fontsize(8.5)
        for i in range(n):
            for j in range(i + 1, n):
                leaks = values[i][j] > 1e-6
                ax.add_patch(
                    Rectangle(
                        (j + 0.06, i + 0.06),
                        0.88,
                        0.88,
                        facecolor="none",
                        edgecolor=VERMILLION if leaks else "none",
                        linewidth=1.6,
                    )
                )
        ax.text(n / 2, n + 0.55, name, ha="center", va="center", fontweight="bold")
        ahead = sum(values[i][j] > 1e-6 for i in range(n) for j in range(i + 1, n))
        told.append(f"{name}: {ahead} of {n * (n - 1) // 2} outputs move with a later word")
    return Picture(figure, f"{title} Rows are outputs, columns are words. " + "; ".join(told))


@styled
def by_position(losses, level, names, title="How hard is each next symbol?"):
    """Loss at every position, one line a model, with the level of pure chance."""
    figure = card(8.6, 3.2, title)
    ax = axes(figure, 0.8, 0.72, 5.4, 1.9)
    looks = ((BLUE, "o", "-"), (VERMILLION, "s", "--"), (SKY, "^", ":"))
    places = range(len(names))
    ax.axhline(level, color=GREY, linewidth=1, linestyle=":")
    ax.annotate(
        f"guessing: {level:.2f}",
        (len(names) - 0.6, level),
        (8, 0),
        textcoords="offset points",
        va="center",
        color=GREY,
    )
    for (name, values), (colour, marker, style) in zip(losses.items(), looks, strict=False):
        ax.plot(
            places, row(values), style, color=colour, marker=marker, markersize=6, linewidth=2, label=name
        )
    ax.set_xticks(places, names)
    ax.set(xlabel="the symbol to predict", ylabel="loss", ylim=(-0.12, level * 1.15))
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.4))
    told = "; ".join(
        f"{name}: {', '.join(number(v) for v in row(values))}" for name, values in losses.items()
    )
    return Picture(
        figure, f"{title} Loss for each symbol ({', '.join(names)}); guessing gives {level:.2f}. {told}"
    )
