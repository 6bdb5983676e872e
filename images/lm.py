"""The pictures of lesson 11."""

import math

from drawing import arrow, box, cells
from matplotlib.patches import Arc

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, ORANGE, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled

PI = ("3", "1", "4", "1", "5", "9", "2", "6")


@styled
def next_token_windows() -> Picture:
    """Draw a text cut into windows: the inputs, and the targets one token later."""
    figure = card(6.0, 3.55, "Windows of three tokens, and what comes next")
    ax = canvas(figure, 0, 0, 6.0, 3.55)
    left, wide = 1.15, 0.56
    ax.text(0.25, 2.72, "text", va="center", fontweight="bold")
    fills = [HEADS[0]] * 3 + [HEADS[1]] * 3 + [PALE] * 2
    cells(ax, left, 2.92, [list(PI)], [fills], width=wide)
    for k in range(2):
        start, x = 3 * k, left + 2.35 * k
        ax.text(x, 2.06, f"window {k}", fontweight="bold", va="center", fontsize=9.5)
        cells(ax, x, 1.88, [list(PI[start : start + 3])], [[HEADS[k]] * 3], width=wide)
        cells(ax, x, 0.98, [list(PI[start + 1 : start + 4])], [[HEADS[2]] * 3], width=wide)
        for i in range(3):
            arrow(ax, (x + (i + 0.5) * wide, 1.46), (x + (i + 0.5) * wide, 1.0), BLUE, 1.4)
    for y, name in ((1.68, "inputs"), (0.78, "targets")):
        ax.text(0.25, y, name, va="center", fontweight="bold")
    ax.text(
        0.25,
        0.28,
        "Grey: 2 is a target but never an input, 6 is neither.",
        fontsize=9,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "A text of eight tokens, 3 1 4 1 5 9 2 6. Window 0 has the inputs 3 1 4 and the targets 1 4 1, window 1 the "
        "inputs 1 5 9 and the targets 5 9 2. An arrow leads from each input to the target below it, which is the next "
        "token of the text. The last two tokens fill no window.",
    )


@styled
def surprise() -> Picture:
    """Draw -log p, with the probabilities of some guesses marked."""
    figure = card(6.0, 3.6, "How surprising is a token of probability p?")
    ax = axes(figure, 0.85, 0.7, 4.85, 2.3)
    chances = [k / 200 for k in range(3, 201)]
    ax.plot(chances, [-math.log(p) for p in chances], color=BLUE, linewidth=2.6)
    marks = ((1 / 10, "one of ten digits"), (1 / 4, "one of four words"), (1 / 2, "a coin"), (1.0, "certain"))
    for p, name in marks:
        value = -math.log(p)
        ax.plot([p], [value], "o", color=VERMILLION, markersize=8)
        end = {"ha": "right", "xytext": (-4, 12)} if p == 1 else {"ha": "left", "xytext": (9, 5)}
        ax.annotate(f"{name}: {abs(value):.2f}", (p, value), textcoords="offset points", fontsize=9.5, **end)
    ax.set(xlim=(0, 1.03), ylim=(-0.2, 4.3), xlabel="probability p that the model gave it")
    ax.set_ylabel("surprise, \u2212log p")
    ax.grid(alpha=0.25, color=GREY)
    return Picture(
        figure,
        "The curve of minus log p over p falls from above 4 near p = 0 to 0 at p = 1. Marked: one of ten digits, p = "
        "0.1, surprise 2.30; one of four words, p = 0.25, surprise 1.39; a coin, p = 0.5, surprise 0.69; certain, p = "
        "1, surprise 0.",
    )


@styled
def gpt_flow() -> Picture:
    """Draw the whole model: from ids to logits, one table used at both ends."""
    figure = card(6.0, 5.3, "A GPT: one table at both ends")
    ax = canvas(figure, 0, 0, 6.0, 5.3)
    steps = (
        (4.45, "ids", "(B, N)", GREY),
        (3.65, "token_embedding", "E: (vocab_size, d_model)", ORANGE),
        (2.85, "+ position_embedding", "rows 0 to N \u2212 1 of P", GREEN),
        (2.05, "layers, causal", "n_layers times lesson 06", BLUE),
        (1.25, "norm", "(B, N, d_model)", GREY),
        (0.45, "head", "logits (B, N, vocab_size)", ORANGE),
    )
    for k, (y, name, note, colour) in enumerate(steps):
        box(ax, 1.75, y, name, note, colour, width=2.5, height=0.56)
        if k:
            arrow(ax, (1.75, y + 0.52), (1.75, y + 0.29))
    arrow(ax, (3.02, 0.45), (3.02, 3.65), ORANGE, 2.0, bend=0.75)
    arrow(ax, (3.02, 3.65), (3.02, 0.45), ORANGE, 2.0, bend=-0.75)
    for y, text, weight in (
        (2.2, "the same", "bold"),
        (1.98, "parameter", "bold"),
        (1.7, "row v: token v,", "normal"),
        (1.48, "read or written", "normal"),
    ):
        ax.text(4.4, y, text, va="center", fontsize=9.5, fontweight=weight, color=INK)
    return Picture(
        figure,
        "A column of boxes from top to bottom: ids (B, N); token_embedding, the table E; plus position_embedding, rows "
        "0 to N - 1 of P; layers under a causal mask; norm; head, which gives logits (B, N, vocab_size). A double "
        "arrow joins token_embedding and head: they are the same parameter.",
    )


