"""The pictures of lesson 13."""

from drawing import arrow, box, cells, squares
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import (
    BLUE,
    GREEN,
    GREY,
    HEADS,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
)
from autograder.notebook.figures.style import Picture, canvas, card, styled

# Pale enough to write on: keys, values, latents.
KEY, VALUE, LATENT, TURNED = SKY, "#F2C46B", "#E3B5CF", "#C9EBDD"


@styled
def kept_of_a_token() -> Picture:
    """Draw the cache entry of one token in one layer, in four kinds of attention, and how many different keys
    and values the heads read from it.
    """
    figure = card(6.0, 3.3, "What one token leaves behind in a layer")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    kinds = (("MHA", 8, 8), ("GQA", 2, 2), ("MQA", 1, 1), ("MLA", 0, 8))
    for k, (name, pairs, keys) in enumerate(kinds):
        y = 2.45 - 0.5 * k
        ax.text(0.3, y, name, fontweight="bold", va="center")
        for j in range(2 * pairs or 2):
            colour = LATENT if not pairs else KEY if j < pairs else VALUE
            ax.add_patch(Rectangle((0.95 + 0.2 * j, y - 0.15), 0.2, 0.3, facecolor=colour, edgecolor="white"))
        ax.text(
            5.05,
            y,
            str(keys),
            ha="center",
            va="center",
            fontsize=12,
            fontweight="bold" if keys == 8 else None,
        )
    ax.text(5.05, 2.8, "different keys", ha="center", va="center", fontsize=9, color=GREY)
    for k, (name, colour) in enumerate(
        (("key of a head", KEY), ("value of a head", VALUE), ("latent", LATENT))
    ):
        ax.add_patch(Rectangle((0.3 + 1.7 * k, 0.3), 0.2, 0.26, facecolor=colour, edgecolor="white"))
        ax.text(0.58 + 1.7 * k, 0.43, name, va="center", fontsize=9)
    return Picture(
        figure,
        "What one token leaves behind in a layer with eight query heads. Multi-head attention: eight keys and eight "
        "values. Grouped-query attention with two groups: two keys and two values. Multi-query attention: one key and "
        "one value. Latent attention: one latent, here as wide as a key and a value together. The token has eight "
        "different keys in multi-head attention, two, then one, and again eight in latent attention.",
    )


@styled
def latent_flow() -> Picture:
    """Draw the five layers: x goes down to a latent, and from it come the keys and values of all heads."""
    figure = card(6.0, 3.5, "Down to a latent, up to keys and values")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    box(ax, 0.75, 1.65, "x", "(N, d_model)", GREY, 1.1)
    box(ax, 2.3, 1.15, "latent c", "(N, d_latent)", PURPLE, 1.2)
    ends = (("queries", 2.65, BLUE), ("keys", 1.65, BLUE), ("values", 0.65, ORANGE))
    for name, y, colour in ends:
        box(ax, 4.1, y, name, "(N, d_model)", colour, 1.15)
    box(ax, 5.4, 1.65, "heads,\nout_proj", "", GREY, 0.9, 0.75)
    lines = (
        ((1.3, 1.85), (3.5, 2.65), "q_proj", (2.25, 2.5)),
        ((1.3, 1.5), (1.68, 1.3), "kv_down", (1.3, 1.12)),
        ((2.92, 1.25), (3.5, 1.6), "k_up", (3.05, 1.6)),
        ((2.92, 1.05), (3.5, 0.7), "v_up", (3.05, 0.68)),
    )
    for start, end, name, place in lines:
        arrow(ax, start, end)
        ax.text(*place, name, ha="center", va="center", fontsize=9)
    for y in (2.65, 1.65, 0.65):
        arrow(ax, (4.7, y), (4.93, 1.65 + 0.25 * (y - 1.65)))
    ax.text(
        2.3, 0.5, "all that is kept", ha="center", va="center", fontsize=9.5, color=PURPLE, fontweight="bold"
    )
    arrow(ax, (2.3, 0.6), (2.3, 0.81), PURPLE)
    return Picture(
        figure,
        "x, of shape (N, d_model), goes through q_proj to the queries, and through kv_down to a narrow latent c, of "
        "shape (N, d_latent). From the latent, k_up makes the keys and v_up the values, of shape (N, d_model) each. "
        "Queries, keys and values go into the heads and out_proj. The latent is all that is kept.",
    )


