"""The pictures of lesson 21."""

from drawing import arrow, box, cells

from autograder.notebook.figures.palette import (
    BLUE,
    GREEN,
    GREY,
    HEADS,
    HEADS_DARK,
    INK,
    ORANGE,
    PALE,
    VERMILLION,
)
from autograder.notebook.figures.style import Picture, canvas, card, styled


@styled
def forward_hook() -> Picture:
    """Draw a hook on the output of one part."""
    figure = card(6.0, 2.6, "A hook listens at the exit of one part")
    ax = canvas(figure, 0, 0, 6.0, 2.6)
    for k, name in enumerate(("embedding", "layer 0", "layer 1", "logits")):
        box(ax, 0.85 + 1.45 * k, 1.5, name, "", BLUE, 1.1, 0.55)
        if k:
            arrow(ax, (1.42 + 1.45 * (k - 1), 1.5), (0.28 + 1.45 * k, 1.5))
    ax.plot([3.03, 3.03], [1.5, 0.62], color=VERMILLION, linewidth=1.8)
    cells(ax, 2.15, 0.62, [["found['layer 0']"]], [[HEADS[1]]], 1.75, 0.36)
    ax.text(3.2, 1.0, "hook(part, args, output)", fontsize=9.5, color=VERMILLION, va="center")
    return Picture(
        figure,
        "Four parts in a row: embedding, layer 0, layer 1, logits. A line leaves the exit of layer 0 and ends in a "
        "dictionary's entry found['layer 0'].",
    )


@styled
def induction() -> Picture:
    """Draw what an induction head does, and the head before it that makes it possible."""
    figure = card(6.0, 3.2, "Two heads that copy together")
    ax = canvas(figure, 0, 0, 6.0, 3.2)
    letters = ["A", "B", "C", "D", "A"]
    fills = [HEADS[0], HEADS[1], PALE, PALE, HEADS[0]]
    cells(ax, 0.6, 1.75, [letters], [fills], 0.8, 0.45)
    ax.text(4.75, 1.52, "?", fontsize=15, color=GREY, va="center")
    arrow(ax, (1.75, 1.28), (1.1, 1.28), GREEN, 1.8, bend=-0.5)
    ax.text(
        0.6,
        0.72,
        "layer 0, the previous-token head: B learns what stood before it, A",
        fontsize=9.5,
        color=GREEN,
        va="center",
    )
    arrow(ax, (4.2, 1.78), (1.85, 1.78), VERMILLION, 1.8, bend=0.35)
    ax.text(
        0.6,
        2.6,
        "layer 1, the induction head: A looks for the token after A, and copies B",
        fontsize=9.5,
        color=VERMILLION,
        va="center",
    )
    ax.text(0.6, 0.35, "so the next token is B", fontsize=9.5, color=INK, va="center")
    return Picture(
        figure,
        "The tokens A B C D A. Below, an arrow from B back to A: a head of layer 0 tells B what stood before it. "
        "Above, an arrow from the second A to B: a head of layer 1 looks for a token that has A before it, and copies "
        "it.",
    )


@styled
def heads_add_up() -> Picture:
    """Draw the output of attention as a sum over heads."""
    figure = card(6.0, 3.1, "What a layer adds is a sum over its heads")
    ax = canvas(figure, 0, 0, 6.0, 3.1)
    for h in range(3):
        y = 2.3 - 0.72 * h
        cells(ax, 0.4 + 0.66 * h, y + 0.17, [["", ""]], [[HEADS[h]] * 2], 0.33, 0.34)
        for other in range(3):
            if other != h:
                cells(ax, 0.4 + 0.66 * other, y + 0.17, [["", ""]], [["white"] * 2], 0.33, 0.34)
        arrow(ax, (2.45, y), (2.95, y), HEADS_DARK[h])
        box(ax, 3.85, y, f"columns of head {h}", "", HEADS_DARK[h], 1.75, 0.42)
        arrow(ax, (4.75, y), (5.0, y), HEADS_DARK[h])
        ax.text(5.08, y, f"output {h}", va="center", color=HEADS_DARK[h], fontweight="bold")
    ax.text(0.4, 0.28, "mixed: the heads side by side", fontsize=9.5, color=GREY, va="center")
    ax.text(3.0, 0.28, "out_proj.weight, cut by columns", fontsize=9.5, color=GREY, va="center")
    return Picture(
        figure,
        "Three rows. In each, the features of one head pass the columns of out_proj.weight that belong to it and give "
        "that head's output. The sum of the three outputs is what the layer adds.",
    )


