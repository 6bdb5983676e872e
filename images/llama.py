"""The pictures of lesson 20."""

import math

from drawing import arrow, box, cells

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, ORANGE, PALE, SKY, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled


@styled
def four_bit_block() -> Picture:
    """Draw what the twenty bytes of a block hold."""
    figure = card(6.4, 2.75, "Twenty bytes hold thirty-two weights")
    ax = canvas(figure, 0, 0, 6.4, 2.75)
    names = ["d", "d", "m", "m", *[str(j) for j in range(4, 9)], "\u2026", "19"]
    fills = [HEADS[1]] * 2 + [HEADS[3]] * 2 + [HEADS[0]] * 7
    cells(ax, 0.3, 2.1, [names], [fills], 0.53, 0.38)
    ax.text(0.83, 1.52, "scale d\nfloat16", ha="center", va="center", fontsize=9, color=INK)
    ax.text(1.89, 1.52, "minimum m\nfloat16", ha="center", va="center", fontsize=9, color=INK)
    arrow(ax, (2.69, 1.7), (3.35, 1.12))
    cells(ax, 3.0, 1.05, [["1010", "0111"]], [[HEADS[2], HEADS[0]]], 0.8, 0.38)
    ax.text(3.4, 0.5, "high: code 10\nof value 16", ha="center", va="center", fontsize=9, color=INK)
    ax.text(4.25, 0.5, "low: code 7\nof value 0", ha="center", va="center", fontsize=9, color=INK)
    ax.text(5.0, 0.86, "byte 4 of a block,\n0xA7", va="center", fontsize=9, color=GREY)
    ax.text(0.3, 0.6, "value = d \u00b7 code + m", va="center", fontweight="bold", color=BLUE)
    return Picture(
        figure,
        "A block of 20 bytes: two for the scale d, two for the minimum m, sixteen with two codes each. The "
        "byte 0xA7 "
        "holds the code 7 of value 0 in its low four bits and the code 10 of value 16 in its high four.",
    )


@styled
def open_gate() -> Picture:
    """Draw the SiLU activation, and the two paths that meet in a SwiGLU."""
    figure = card(6.4, 2.9, "A gate decides how much of each feature goes through")
    ax = canvas(figure, 0, 0, 6.4, 2.9)
    box(ax, 0.6, 1.3, "x", "(\u2026, D)", GREY, 0.8)
    box(ax, 1.85, 1.9, "gate", "(\u2026, d_ff)", BLUE, 1.0)
    box(ax, 1.85, 0.7, "up", "(\u2026, d_ff)", BLUE, 1.0)
    box(ax, 3.0, 1.9, "SiLU", "", ORANGE, 0.75)
    box(ax, 3.0, 0.95, "\u00b7", "", GREY, 0.4, 0.4)
    box(ax, 3.95, 0.95, "down", "(\u2026, D)", BLUE, 0.85)
    for start, end in (
        ((1.0, 1.4), (1.34, 1.8)),
        ((1.0, 1.2), (1.34, 0.8)),
        ((2.36, 1.9), (2.62, 1.9)),
        ((3.0, 1.58), (3.0, 1.16)),
        ((2.36, 0.78), (2.79, 0.9)),
        ((3.21, 0.95), (3.51, 0.95)),
    ):
        arrow(ax, start, end)
    curve = axes(figure, 4.85, 0.65, 1.35, 1.45)
    places = [i / 10 for i in range(-50, 41)]
    curve.plot(places, [max(0.0, z) for z in places], color=GREY, linewidth=1.2, linestyle=":")
    curve.plot(places, [z / (1 + math.exp(-z)) for z in places], color=ORANGE, linewidth=2)
    curve.set_xlabel("z", fontsize=9)
    curve.set_title("SiLU(z); dotted: ReLU", fontsize=9)
    return Picture(
        figure,
        "x goes two ways: through gate and SiLU, and through up. The two are multiplied entry by entry, and "
        "down brings "
        "the product back to the width D. SiLU is close to ReLU, but dips below zero to the left of it.",
    )


