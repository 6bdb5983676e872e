"""The pictures of lesson 18."""

import math

from drawing import arrow, box, cells
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
    VERMILLION,
)
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.words import number


@styled
def two_ways() -> Picture:
    """Draw two ways from pairs to a tuned model: a reward model and reinforcement, or one loss."""
    figure = card(6.0, 3.5, "Two ways from pairs to a tuned model")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    ax.text(0.25, 2.82, "by reinforcement", fontweight="bold", va="center", fontsize=10)
    ax.text(0.25, 1.32, "DPO", fontweight="bold", va="center", fontsize=10)
    box(ax, 0.9, 2.28, "pairs", "A rather than B", GREY, width=1.3)
    box(ax, 2.42, 2.28, "reward model", "points", ORANGE, width=1.3)
    box(ax, 3.94, 2.28, "write, learn", "points \u2212 price", PURPLE, width=1.3)
    box(ax, 0.9, 0.78, "pairs", "A rather than B", GREY, width=1.3)
    box(ax, 3.18, 0.78, "one loss", "two models, two answers", BLUE, width=2.0)
    for y in (2.28, 0.78):
        box(ax, 5.31, y, "policy", "tuned", GREEN, width=0.9)
        arrow(ax, (4.62 if y > 2 else 4.21, y), (4.84, y))
    arrow(ax, (1.57, 2.28), (1.75, 2.28))
    arrow(ax, (3.09, 2.28), (3.27, 2.28))
    arrow(ax, (1.57, 0.78), (2.16, 0.78))
    ax.text(3.94, 1.54, "reference, frozen", ha="center", va="center", fontsize=9.5, color=VERMILLION)
    arrow(ax, (3.94, 1.64), (3.94, 1.95), VERMILLION, 1.4)
    arrow(ax, (3.94, 1.43), (3.94, 1.12), VERMILLION, 1.4)
    return Picture(
        figure,
        "Two ways. Above, by reinforcement: pairs, then a reward model that gives points, then a model that writes and "
        "learns from points minus a price for moving away from the reference, then the tuned policy. Below, DPO: "
        "pairs, one loss over two models and two answers, the tuned policy. A frozen reference leads into both.",
    )


@styled
def answer_log_prob() -> Picture:
    """Draw the tokens that count, and the logits that predict them."""
    figure = card(6.0, 3.0, "Only the tokens of the answer count")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    left, wide = 0.55, 0.82
    names = ["the", "dog", "saw", "the", "cat", "pad"]
    fills = [PALE, PALE, HEADS[0], HEADS[0], HEADS[0], "white"]
    cells(ax, left, 1.45, [names], [fills], width=wide, height=0.44)
    ax.add_patch(
        Rectangle((left + 5 * wide, 1.01), wide, 0.44, fill=False, edgecolor="#D1D5DB", hatch="////")
    )
    ax.text(
        left + 5.5 * wide,
        1.23,
        "pad",
        ha="center",
        va="center",
        fontsize=9.5,
        bbox={"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"},
    )
    for k, share in enumerate((0.5, 0.25, 0.8)):
        start, end = left + (k + 1.5) * wide, left + (k + 2.5) * wide
        arrow(ax, (start + 0.06, 1.5), (end - 0.06, 1.5), BLUE, 1.5, bend=-0.75)
        ax.text(
            (start + end) / 2,
            2.0,
            number(share),
            ha="center",
            va="center",
            fontsize=10,
            color=BLUE,
            fontweight="bold",
        )
        ax.text(end, 0.78, number(math.log(share)), ha="center", va="center", fontsize=10, color=INK)
    ax.text(left + wide, 0.78, "prompt", ha="center", va="center", fontsize=9.5, color=GREY)
    ax.text(
        left + 3.5 * wide,
        0.36,
        "log-probability of the answer: \u22120.69 \u2212 1.39 \u2212 0.22 = \u22122.30",
        ha="center",
        va="center",
        fontsize=10,
        fontweight="bold",
    )
    return Picture(
        figure,
        "Six tokens: the, dog are the prompt; saw, the, cat are the answer; one is padding. An arrow leads from the "
        "token before each answer token to it, with the probabilities 0.5, 0.25 and 0.8. Below are their logarithms, "
        "-0.69, -1.39 and -0.22, which add up to -2.30.",
    )