@styled
def two_ways_to_a_score() -> Picture:
    """Draw the same score through the key and through the latent, with the numbers of the sentence."""
    figure = card(6.0, 3.2, "One score, two ways")
    ax = canvas(figure, 0, 0, 6.0, 3.2)
    ways = (
        (
            "through the key",
            "the latent goes up: once per token in the cache",
            ["2", "\u22121"],
            "latent of cat",
            "k_up",
            ["2", "0", "\u22121", "0"],
            "key of cat",
            ["2", "\u22121", "1", "0"],
            "query of dog",
            (LATENT, KEY, PALE),
        ),
        (
            "through the latent",
            "the query comes down: once per step",
            ["2", "\u22121", "1", "0"],
            "query of dog",
            "k_up$^T$",
            ["2", "1"],
            "query, in latents",
            ["2", "\u22121"],
            "latent of cat",
            (PALE, PALE, LATENT),
        ),
    )
    for k, (name, note, start, is_start, by, middle, is_middle, end, is_end, fills) in enumerate(ways):
        y = 2.05 - 1.35 * k
        ax.text(0.3, y + 0.47, name, fontweight="bold", va="center", color=(VERMILLION, BLUE)[k])
        ax.text(2.15, y + 0.47, note, va="center", fontsize=9, color=GREY)
        left, shown = 0.3, ((start, is_start), (middle, is_middle), (end, is_end))
        for j, (numbers, what) in enumerate(shown):
            wide = 0.33 * len(numbers)
            cells(ax, left, y + 0.2, [numbers], [[fills[j]] * len(numbers)], 0.33, 0.36)
            ax.text(left + wide / 2, y - 0.32, what, ha="center", va="center", fontsize=9, color=GREY)
            left += wide
            if j == 0:
                arrow(ax, (left + 0.05, y + 0.02), (left + 1.0, y + 0.02))
                ax.text(left + 0.5, y + 0.17, by, ha="center", va="center", fontsize=9)
                left += 1.05
            elif j == 1:
                ax.text(left + 0.16, y + 0.02, "\u00b7", ha="center", va="center", fontsize=16)
                left += 0.32
        ax.text(left + 0.15, y + 0.02, "= 3", va="center", fontsize=13, fontweight="bold")
    return Picture(
        figure,
        "The score of dog and cat in two ways. Through the key: the latent of cat, 2 and -1, goes up to its key, 2, 0, "
        "-1, 0, and meets the query of dog, 2, -1, 1, 0; the product is 3. Through the latent: the query of dog comes "
        "down to 2 and 1, and meets the latent of cat, 2 and -1; the product is 3 again. The latent goes up once per "
        "token in the cache, the query comes down once per step.",
    )


def _tokens(ax: Axes, x: float, y: float, count: int, width: int, fill: str) -> None:
    squares(ax, x, y, count, width, 0.17, fill=fill)