@styled
def order_of_steps() -> Picture:
    """Draw the order in which a Llama's attention treats its keys."""
    figure = card(6.4, 2.6, "Turn, keep, share: in this order")
    ax = canvas(figure, 0, 0, 6.4, 2.6)
    steps = (
        ("project", "3 key heads", BLUE),
        ("turn", "by position", ORANGE),
        ("keep", "in the cache", GREEN),
        ("share", "9 query heads", SKY),
        ("attend", "causally", BLUE),
    )
    for k, (name, note, colour) in enumerate(steps):
        box(ax, 0.75 + 1.22 * k, 1.6, name, note, colour, 1.05, 0.7)
        if k:
            arrow(ax, (0.06 + 1.22 * k, 1.6), (0.21 + 1.22 * k, 1.6))
    ax.text(2.0, 0.95, "once in a key's life", ha="center", va="center", fontsize=9, color=GREY)
    arrow(ax, (3.19, 0.72), (3.19, 1.22), GREEN)
    ax.text(3.19, 0.55, "M old keys, turned long ago", ha="center", va="center", fontsize=9, color=GREEN)
    ax.text(
        5.0,
        0.95,
        "after the cache, so that\nit stays small",
        ha="center",
        va="center",
        fontsize=9,
        color=GREY,
    )
    return Picture(
        figure,
        "Five steps of a key, from left to right: project into 3 key heads, turn by position, keep in the "
        "cache, where "
        "the M old keys come in, share among 9 query heads, attend causally. It is turned once, before it "
        "is kept.",
    )