@styled
def four_log_probs() -> Picture:
    """Draw two models and two answers: four log-probabilities, two gains, one margin."""
    figure = card(6.0, 3.35, "Two models, two answers, one margin")
    ax = canvas(figure, 0, 0, 6.0, 3.35)
    left, wide, high = 1.75, 1.3, 0.44
    for k, name in enumerate(("chosen", "rejected")):
        ax.text(left + (k + 0.5) * wide, 2.65, name, ha="center", va="center", fontweight="bold")
    lines = [["\u221210", "\u221213"], ["\u221212", "\u221212"], ["+2", "\u22121"]]
    fills = [[HEADS[0]] * 2, [PALE] * 2, [HEADS[2], HEADS[1]]]
    for k, (name, note) in enumerate(
        (("policy", "moves"), ("reference", "frozen"), ("gain", "their difference"))
    ):
        y = 2.45 - 0.56 * k
        cells(ax, left, y, [lines[k]], [fills[k]], width=wide, height=high)
        ax.text(left - 0.12, y - 0.13, name, ha="right", va="center", fontweight="bold", fontsize=10)
        ax.text(left - 0.12, y - 0.33, note, ha="right", va="center", fontsize=8.5, color=GREY)
    ax.text(4.5, 2.23, "\u03c0", va="center", fontsize=12, color=BLUE)
    ax.text(4.5, 1.67, "\u03c1", va="center", fontsize=12, color=GREY)
    ax.text(4.5, 1.11, "\u03c0 \u2212 \u03c1", va="center", fontsize=12, color=INK)
    ax.text(
        0.3,
        0.5,
        "margin = \u03b2 \u00b7 (2 \u2212 (\u22121)) = 0.1 \u00b7 3 = 0.3",
        va="center",
        fontsize=10.5,
    )
    ax.text(
        5.7,
        0.5,
        "loss = \u2212log \u03c3(0.3) = 0.554",
        va="center",
        ha="right",
        fontsize=10.5,
        fontweight="bold",
    )
    return Picture(
        figure,
        "A table of log-probabilities with the columns chosen and rejected. Policy, which moves: -10 and -13. "
        "Reference, frozen: -12 and -12. Gain, their difference: +2 and -1. The margin is beta times 2 - (-1), 0.1 "
        "times 3 = 0.3; the loss is minus log sigmoid of 0.3 = 0.554.",
    )


@styled
def dpo_curve() -> Picture:
    """Draw the loss over the margin, and how hard it pulls at three margins."""
    figure = card(6.0, 3.5, "The loss over the margin, and its slope")
    ax = axes(figure, 0.85, 0.7, 4.85, 2.2)
    margins = [k / 20 for k in range(-100, 101)]
    ax.plot(margins, [math.log1p(math.exp(-m)) for m in margins], color=BLUE, linewidth=2.6)
    for margin in (-4, 0, 4):
        value, slope = math.log1p(math.exp(-margin)), -1 / (1 + math.exp(margin))
        ends = [margin - 0.9, margin + 0.9]
        ax.plot(ends, [value + slope * (end - margin) for end in ends], color=VERMILLION, linewidth=2.2)
        ax.plot([margin], [value], "o", color=VERMILLION, markersize=7)
        ax.annotate(
            f"slope {number(slope)}", (margin, value), textcoords="offset points", xytext=(9, 9), fontsize=9.5
        )
    ax.set(xlabel="margin", ylabel="loss, \u2212log \u03c3", xlim=(-5.2, 6), ylim=(-0.3, 5.2))
    ax.grid(alpha=0.25, color=GREY)
    return Picture(
        figure,
        "The curve of minus log sigmoid over the margin. It falls almost straight from 4 at margin -4, slope -0.98, "
        "bends at margin 0, slope -0.5, and is flat and almost 0 at margin 4, slope -0.02.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "two_ways": two_ways(),
        "answer_log_prob": answer_log_prob(),
        "four_log_probs": four_log_probs(),
        "dpo_curve": dpo_curve(),
    }
