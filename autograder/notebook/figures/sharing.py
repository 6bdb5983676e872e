"""Heads that share keys and values: who reads from whom, and in which order the copies stand."""

from matplotlib.patches import FancyBboxPatch, Rectangle

from autograder.notebook.figures.heads import HEADS, HEADS_DARK
from autograder.notebook.figures.style import (
    BLUE,
    GREY,
    INK,
    PURPLE,
    VERMILLION,
    Picture,
    canvas,
    card,
    styled,
)


def _chips(ax, xs, y, colours, texts=None, width=0.24, height=0.3):
    """Small rounded boxes, one a head, centred at the xs."""
    for k, x in enumerate(xs):
        box = FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            facecolor=colours[k],
            edgecolor="none",
            boxstyle="round,pad=0,rounding_size=0.05",
        )
        ax.add_patch(box)
        if texts:
            ax.text(x, y, texts[k], ha="center", va="center", fontsize=9, color=INK)


def _groups(ax, left, wide, y, n_heads, n_kv_heads, heads_y):
    """Query heads above, key/value heads below, a line from each to the one that it reads."""
    group = n_heads // n_kv_heads
    xs = [left + wide * (h + 0.5) / n_heads for h in range(n_heads)]
    kv = [sum(xs[g * group : (g + 1) * group]) / group for g in range(n_kv_heads)]
    chip = min(0.24, 0.8 * wide / n_heads)
    for h, x in enumerate(xs):
        ax.plot(
            [x, kv[h // group]], [heads_y - 0.15, y + 0.17], color=HEADS_DARK[h // group % 4], linewidth=1.2
        )
    _chips(ax, xs, heads_y, [HEADS[h // group % 4] for h in range(n_heads)], width=chip)
    _chips(ax, kv, y + 0.02, [HEADS_DARK[g % 4] for g in range(n_kv_heads)], width=chip, height=0.15)
    _chips(ax, kv, y - 0.16, [HEADS_DARK[g % 4] for g in range(n_kv_heads)], width=chip, height=0.15)


@styled
def kv_sharing(n_heads=8, n_groups=2):
    """Multi-head, grouped-query and multi-query attention side by side, and what each keeps of a word."""
    figure = card(9.6, 3.75, "Query heads above, key/value heads below: who reads from whom?")
    ax = canvas(figure, 0, 0, 9.6, 3.75)
    kinds = (
        ("multi-head (MHA)", n_heads),
        ("grouped-query (GQA)", n_groups),
        ("multi-query (MQA)", 1),
    )
    for row, text in ((2.6, "queries"), (1.72, "keys, values"), (0.62, "kept")):
        ax.text(1.25, row, text, ha="right", va="center", fontsize=9.5, color=GREY)
    for k, (name, count) in enumerate(kinds):
        left, wide = 1.45 + 2.75 * k, 2.3
        ax.text(left, 3.0, name, fontweight="bold", va="center", fontsize=10)
        _groups(ax, left, wide, 1.75, n_heads, count, 2.6)
        ax.add_patch(
            Rectangle((left, 0.5), wide, 0.24, facecolor="white", edgecolor="#D1D5DB", linewidth=1.2)
        )
        ax.add_patch(Rectangle((left, 0.5), wide * count / n_heads, 0.24, facecolor=PURPLE))
        share = "all of it" if count == n_heads else f"1 part in {n_heads // count}"
        ax.text(left, 0.93, f"{count} key/value head{'s' if count > 1 else ''}", fontsize=9.5, va="center")
        ax.text(left + wide, 0.93, share, fontsize=9.5, va="center", ha="right", color=GREY)
    return Picture(
        figure,
        f"Three ways to share. Multi-head attention: {n_heads} query heads, each with a key and value head of "
        f"its own; all of the memory. Grouped-query attention: {n_heads} query heads, {n_groups} key and value "
        f"heads, {n_heads // n_groups} neighbours share one; 1 part in {n_heads // n_groups} of the memory. "
        f"Multi-query attention: all {n_heads} query heads read from a single key and value head; 1 part in "
        f"{n_heads} of the memory.",
    )


@styled
def sharing_order(n_heads=6, n_kv_heads=3):
    """Copies of key heads in two orders: each beside itself, or the whole row again."""
    group = n_heads // n_kv_heads
    figure = card(9.2, 3.0)
    ax = canvas(figure, 0, 0, 9.2, 3.0)
    orders = (
        ("neighbours share: what is due", BLUE, [h // group for h in range(n_heads)]),
        ("the whole row again", VERMILLION, [h % n_kv_heads for h in range(n_heads)]),
    )
    for k, (title, colour, order) in enumerate(orders):
        left = 1.35 + 4.3 * k
        xs = [left + 0.55 * h for h in range(n_heads)]
        ax.text(left - 0.22, 2.6, title, fontweight="bold", color=colour, va="center")
        for h, x in enumerate(xs):
            ax.plot([x, x], [1.55, 1.0], color=HEADS_DARK[order[h] % 4], linewidth=1.6)
            wrong = order[h] != h // group
            if wrong:
                ax.text(x, 0.42, "\u2717", ha="center", va="center", color=VERMILLION, fontsize=12)
        _chips(ax, xs, 1.75, [HEADS[h // group % 4] for h in range(n_heads)], range(n_heads), 0.42, 0.38)
        _chips(ax, xs, 0.82, [HEADS[g % 4] for g in order], order, 0.42, 0.38)
    ax.text(0.95, 1.75, "query\nhead", ha="right", va="center", fontsize=9.5, color=GREY)
    ax.text(0.95, 0.82, "copy of\nkey head", ha="right", va="center", fontsize=9.5, color=GREY)
    due, again = (", ".join(map(str, order)) for _, _, order in orders)
    return Picture(
        figure,
        f"{n_heads} query heads in a row over copies of {n_kv_heads} key heads. Left, neighbours share: the "
        f"copies stand in the order {due}. Right, the whole row again: {again}, and most query heads meet a "
        "key head that is not theirs.",
    )