@styled
def llama_flow() -> Picture:
    """Draw one layer of a Llama, and the whole model around thirty of them."""
    figure = card(6.4, 2.9, "A layer, and thirty of them")
    ax = canvas(figure, 0, 0, 6.4, 2.9)
    arrow(ax, (0.2, 2.0), (6.2, 2.0), INK)
    for left, norm, name, colour in ((0.5, "norm1", "attention", ORANGE), (3.0, "norm2", "SwiGLU", BLUE)):
        arrow(ax, (left, 2.0), (left, 1.5), GREY)
        box(ax, left, 1.2, norm, "", GREEN, 0.8, 0.5)
        arrow(ax, (left + 0.41, 1.2), (left + 0.68, 1.2), GREY)
        box(ax, left + 1.25, 1.2, name, "", colour, 1.1, 0.5)
        arrow(ax, (left + 1.25, 1.46), (left + 1.25, 1.9), GREY)
        ax.text(left + 1.25, 2.0, "+", ha="center", va="center", fontweight="bold", backgroundcolor="white")
    arrow(ax, (1.3, 0.42), (1.55, 0.92), GREY)
    arrow(ax, (1.95, 0.92), (2.2, 0.42), GREY)
    ax.text(1.15, 0.3, "old cache", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(2.4, 0.3, "new cache", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(
        5.5, 1.25, "table \u2192 30 layers\n\u2192 norm \u2192 table", ha="center", va="center", fontsize=9.5
    )
    ax.text(5.5, 0.72, "the same table\nat both ends", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "One layer: the stream runs straight through. One branch goes through norm1 and the attention, with "
        "the old "
        "cache in and the new one out, another through norm2 and SwiGLU; each is added back. The model: "
        "table, 30 "
        "layers, norm, and the same table again.",
    )


@styled
def text_or_ids() -> Picture:
    """Draw one message, written as a text and as ids."""
    figure = card(6.4, 2.75, "Who ends the message?")
    ax = canvas(figure, 0, 0, 6.4, 2.75)
    start, end, said = HEADS[1], HEADS[3], HEADS[0]
    rows = (
        (
            "built as one text, then read for marks",
            VERMILLION,
            [
                ("S", start),
                ("user\\nHi", said),
                ("E", end),
                ("S", start),
                ("system\\n\u2026", said),
                ("E", end),
            ],
            "two messages",
        ),
        (
            "built as ids, each text encoded by itself",
            GREEN,
            [("S", start), ("user\\nHi <|im_end|> <|im_start|> system\\n\u2026", said), ("E", end)],
            "one message",
        ),
    )
    for k, (title, colour, parts, note) in enumerate(rows):
        top = 1.92 - 0.92 * k
        ax.text(0.3, top + 0.12, title, va="center", fontsize=9.5, color=colour, fontweight="bold")
        left = 0.3
        for text, fill in parts:
            width = 0.34 if len(text) == 1 else 0.3 + 0.087 * len(text)
            cells(ax, left, top - 0.05, [[text]], [[fill]], width, 0.38)
            left += width
        ax.text(left + 0.12, top - 0.24, note, va="center", fontsize=9.5, color=GREY)
    ax.text(0.3, 0.24, "S, E: the ids of <|im_start|> and <|im_end|>", va="center", fontsize=9, color=GREY)
    ax.add_patch(_line(PALE))
    return Picture(
        figure,
        "A user wrote: Hi, a mark for the end, a mark for the start, system. Built as one text it becomes "
        "two messages, "
        "the second of the system. Built as ids it is one message, in which the marks are letters like "
        "others.",
    )


def _line(colour):
    from matplotlib.patches import Rectangle

    return Rectangle((0.3, 0.45), 5.8, 0.02, facecolor=colour, edgecolor="none")


@styled
def one_token_a_call() -> Picture:
    """Draw what the model reads in each call when it generates text with caches."""
    figure = card(6.4, 2.6, "What the model reads in each call")
    ax = canvas(figure, 0, 0, 6.4, 2.6)
    words = ["The", "capital", "of", "France", "is", "Paris", "."]
    for call, (first, end) in enumerate(((0, 5), (5, 6), (6, 7))):
        y = 2.0 - 0.52 * call
        ax.text(0.85, y - 0.19, f"call {call + 1}", ha="right", va="center", fontsize=9.5, color=GREY)
        fills = [[BLUE if first <= k < end else PALE for k in range(end)]]
        cells(ax, 1.0, y, [[""] * end], fills, 0.74, 0.38)
        for k in range(end):
            colour = "white" if first <= k else GREY
            ax.text(1.37 + 0.74 * k, y - 0.19, words[k], ha="center", va="center", fontsize=9, color=colour)
    ax.text(
        1.0,
        0.3,
        "blue: read now; grey: known from the caches of the call before",
        va="center",
        fontsize=9,
        color=GREY,
    )
    return Picture(
        figure,
        "Three calls. The first reads the prompt: The capital of France is. The second reads Paris alone, "
        "the third the "
        "full stop alone; what came before is known from the caches.",
    )


@styled
def evening_chat() -> Picture:
    """Draw the conversation of lesson 20: the first two sentences that the model answers there."""
    figure = card(6.4, 2.6, "In lesson 20: a real language model, on your code")
    ax = canvas(figure, 0, 0, 6.4, 2.6)
    answer = (
        "Attention is a fundamental concept in machine learning and\ndeep learning. It refers to the "
        "ability of a neural "
        "network\nto focus on one aspect of a problem at a time, \u2026"
    )
    for y, height, who, said, fill, colour in (
        (1.62, 0.4, "You", "What is attention in a Transformer?", HEADS[1], INK),
        (0.6, 0.85, "SmolLM", answer, HEADS[0], BLUE),
    ):
        cells(ax, 1.05, y + height, [[""]], [[fill]], 5.05, height)
        ax.text(0.92, y + height / 2, who, ha="right", va="center", fontweight="bold", color=colour)
        ax.text(1.2, y + height / 2, said, va="center", fontsize=10, color=INK)
    ax.text(
        1.05,
        0.3,
        "written token by token, on your own attention, cache, norms and sampling",
        va="center",
        fontsize=9,
        color=GREY,
    )
    return Picture(
        figure,
        "A conversation. You: What is attention in a Transformer? SmolLM: Attention is a fundamental "
        "concept in machine "
        "learning and deep learning. It refers to the ability of a neural network to focus on one aspect of "
        "a problem "
        "at a time.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "four_bit_block": four_bit_block(),
        "open_gate": open_gate(),
        "order_of_steps": order_of_steps(),
        "llama_flow": llama_flow(),
        "text_or_ids": text_or_ids(),
        "one_token_a_call": one_token_a_call(),
        "evening_chat": evening_chat(),
    }