@styled
def lens() -> Picture:
    """Draw the logit lens: every hidden state is sent through the last norm and the output layer."""
    figure = card(6.0, 3.0, "The logit lens: every state as if it were the last")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    for k in range(3):
        y = 0.62 + 0.72 * k
        last = k == 2
        cells(ax, 0.4, y + 0.17, [[f"after layer {(0, 20, 29)[k]}"]], [[HEADS[0]]], 1.5, 0.34)
        box(ax, 2.75, y, "norm", "", BLUE if last else GREY, 0.8, 0.42)
        box(ax, 3.85, y, "table", "", BLUE if last else GREY, 0.8, 0.42)
        arrow(ax, (1.92, y), (2.33, y), BLUE if last else VERMILLION)
        arrow(ax, (3.17, y), (3.43, y), BLUE if last else VERMILLION)
        arrow(ax, (4.27, y), (4.6, y), BLUE if last else VERMILLION)
        ax.text(
            4.68, y, "what it says" if last else "what it would say", va="center", fontsize=9.5, color=INK
        )
    return Picture(
        figure,
        "Three hidden states of one token, after layers 0, 20 and 29. The last goes through the norm and the table to "
        "what the model says. The lens sends the other two the same way, to what it would say.",
    )


@styled
def patching() -> Picture:
    """Draw two runs, and one hidden state carried from one to the other."""
    figure = card(6.0, 3.4, "One hidden state of the other run")
    ax = canvas(figure, 0, 0, 6.0, 3.4)
    for row, (words, colour, answer) in enumerate(
        (
            (("The", "capital", "of", "Japan", "is"), ORANGE, "Tokyo"),
            (("The", "capital", "of", "France", "is"), BLUE, "Paris?"),
        )
    ):
        y = 2.3 - 1.45 * row
        for k, word in enumerate(words):
            x = 0.35 + 0.9 * k
            ax.text(x + 0.38, y - 0.42, word, ha="center", va="center", fontsize=9.5, color=INK)
            for layer in range(3):
                cells(ax, x, y + 0.2 * layer, [[""]], [[HEADS[1 - row] if k >= 3 else PALE]], 0.76, 0.16)
        arrow(ax, (4.78, y + 0.1), (5.1, y + 0.1), colour)
        ax.text(5.15, y + 0.1, answer, va="center", color=colour, fontweight="bold")
    arrow(ax, (3.7, 2.3), (3.7, 1.32), VERMILLION, 2.2)
    ax.text(3.82, 1.62, "put in", color=VERMILLION, fontsize=9.5, va="center")
    return Picture(
        figure,
        "Two runs of a model, above on The capital of Japan is, which gives Tokyo, below on The capital of France is. "
        "One hidden state above Japan is put in place of the one above France. Does the answer change?",
    )


@styled
def shares() -> Picture:
    """Draw a logit as a sum: every part of the last hidden state passes the same norm, with the same scale."""
    figure = card(6.0, 3.3, "One logit is a sum over all parts")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    for k, name in enumerate(("table", "head 0.0", "\u2026", "network 29")):
        y = 2.45 - 0.5 * k
        ax.text(0.95, y, name, ha="center", va="center", fontsize=9.5, color=INK)
        arrow(ax, (1.55, y), (2.05, y), HEADS_DARK[k])
        box(ax, 2.75, y, "\u00d7 scale", "", HEADS_DARK[k], 1.1, 0.36)
        arrow(ax, (3.32, y), (3.65, y), HEADS_DARK[k])
        box(ax, 4.3, y, "\u00b7 direction", "", HEADS_DARK[k], 1.2, 0.36)
        arrow(ax, (4.92, y), (5.2, y), HEADS_DARK[k])
        ax.text(5.25, y, "a share", va="center", fontsize=9.5, color=INK)
    arrow(ax, (1.7, 0.4), (2.75, 0.72), GREY)
    ax.text(1.65, 0.4, "the whole state", ha="right", va="center", fontsize=9.5, color=GREY)
    ax.text(3.0, 0.4, "gives one scale for all of them", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "Four rows: the table, head 0 of layer 0, and so on to the network of layer 29. Each part is multiplied by one "
        "scale, which comes from the whole state, and by the direction. This gives its share of the logit.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    drawn = (forward_hook, induction, heads_add_up, lens, patching, shares)
    return {one.__name__: one() for one in drawn}
