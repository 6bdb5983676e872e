"""The pictures of lesson 01."""

import math

import torch
from drawing import softmax
from matplotlib.patches import Rectangle

from autograder.notebook import figures
from autograder.notebook.figures.bars import draw_bars
from autograder.notebook.figures.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    SKY,
    Picture,
    axes,
    canvas,
    card,
    listed,
    number,
    row,
    styled,
)
from autograder.notebook.lessons.loops import weighted_average
from autograder.notebook.sentence import FEATURES, TOKENS, embed


@styled
def softmax_steps(scores, tokens, title="From scores to weights") -> Picture:
    """The three steps of softmax for one row: scores, their exponentials, each one's share of the sum."""
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
            figure.text((0.02 + 1.99 * k) / 6.05, 0.5, "\u2192", fontsize=16, ha="center", va="center", color=GREY)
    return Picture(
        figure,
        f"{title}, three bar charts over the words {', '.join(tokens)}. Scores: "
        f"{listed(scores)}; their exponentials: {listed(exps)}; weights: {listed(shares)}",
    )


@styled
def scales(scores, tokens, factors, title="One row of scores, multiplied before softmax") -> Picture:
    """The weights of one row when its scores are multiplied by each of the factors."""
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
        f"{title}, one bar chart of weights each over the words {', '.join(tokens)}. " + "; ".join(told),
    )


@styled
def dot_product(a, b, names, features) -> Picture:
    """Two words multiplied feature by feature, and the products added up."""
    products = [x * y for x, y in zip(a, b, strict=True)]
    figure = card(6.0, 2.85, f"How alike are \u201c{names[0]}\u201d and \u201c{names[1]}\u201d?")
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
    """A number in a frame of the word's colour; a product is filled by its sign."""
    fill = "white" if colour else "#CFE6F5" if value > 0 else "#F9D9BD" if value < 0 else PALE
    ax.add_patch(Rectangle((x, y - 0.22), 0.8, 0.44, facecolor=fill, edgecolor=colour or GREY, linewidth=1.5))
    ax.text(x + 0.4, y, number(value), ha="center", va="center", fontsize=11)


def pictures() -> dict[str, Picture]:
    """Name -> picture."""
    x = embed()
    scores = x @ x.T
    weights = torch.softmax(scores / 2, dim=-1)
    dog, saw, cat = x[1].tolist(), x[2].tolist(), x[4].tolist()
    factors = {"\u00d7 0.1": 0.1, "\u00d7 0.5 (1/\u221a4)": 0.5, "\u00d7 1": 1.0, "\u00d7 3": 3.0}
    return {
        "dot_product_dog_cat": dot_product(dog, cat, ("dog", "cat"), FEATURES),
        "dot_product_dog_saw": dot_product(dog, saw, ("dog", "saw"), FEATURES),
        "score_matrix": figures.scores(scores, TOKENS, title="Every word scored against every word"),
        "softmax_steps": softmax_steps(scores[1] / 2, TOKENS),
        "softmax_scale": scales(scores[1], TOKENS, factors),
        "weighted_average": weighted_average(weights[1], x, TOKENS, "dog", FEATURES),
    }
