"""The pictures of lesson 01."""

import math

import torch
from drawing import softmax
from matplotlib.patches import Arc, Rectangle

from autograder.notebook.figures.bars import draw_bars
from autograder.notebook.figures.palette import BLUE, GREY, INK, ORANGE, PALE, SIGNED, SKY
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.tables import draw_table, spelled
from autograder.notebook.figures.words import listed, number, row, rows
from autograder.notebook.lessons.loops import weighted_average
from autograder.notebook.sentence import FEATURES, TOKENS, embed


@styled
def softmax_steps(scores, tokens, title="From scores to weights") -> Picture:
    """Draw the three steps of softmax for one row: scores, their exponentials, each one's share of the
    sum."""
    scores = row(scores)
    exps, shares = [math.exp(value) for value in scores], softmax(scores)
    figure = card(6.05, 3.3, title)
    steps = (
        ("scores", scores, ORANGE),
        ("exp(score):\nall positive", exps, SKY),
        ("weight:\nshare of the sum", shares, BLUE),
    )
    for k, (name, values, colour) in enumerate(steps):
        ax = axes(figure, 0.15 + 1.99 * k, 0.4, 1.75, 1.8)
        draw_bars(ax, values, tokens, colour, name)
        ax.tick_params(labelsize=9.5)
        if k:
            figure.text(
                (0.02 + 1.99 * k) / 6.05, 0.5, "\u2192", fontsize=16, ha="center", va="center", color=GREY
            )
    return Picture(
        figure,
        f"{title}, three bar charts over the tokens {', '.join(tokens)}. Scores: "
        f"{listed(scores)}; their exponentials: {listed(exps)}; weights: {listed(shares)}",
    )