@styled
def clipped_together() -> Picture:
    """Draw two ways to clip a gradient: by its whole norm, which keeps its direction, and entry by entry,
    which does not.
    """
    figure = card(6.0, 3.3, "Clip the whole gradient, not its parts")
    ways = (("the whole: (0.6, 0.8)", (0.6, 0.8), GREEN), ("each entry: (1, 1)", (1.0, 1.0), VERMILLION))
    for k, (name, end, colour) in enumerate(ways):
        ax = axes(figure, 0.5 + 2.85 * k, 0.45, 2.3, 2.1)
        ax.set(
            xlim=(-0.3, 4.4), ylim=(-0.3, 4.4), aspect="equal", xticks=[0, 1, 2, 3, 4], yticks=[0, 1, 2, 3, 4]
        )
        ax.grid(alpha=0.25, color=GREY)
        arrow(ax, (0, 0), (3, 4), GREY, 1.4)
        arrow(ax, (0, 0), end, colour, 3.0)
        ax.add_patch(Arc((0, 0), 2, 2, theta1=0, theta2=90, color=GREY, linewidth=1, linestyle=":"))
        ax.text(2.6, 4.0, "(3, 4)", ha="right", va="center", fontsize=9.5, color=GREY)
        ax.set_title(name, fontsize=10.5, color=INK, pad=6)
    return Picture(
        figure,
        "Two charts with the gradient (3, 4) as a grey arrow. Left, clipped as a whole to length 1: the arrow (0.6, "
        "0.8) points in the same direction. Right, each entry clipped by itself: the arrow (1, 1) points in another "
        "direction and is longer than 1.",
    )


@styled
def reversal_test() -> Picture:
    """Draw six digits and the same six backwards: which can be predicted, and the mean loss that this
    implies.
    """
    figure = card(6.0, 3.3, "Six digits, then the same six backwards")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    digits, left, wide = ("7", "2", "9", "4", "0", "5"), 0.3, 0.45
    fills = [PALE] + [HEADS[1]] * 5 + [HEADS[2]] * 6
    cells(ax, left, 1.3, [[*digits, *digits[::-1]]], [fills], width=wide)
    for i in range(6):
        first, second = left + (i + 0.5) * wide, left + (11 - i + 0.5) * wide
        middle, width = (first + second) / 2, second - first
        ax.add_patch(
            Arc(
                (middle, 1.33),
                width,
                0.5 + 0.42 * width / wide / 2,
                theta1=0,
                theta2=180,
                color=BLUE,
                linewidth=1.3,
            )
        )
    for x, text, note, colour in (
        (left + 3.5 * wide, "cannot be known", "loss log 10 = 2.30", "#9A6700"),
        (left + 9 * wide, "can be copied", "loss 0", "#00684C"),
    ):
        ax.text(x, 0.62, text, ha="center", va="center", fontweight="bold", color=colour, fontsize=10)
        ax.text(x, 0.38, note, ha="center", va="center", fontsize=9.5, color=INK)
    ax.text(left + 0.5 * wide, 0.62, "given", ha="center", va="center", color=GREY, fontsize=9.5)
    return Picture(
        figure,
        "Twelve digits, 7 2 9 4 0 5 and then 5 0 4 9 2 7. Arcs join each digit of the first half with its twin in the "
        "second. The first digit is given. The other five of the first half cannot be known: loss log 10 = 2.30. The "
        "six of the second half can be copied: loss 0.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "next_token_windows": next_token_windows(),
        "surprise": surprise(),
        "gpt_flow": gpt_flow(),
        "clipped_together": clipped_together(),
        "reversal_test": reversal_test(),
    }
