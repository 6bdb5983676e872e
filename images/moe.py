"""The pictures of lesson 14."""

from drawing import arrow, box, cells, softmax
from matplotlib.patches import Rectangle

from autograder.notebook.figures.bars import draw_bars
from autograder.notebook.figures.palette import BLUE, GREY, HEADS, HEADS_DARK, INK, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.sentence import TOKENS

# The two experts of each token, by the hand-made router of the lesson; the likelier one first.
CHOICES = ((3, 1), (0, 2), (1, 3), (3, 1), (0, 3))


@styled
def gate_steps() -> Picture:
    """Draw the steps from four logits to two experts and their weights."""
    figure = card(6.0, 3.0, "Two experts of four, and their weights")
    logits = (3.0, 0.0, 2.0, 1.0)
    weights = softmax((3.0, 2.0))
    steps = (
        ("logits", logits, [GREY] * 4),
        ("the two largest", (3.0, 2.0), [HEADS_DARK[0]] * 2),
        ("softmax of these two", weights, [HEADS_DARK[0]] * 2),
    )
    for k, (name, values, colours) in enumerate(steps):
        ax = axes(figure, 0.25 + 1.92 * k, 0.5, 1.7, 1.7)
        experts = ["0", "1", "2", "3"] if len(values) == 4 else ["0", "2"]
        draw_bars(ax, [round(float(value), 2) for value in values], experts, colours, name)
    return Picture(
        figure,
        "Three bar charts. The logits 3, 0, 2, 1 of four experts; the two largest of them, 3 of expert 0 and 2 of "
        "expert 2, the others left out; the softmax of these two alone, 0.73 and 0.27.",
    )


@styled
def dense_and_sparse() -> Picture:
    """Draw one dense layer, all of which every token meets, and eight experts, of which it meets two."""
    figure = card(6.0, 3.2, "The same parameters, a quarter of the work")
    ax = canvas(figure, 0, 0, 6.0, 3.2)
    for k, (name, chosen) in enumerate((("dense", set(range(8))), ("mixture of experts", {1, 6}))):
        left = 0.3 + 2.95 * k
        ax.text(left, 2.55, name, fontweight="bold", va="center")
        for e in range(8):
            colour = HEADS[0] if e in chosen else PALE
            edge = BLUE if e in chosen else "#D1D5DB"
            place = (left + 0.3 * e, 1.3)
            ax.add_patch(Rectangle(place, 0.3 if k == 0 else 0.25, 0.8, facecolor=colour, edgecolor=edge))
        box(ax, left + 1.2, 0.55, "token", "", GREY, 0.9, 0.36)
        for e in sorted(chosen):
            arrow(ax, (left + 1.2, 0.75), (left + 0.3 * e + 0.13, 1.26), BLUE, 1.2)
        ax.text(
            left,
            2.28,
            ("every parameter is used", "two of eight experts are used")[k],
            fontsize=9.5,
            color=GREY,
            va="center",
        )
    return Picture(
        figure,
        "Left, a dense layer of eight equal parts; a token uses all of them. Right, the same eight parts as separate "
        "experts; the token uses the second and the seventh, and the other six rest.",
    )