@styled
def mix_first() -> Picture:
    """Draw two orders: latents brought up to values and then mixed, or mixed first and then brought up once."""
    figure = card(6.0, 3.4, "Bring up and mix, or mix and bring up")
    ax = canvas(figure, 0, 0, 6.0, 3.4)
    for k, (name, colour) in enumerate((("bring up, then mix", VERMILLION), ("mix, then bring up", BLUE))):
        left = 0.3 + 2.95 * k
        ax.text(left, 2.75, name, fontweight="bold", va="center", color=colour)
        _tokens(ax, left, 2.35, 6, 2, LATENT)
        ax.text(left + 0.17, 1.12, "latents", ha="center", va="center", fontsize=9, color=GREY)
        if k == 0:
            arrow(ax, (left + 0.42, 1.84), (left + 0.82, 1.84))
            _tokens(ax, left + 0.88, 2.35, 6, 8, VALUE)
            ax.text(left + 1.56, 1.12, "values of one head", ha="center", va="center", fontsize=9, color=GREY)
            arrow(ax, (left + 1.56, 0.98), (left + 1.56, 0.72))
            _tokens(ax, left + 0.88, 0.66, 1, 8, GREEN)
        else:
            arrow(ax, (left + 0.17, 0.98), (left + 0.17, 0.72))
            _tokens(ax, left, 0.66, 1, 2, LATENT)
            arrow(ax, (left + 0.42, 0.57), (left + 0.82, 0.57))
            _tokens(ax, left + 0.88, 0.66, 1, 8, GREEN)
            ax.text(
                left + 1.56,
                1.75,
                "no values\nof full width",
                ha="center",
                va="center",
                fontsize=9.5,
                color=GREY,
            )
        ax.text(left + 1.56, 0.3, "output of one head", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "Left, bring up, then mix: six latents of two numbers become six values of eight numbers, and their weighted "
        "sum is one row of eight. Right, mix, then bring up: the six latents are mixed into one latent of two numbers, "
        "which is brought up to the same row of eight. On the right no table of values is made.",
    )


@styled
def position_key() -> Picture:
    """Draw heads with a content part and a position part; all heads share one position key."""
    figure = card(6.0, 3.6, "Content from the latent, position from a key of its own")
    ax = canvas(figure, 0, 0, 6.0, 3.6)
    for h in range(3):
        y = 2.65 - 0.5 * h
        ax.text(0.3, y, f"head {h}", va="center", fontsize=9.5)
        for left, wide, fill in ((1.0, 0.8, HEADS[0]), (2.3, 0.8, HEADS[0]), (3.12, 0.36, TURNED)):
            ax.add_patch(Rectangle((left, y - 0.16), wide, 0.32, facecolor=fill, edgecolor="white"))
        arrow(ax, (2.26, y), (1.84, y), BLUE, 1.1)
        arrow(ax, (3.52, y), (4.47, 2.15 + 0.2 * (y - 2.15)), GREEN, 1.1)
    ax.add_patch(Rectangle((4.5, 1.99), 0.36, 0.32, facecolor=TURNED, edgecolor=GREEN, linewidth=1.4))
    for x, name in ((1.4, "content keys"), (2.9, "queries"), (4.68, "one position key")):
        ax.text(x, 3.0 if x < 4 else 2.52, name, ha="center", va="center", fontsize=9.5, color=INK)
    ax.text(1.4, 1.28, "never made:\nabsorbed", ha="center", va="center", fontsize=9, color=GREY)
    ax.plot([0.3, 5.7], [0.98, 0.98], color=GREY, linewidth=1)
    ax.text(0.3, 0.62, "kept per token:", va="center", fontweight="bold", fontsize=9.5)
    ax.add_patch(Rectangle((1.75, 0.46), 0.9, 0.32, facecolor=LATENT, edgecolor="white"))
    ax.add_patch(Rectangle((3.6, 0.46), 0.36, 0.32, facecolor=TURNED, edgecolor="white"))
    ax.text(2.73, 0.62, "latent", va="center", fontsize=9.5)
    ax.text(4.04, 0.62, "position key, turned", va="center", fontsize=9.5)
    return Picture(
        figure,
        "Three heads. Each has a query of two parts: a wide one for content and a narrow one for position, which is "
        "turned. The content parts meet content keys, one per head, which are absorbed and never made. The position "
        "parts of all heads meet one and the same narrow position key. Kept per token: the latent, and the position "
        "key, already turned.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "kept_of_a_token": kept_of_a_token(),
        "latent_flow": latent_flow(),
        "two_ways_to_a_score": two_ways_to_a_score(),
        "mix_first": mix_first(),
        "position_key": position_key(),
    }
