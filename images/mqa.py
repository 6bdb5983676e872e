"""The pictures of lesson 05."""

from drawing import NAMES, arrow, cells
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import (
    BLUE,
    GREY,
    HEADS,
    HEADS_DARK,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
)
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.lessons.mqa import chips, draw_groups
from autograder.notebook.sentence import TOKENS


@styled
def writing(tokens) -> Picture:
    """Draw a model that writes: at each step one new query meets all keys kept so far, and one column is
    added.
    """
    n, pitch = len(tokens), 0.62
    figure = card(6.0, 3.6, "One token at a time: new, kept, read")
    ax = canvas(figure, 0, 0, 6.0, 3.6)
    for step in range(n):
        y = 2.65 - 0.48 * step
        ax.text(0.62, y, tokens[step], ha="right", va="center")
        ax.add_patch(Rectangle((0.72, y - 0.17), 0.62, 0.34, facecolor=ORANGE, alpha=0.85))
        ax.text(1.03, y, "query", ha="center", va="center", fontsize=9)
        arrow(ax, (1.38, y), (1.66, y))
        for j in range(step + 1):
            _pair(ax, 1.7 + pitch * j, y, tokens[j], new=j == step)
        ax.text(1.78 + pitch * n, y, f"1 new, {step + 1} read", va="center", fontsize=9, color=GREY)
    ax.text(1.7, 0.27, "blue: computed now; grey: kept, and read again", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        f"A model writes {' '.join(tokens)} token by token. At every step there is one new query and one new pair "
        "of key and value; the pairs of all tokens before are kept. The query meets all of them: at the first "
        f"step 1 pair is read, at the last step {n}.",
    )


def _pair(ax, left, y, token, new):
    """Draw a token's key and value, blue where they have just been computed."""
    fill, edge, ink = (SKY, BLUE, INK) if new else (PALE, "#9CA3AF", GREY)
    ax.add_patch(Rectangle((left, y - 0.17), 0.57, 0.34, facecolor=fill, edgecolor=edge, linewidth=1.2))
    ax.text(left + 0.285, y, f"k, v {token}", ha="center", va="center", fontsize=8, color=ink)


@styled
def kv_sharing(n_heads=8, n_groups=2) -> Picture:
    """Draw multi-head, grouped-query and multi-query attention, and what each keeps of a word."""
    figure = card(6.0, 5.3, "Which keys and values does each query head use?")
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
        f"Multi-query attention: all {n_heads} query heads use a single key and value head; 1 part in "
        f"{n_heads} of the memory.",
    )


def _sharing(ax, low, name, n_heads, count):
    """Draw one way to share in a row 1.5 high: its name, how much it keeps, and which head uses which."""
    share = "all of it" if count == n_heads else f"1 part in {n_heads // count}"
    ax.text(0.3, low + 1.12, name, fontweight="bold", va="center", fontsize=10)
    ax.text(0.3, low + 0.8, f"{count} key/value head{'s' if count > 1 else ''}", fontsize=9.5, va="center")
    ax.add_patch(
        Rectangle((0.3, low + 0.38), 1.5, 0.22, facecolor="white", edgecolor="#D1D5DB", linewidth=1.2)
    )
    ax.add_patch(Rectangle((0.3, low + 0.38), 1.5 * count / n_heads, 0.22, facecolor=PURPLE))
    ax.text(0.3, low + 0.18, f"kept: {share}", fontsize=9.5, va="center", color=GREY)
    ax.text(2.95, low + 1.12, "queries", ha="right", va="center", fontsize=9.5, color=GREY)
    ax.text(2.95, low + 0.3, "keys, values", ha="right", va="center", fontsize=9.5, color=GREY)
    draw_groups(ax, 3.0, 2.75, low + 0.35, n_heads, count, low + 1.12)


