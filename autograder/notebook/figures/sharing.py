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
    """Multi-head, grouped-query and multi-query attention below each other, and what each keeps of a word."""
    figure = card(6.0, 5.3, "Who reads from whom?")
    ax = canvas(figure, 0, 0, 6.0, 5.3)
    kinds = (
        ("multi-head (MHA)", n_heads),
        ("grouped-query (GQA)", n_groups),
        ("multi-query (MQA)", 1),
    )
    for k, (name, count) in enumerate(kinds):
        _sharing(ax, 3.3 - 1.5 * k, name, n_heads, count)
    return Picture(
        figure,
        f"Three ways to share. Multi-head attention: {n_heads} query heads, each with a key and value head of "
        f"its own; all of the memory. Grouped-query attention: {n_heads} query heads, {n_groups} key and value "
        f"heads, {n_heads // n_groups} neighbours share one; 1 part in {n_heads // n_groups} of the memory. "
        f"Multi-query attention: all {n_heads} query heads read from a single key and value head; 1 part in "
        f"{n_heads} of the memory.",
    )


def _sharing(ax, low, name, n_heads, count):
    """One way to share in a row 1.5 high: its name, how much it keeps, and who reads from whom."""
    share = "all of it" if count == n_heads else f"1 part in {n_heads // count}"
    ax.text(0.3, low + 1.12, name, fontweight="bold", va="center", fontsize=10)
    ax.text(0.3, low + 0.8, f"{count} key/value head{'s' if count > 1 else ''}", fontsize=9.5, va="center")
    ax.add_patch(Rectangle((0.3, low + 0.38), 1.5, 0.22, facecolor="white", edgecolor="#D1D5DB", linewidth=1.2))
    ax.add_patch(Rectangle((0.3, low + 0.38), 1.5 * count / n_heads, 0.22, facecolor=PURPLE))
    ax.text(0.3, low + 0.18, f"kept: {share}", fontsize=9.5, va="center", color=GREY)
    ax.text(2.95, low + 1.12, "queries", ha="right", va="center", fontsize=9.5, color=GREY)
    ax.text(2.95, low + 0.3, "keys, values", ha="right", va="center", fontsize=9.5, color=GREY)
    _groups(ax, 3.0, 2.75, low + 0.35, n_heads, count, low + 1.12)


@styled
def sharing_order(n_heads=6, n_kv_heads=3):
    """Copies of key heads in two orders: each beside itself, or the whole row again."""
    group = n_heads // n_kv_heads
    figure = card(6.0, 2.5)
    ax = canvas(figure, 0, 0, 6.0, 2.5)
    orders = (
        ("neighbours share: what is due", BLUE, [h // group for h in range(n_heads)]),
        ("the whole row again", VERMILLION, [h % n_kv_heads for h in range(n_heads)]),
    )
    for k, (title, colour, order) in enumerate(orders):
        xs = [0.97 + 2.75 * k + 0.38 * h for h in range(n_heads)]
        ax.text(xs[0] - 0.17, 2.15, title, fontweight="bold", color=colour, va="center", fontsize=10)
        for h, x in enumerate(xs):
            ax.plot([x, x], [1.5, 1.0], color=HEADS_DARK[order[h] % 4], linewidth=1.6)
            if order[h] != h // group:
                ax.text(x, 0.42, "\u2717", ha="center", va="center", color=VERMILLION, fontsize=12)
        _chips(ax, xs, 1.6, [HEADS[h // group % 4] for h in range(n_heads)], range(n_heads), 0.34, 0.36)
        _chips(ax, xs, 0.82, [HEADS[g % 4] for g in order], order, 0.34, 0.36)
    ax.text(0.72, 1.6, "query\nhead", ha="right", va="center", fontsize=9, color=GREY)
    ax.text(0.72, 0.82, "copy of\nkey head", ha="right", va="center", fontsize=9, color=GREY)
    due, again = (", ".join(map(str, order)) for _, _, order in orders)
    return Picture(
        figure,
        f"{n_heads} query heads in a row over copies of {n_kv_heads} key heads. Left, neighbours share: the "
        f"copies stand in the order {due}. Right, the whole row again: {again}, and most query heads meet a "
        "key head that is not theirs.",
    )