@styled
def dispatch() -> Picture:
    """Draw each token on its way to its two experts; each expert gets its tokens as one small batch."""
    figure = card(6.0, 4.0, "Each expert works on its own tokens, in one call")
    ax = canvas(figure, 0, 0, 6.0, 4.0)
    for e in range(4):
        y = 2.95 - 0.72 * e
        mine = [i for i, chosen in enumerate(CHOICES) if e in chosen]
        box(ax, 5.1, y, f"expert {e}", "", HEADS_DARK[e], 1.05, 0.42)
        width = 0.48 * len(mine)
        cells(ax, 4.35 - width, y + 0.17, [[TOKENS[i] for i in mine]], [[HEADS[e]] * len(mine)], 0.48, 0.34)
        arrow(ax, (4.37, y), (4.56, y), HEADS_DARK[e])
        for i in mine:
            start = (0.98, 3.0 - 0.56 * i)
            ax.plot([start[0], 4.33 - width], [start[1], y], color=HEADS_DARK[e], linewidth=1.3, alpha=0.75)
    for i, token in enumerate(TOKENS):
        y = 3.0 - 0.56 * i
        cells(ax, 0.4, y + 0.17, [[token]], [[PALE]], 0.56, 0.34)
    ax.text(
        0.3,
        0.32,
        "collect, call once, weight, add back to where each token came from",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    told = "; ".join(
        f"expert {e} gets " + ", ".join(TOKENS[i] for i, c in enumerate(CHOICES) if e in c) for e in range(4)
    )
    return Picture(
        figure,
        f"Five tokens at the left, four experts at the right. Each goes to two experts: {told}. "
        "Each expert works on its tokens in one call.",
    )


@styled
def rich_get_richer() -> Picture:
    """Draw the loop by which a router comes to prefer one expert, and where the loss cuts it."""
    figure = card(6.0, 3.0, "Why a router falls for one expert")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    spots = {
        "is chosen": (1.2, 2.0),
        "gets gradients": (3.4, 2.0),
        "becomes better": (3.4, 0.85),
        "gets larger logits": (1.2, 0.85),
    }
    for name, (x, y) in spots.items():
        box(ax, x, y, name, "", BLUE, 1.7, 0.46)
    arrow(ax, (2.1, 2.0), (2.5, 2.0))
    arrow(ax, (3.4, 1.74), (3.4, 1.11))
    arrow(ax, (2.5, 0.85), (2.1, 0.85))
    arrow(ax, (1.2, 1.11), (1.2, 1.74))
    ax.text(1.32, 1.42, "\u2717", ha="left", va="center", color=VERMILLION, fontsize=15)
    ax.text(1.62, 1.42, "the balancing loss\npushes back here", va="center", fontsize=9.5, color=VERMILLION)
    ax.text(4.45, 1.42, "the others\nlearn nothing", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "A loop of four steps. An expert is chosen, so it gets gradients, so it becomes better, so it gets larger "
        "logits, so it is chosen again; the others learn nothing. The balancing loss pushes back between larger logits "
        "and being chosen.",
    )


@styled
def capacity() -> Picture:
    """Draw two experts with room for two tokens; the third token of an expert skips the layer."""
    figure = card(6.0, 3.4, "Room for two: latecomers skip the layer")
    ax = canvas(figure, 0, 0, 6.0, 3.4)
    experts, room = (1, 0, 1, 1, 0), {0: 0, 1: 0}
    for e in range(2):
        left = 1.4 + 2.3 * e
        ax.text(
            left + 0.6, 2.72, f"expert {e}", ha="center", va="center", fontweight="bold", color=HEADS_DARK[e]
        )
        for slot in range(2):
            ax.add_patch(
                Rectangle(
                    (left + 0.6 * slot, 2.14),
                    0.6,
                    0.42,
                    facecolor="white",
                    edgecolor=HEADS_DARK[e],
                    linewidth=1.6,
                )
            )
    for i, (token, e) in enumerate(zip(TOKENS, experts, strict=True)):
        x = 0.55 + 1.1 * i
        cells(ax, x, 1.12, [[token]], [[HEADS[e]]], 0.6, 0.36)
        slot, room[e] = room[e], room[e] + 1
        if slot < 2:
            target = 1.4 + 2.3 * e + 0.6 * slot
            arrow(ax, (x + 0.3, 1.16), (target + 0.3, 2.1), HEADS_DARK[e], 1.3)
            ax.text(target + 0.3, 2.35, token, ha="center", va="center", fontsize=9.5)
        else:
            arrow(ax, (x + 0.3, 0.74), (x + 0.3, 0.34), VERMILLION, 1.6)
            ax.text(
                x + 0.42,
                0.5,
                "no room: the residual\nconnection carries it on",
                va="center",
                fontsize=9,
                color=VERMILLION,
            )
    ax.text(0.55, 0.5, "from left to right", va="center", fontsize=9, color=INK)
    return Picture(
        figure,
        "Five tokens, the dog saw the cat, go to experts 1, 0, 1, 1, 0. Each expert has room for two. The first the "
        "and saw fill expert 1, dog and cat fill expert 0. The second the finds expert 1 full and skips the layer, "
        "carried by the residual connection.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "dense_and_sparse": dense_and_sparse(),
        "gate_steps": gate_steps(),
        "dispatch": dispatch(),
        "rich_get_richer": rich_get_richer(),
        "capacity": capacity(),
    }
