"""Attention maps: whole tables of weights, too many cells for numbers."""

from autograder.notebook.figures.style import SEQUENTIAL, Picture, axes, card, number, rows, styled


@styled
def attention_maps(maps, queries, keys=None, title="Who listens to whom"):
    """Tables of weights side by side, darker for more; `maps` maps a name to a table."""
    keys = keys or queries
    room = (5.25 - 0.15 * (len(maps) - 1)) / len(maps)  # so wide that a phone shows all of it
    cell = min(0.42, room / len(keys), 3.2 / len(queries))
    wide, high = cell * len(keys), cell * len(queries)
    panel = wide + 0.15
    figure = card(max(len(maps) * panel + 0.6, 0.105 * len(title) + 0.8), high + 1.45, title)
    told = []
    for k, (name, values) in enumerate(maps.items()):
        values = rows(values)
        ax = axes(figure, 0.5 + k * panel, 0.5, wide, high)
        ax.pcolormesh(values, cmap=SEQUENTIAL, vmin=0, vmax=1, edgecolors="#E5E7EB", linewidth=0.6)
        ax.set(xlim=(0, len(keys)), ylim=(len(queries), 0))
        ax.set_xticks([j + 0.5 for j in range(len(keys))], keys)
        ax.set_yticks([i + 0.5 for i in range(len(queries))], queries)
        ax.xaxis.tick_top()
        ax.tick_params(length=0, labelsize=9, labelleft=k == 0, pad=2)
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.text(
            len(keys) / 2,
            len(queries) + 0.22 / cell,
            name,
            ha="center",
            va="center",
            fontweight="bold",
            fontsize=9.5,
        )
        told.append(f"{name}: {_strongest(values, queries, keys)}")
    return Picture(figure, f"{title}. Rows are queries, columns keys, darker is more. " + ". ".join(told))


def _strongest(values, queries, keys):
    """Where each query looks most, in words."""
    tops = [max(range(len(line)), key=line.__getitem__) for line in values]
    return "; ".join(
        f"{query} looks most at {keys[top]} ({number(line[top])})"
        for query, top, line in zip(queries, tops, values, strict=True)
    )