@styled
def sharing_order(n_heads=6, n_kv_heads=3) -> Picture:
    """Draw copied key heads in two orders: each next to its copy, or the whole row again."""
    group = n_heads // n_kv_heads
    figure = card(6.0, 2.5)
    ax = canvas(figure, 0, 0, 6.0, 2.5)
    orders = (
        ("neighbours share: right", BLUE, [h // group for h in range(n_heads)]),
        ("the whole row again", VERMILLION, [h % n_kv_heads for h in range(n_heads)]),
    )
    for k, (title, colour, order) in enumerate(orders):
        xs = [0.97 + 2.75 * k + 0.38 * h for h in range(n_heads)]
        ax.text(xs[0] - 0.17, 2.15, title, fontweight="bold", color=colour, va="center", fontsize=10)
        for h, x in enumerate(xs):
            ax.plot([x, x], [1.5, 1.0], color=HEADS_DARK[order[h] % 4], linewidth=1.6)
            if order[h] != h // group:
                ax.text(x, 0.42, "\u2717", ha="center", va="center", color=VERMILLION, fontsize=12)
        chips(ax, xs, 1.6, [HEADS[h // group % 4] for h in range(n_heads)], range(n_heads), 0.34, 0.36)
        chips(ax, xs, 0.82, [HEADS[g % 4] for g in order], order, 0.34, 0.36)
    ax.text(0.72, 1.6, "query\nhead", ha="right", va="center", fontsize=9, color=GREY)
    ax.text(0.72, 0.82, "copy of\nkey head", ha="right", va="center", fontsize=9, color=GREY)
    due, again = (", ".join(map(str, order)) for _, _, order in orders)
    return Picture(
        figure,
        f"{n_heads} query heads in a row over copies of {n_kv_heads} key heads. Left, neighbours share: the "
        f"copies stand in the order {due}. Right, the whole row again: {again}, and most query heads meet a "
        "key head that is not theirs.",
    )


@styled
def cache_block(tokens, n_layers=4, n_kv_heads=2) -> Picture:
    """Draw the cache: for each token and each layer, keys and values of all key/value heads."""
    figure = card(6.0, 5.4, "What is kept of a text")
    ax = canvas(figure, 0, 0, 6.0, 5.4)
    columns = [1.25 + 0.88 * j for j in range(len(tokens))]
    for layer in range(n_layers):
        y = 2.4 + 0.54 * layer
        ax.text(1.1, y + 0.21, f"layer {layer}", ha="right", va="center", fontsize=9.5)
        for x in columns:
            _keys_and_values(ax, x, y, n_kv_heads, 0.38, 0.21)
    for x, token in zip(columns, tokens, strict=True):
        ax.text(x + 0.37, 4.63, token, ha="center", va="center", fontsize=9.5)
    ax.text(1.1, 4.63, f"N = {len(tokens)} tokens", ha="right", va="center", color=GREY, fontsize=9.5)
    arrow(ax, (columns[-1] + 0.37, 2.36), (columns[-1] + 0.37, 1.95))
    left = columns[-1] + 0.74 - 2.5
    _keys_and_values(ax, left, 0.55, n_kv_heads, 1.25, 0.5)
    for part, name in enumerate(("keys", "values")):
        ax.text(
            left + 0.61 + 1.25 * part, 1.72, name, ha="center", va="center", fontsize=9.5, fontweight="bold"
        )
    sizes = (
        "2: a key and a value",
        "G key/value heads",
        r"$d_\mathrm{head}$ numbers in each",
        "b bytes per number",
    )
    for k, text in enumerate((*sizes, "times L layers, N tokens, B texts")):
        ax.text(0.3, 1.7 - 0.32 * k, text, va="center", fontsize=9.5, color=INK if k < 4 else GREY)
    return Picture(
        figure,
        f"A grid of {len(tokens)} tokens and {n_layers} layers. In every cell stand a key and a value for each of "
        f"{n_kv_heads} key/value heads. One cell enlarged: 2 times G heads times d_head numbers of b bytes; all of it "
        "times L layers, N tokens and B texts.",
    )


def _keys_and_values(ax, x, y, n_kv_heads, wide, high):
    """Draw a token's cell in one layer: a row for each key/value head, its key blue and its value orange."""
    for g in range(n_kv_heads):
        for part, colour in enumerate((BLUE, ORANGE)):
            corner = (x + wide * part, y + high * g)
            ax.add_patch(Rectangle(corner, wide - 0.03, 0.82 * high, facecolor=colour, edgecolor="white"))


@styled
def pooled_heads() -> Picture:
    """Draw two heads of width 2 that become one: rows of the same feature are averaged."""
    figure = card(6.0, 2.9, "Each feature meets the same feature of the other head")
    ax = canvas(figure, 0, 0, 6.0, 2.9)
    weight, fills = [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"]], [HEADS[0], HEADS[1]] * 2
    cells(ax, 1.55, 2.15, weight, [[fill] * 2 for fill in fills], 0.42, 0.4)
    cells(ax, 3.75, 1.75, [["3", "4"], ["5", "6"]], [[HEADS[0]] * 2, [HEADS[1]] * 2], 0.42, 0.4)
    for i in range(4):
        head, feature = divmod(i, 2)
        y = 1.95 - 0.4 * i
        ax.text(1.47, y, f"head {head}, feature {feature}", ha="right", va="center", fontsize=9)
        colour = (BLUE, ORANGE)[feature]
        arrow(ax, (2.45, y), (3.68, 1.55 - 0.4 * feature), colour, 1.6)
    for feature in range(2):
        y = 1.55 - 0.4 * feature
        ax.text(4.67, y, f"shared, feature {feature}", va="center", fontsize=9, color=NAMES[feature])
    ax.text(3.1, 2.1, "mean", ha="center", va="center", fontweight="bold")
    ax.text(1.97, 0.28, "k_proj.weight (4, 2)", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(4.17, 0.28, "after pooling (2, 2)", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "Left, a weight of four rows: 1 2, 3 4 for head 0 and 5 6, 7 8 for head 1. Feature 0 of both heads, 1 2 and "
        "5 6, meet in the mean 3 4; feature 1 of both, 3 4 and 7 8, in the mean 5 6. Neighbouring rows do not meet.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "writing": writing(TOKENS),
        "kv_sharing": kv_sharing(),
        "sharing_order": sharing_order(),
        "cache_block": cache_block(TOKENS),
        "pooled_heads": pooled_heads(),
    }