@styled
def scales(scores, tokens, factors, title="One row of scores, multiplied before softmax") -> Picture:
    """Draw the weights of one row when its scores are multiplied by each of the factors."""
    scores, told = row(scores), []
    n_rows = -(-len(factors) // 2)
    figure = card(5.9, 0.6 + 2.3 * n_rows, title)
    for k, (name, factor) in enumerate(factors.items()):
        values = softmax([value * factor for value in scores])
        told.append(f"{name}: {listed(values)}")
        left, bottom = 0.3 + 2.8 * (k % 2), 0.4 + 2.3 * (n_rows - 1 - k // 2)
        draw_bars(axes(figure, left, bottom, 2.5, 1.45), values, tokens, BLUE, name, top=1)
    return Picture(
        figure,
        f"{title}, one bar chart of weights each over the tokens {', '.join(tokens)}. " + "; ".join(told),
    )


@styled
def dot_product(a, b, names, features) -> Picture:
    """Draw two words multiplied feature by feature, and the products added up."""
    products = [x * y for x, y in zip(a, b, strict=True)]
    figure = card(6.0, 2.85, f"\u201c{names[0]}\u201d times \u201c{names[1]}\u201d, feature by feature")
    ax = canvas(figure, 0, 0, 6.0, 2.85)
    lines = ((names[0], a, BLUE), (names[1], b, ORANGE), ("product", products, None))
    for i, (name, values, colour) in enumerate(lines):
        y = 1.7 - 0.6 * i
        ax.text(1.05, y, name, ha="right", va="center", fontweight="bold", color=INK)
        for e, value in enumerate(values):
            _number_cell(ax, 1.2 + 0.88 * e, y, value, colour)
            if i == 0:
                ax.text(1.6 + 0.88 * e, y + 0.42, features[e], ha="center", va="center", color=GREY)
    ax.text(4.78, 0.5, f"sum = {number(sum(products))}", va="center", fontsize=12, fontweight="bold")
    told = " + ".join(f"({number(x)} times {number(y)})" for x, y in zip(a, b, strict=True))
    return Picture(
        figure,
        f"The words {names[0]} and {names[1]} multiplied feature by feature: {told} "
        f"= {number(sum(products))}",
    )


def _number_cell(ax, x, y, value, colour):
    """Draw a number in a frame of the word's colour; a product is filled by its sign."""
    fill = "white" if colour else "#CFE6F5" if value > 0 else "#F9D9BD" if value < 0 else PALE
    ax.add_patch(Rectangle((x, y - 0.22), 0.8, 0.44, facecolor=fill, edgecolor=colour or GREY, linewidth=1.5))
    ax.text(x + 0.4, y, number(value), ha="center", va="center", fontsize=11)


@styled
def lengths_and_angles(pairs) -> Picture:
    """Draw pairs of vectors, each (names, a, b), as two arrows with their lengths, angle and dot product.

    Two vectors of any width lie in one plane, so lengths and angle are drawn to scale.
    """
    figure = card(6.05, 3.1, "Length and angle: both count")
    ax, told = canvas(figure, 0, 0, 6.05, 3.1), []
    for k, (names, a, b) in enumerate(pairs):
        dot, long_a, long_b = sum(x * y for x, y in zip(a, b, strict=True)), math.hypot(*a), math.hypot(*b)
        angle = math.degrees(math.acos(min(1.0, dot / (long_a * long_b))))
        x, y = 0.45 + 1.9 * k + (0.4 if angle > 90 else 0), 1.28
        _arrow_of_length(ax, x, y, 0, long_a, names[0], BLUE, 0.07 if angle < 1 else 0)
        _arrow_of_length(ax, x, y, angle, long_b, names[1], ORANGE, -0.07 if angle < 1 else 0)
        if angle >= 1:
            ax.add_patch(Arc((x, y), 0.5, 0.5, theta1=0, theta2=angle, color=GREY, linewidth=1.2))
        text = f"{number(long_a)} \u00b7 {number(long_b)} \u00b7 cos {angle:.0f}\u00b0"
        ax.text(1.02 + 1.9 * k, 0.62, text, ha="center", va="center", fontsize=9.5, color=GREY)
        ax.text(
            1.02 + 1.9 * k, 0.32, f"= {number(dot)}", ha="center", va="center", fontsize=12, fontweight="bold"
        )
        told.append(
            f"{names[0]} of length {number(long_a)} and {names[1]} of length {number(long_b)} at an angle of "
            f"{angle:.0f} degrees, dot product {number(dot)}"
        )
    return Picture(figure, f"Three pairs of arrows: {'; '.join(told)}.")


def _arrow_of_length(ax, x, y, angle, length, name, colour, aside):
    """Draw an arrow from (x, y), with its name at the tip; `aside` moves the tip where another arrow would
    cover it.
    """
    turn, size = math.radians(angle), 0.42 * length
    tip = x + size * math.cos(turn), y + size * math.sin(turn) + aside
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.4, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tip, (x, y + aside), arrowprops=style)
    place = (tip[0], tip[1] + (0.16 if aside >= 0 else -0.17))
    ax.text(*place, name, ha="center", va="center", fontsize=10, color=INK, fontweight="bold")


@styled
def scores_to_fill(scores, tokens, blank) -> Picture:
    """Draw the score matrix without one row, which is for the reader to fill in."""
    n, scores = len(tokens), rows(scores)
    figure = card(2.0 + 0.72 * n, 0.5 * n + 1.45, "Every token scored against every token")
    ax = axes(figure, 1.4, 0.3, n * 0.72, n * 0.5)
    high = max(abs(value) for line in scores for value in line)
    draw_table(ax, scores, tokens, tokens, SIGNED, -high, high)
    look = {"facecolor": "white", "edgecolor": GREY, "linewidth": 1, "linestyle": "--", "zorder": 4}
    for j in range(n):
        ax.add_patch(Rectangle((j, blank), 1, 1, **look))
        ax.text(j + 0.5, blank + 0.5, "?", ha="center", va="center", fontsize=12, color=GREY, zorder=5)
    ax.set_xlabel("key (attended to)", color=GREY, labelpad=6)
    ax.set_ylabel("query (attends)", color=GREY, labelpad=6)
    given = [k for k in range(n) if k != blank]
    told = spelled([scores[k] for k in given], [tokens[k] for k in given])
    return Picture(
        figure, f"A score matrix, one row per query, one column per key. {told}; {tokens[blank]}: left open"
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    x = embed()
    scores = x @ x.T
    weights = torch.softmax(scores / 2, dim=-1)
    the, dog, saw, _, cat = x.tolist()
    pairs = ((("the", "the"), the, the), (("dog", "cat"), dog, cat), (("dog", "saw"), dog, saw))
    factors = {"\u00d7 0.1": 0.1, "\u00d7 0.5 (1/\u221a4)": 0.5, "\u00d7 1": 1.0, "\u00d7 3": 3.0}
    return {
        "dot_product_dog_cat": dot_product(dog, cat, ("dog", "cat"), FEATURES),
        "dot_product_dog_saw": dot_product(dog, saw, ("dog", "saw"), FEATURES),
        "lengths_and_angles": lengths_and_angles(pairs),
        "score_matrix": scores_to_fill(scores, TOKENS, blank=1),
        "softmax_steps": softmax_steps(scores[1] / 2, TOKENS),
        "softmax_scale": scales(scores[1], TOKENS, factors),
        "weighted_average": weighted_average(weights[1], x, TOKENS, "dog", FEATURES),
    }
