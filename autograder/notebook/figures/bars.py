"""One row of attention at a time: how a score becomes a weight, and weights become an average."""

import math

import torch

from autograder.notebook.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    SIGNED,
    SKY,
    VERMILLION,
    Picture,
    axes,
    canvas,
    card,
    number,
    row,
    rows,
    styled,
)


def _bars(ax, values, names, colour, title, top=None, digits=2):
    """Upright bars with their numbers on them, zero line drawn."""
    low, high = min(0, *values), max(0, *values) if top is None else top
    room = 0.16 * (high - low or 1)
    ax.bar(range(len(values)), values, color=colour, width=0.68)
    ax.axhline(0, color=GREY, linewidth=0.8)
    for k, value in enumerate(values):
        ax.text(k, max(value, 0) + room * 0.18, number(value, digits), ha="center", va="bottom", fontsize=9.5)
    ax.set(xlim=(-0.6, len(values) - 0.4), ylim=(low - (room * 0.3 if low < 0 else 0), high + room))
    ax.set_xticks(range(len(values)), names)
    ax.set_yticks([])
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set_title(title, fontsize=10.5, color=INK, pad=8)


def _softmax(values):
    return torch.softmax(torch.tensor(values, dtype=torch.float64), dim=0).tolist()


@styled
def softmax_steps(scores, tokens, title="From scores to weights"):
    """The three steps of softmax for one row: scores, their exponentials, each one's share of the sum."""
    scores = row(scores)
    exps, shares = [math.exp(value) for value in scores], _softmax(scores)
    figure = card(6.05, 3.3, title)
    steps = (
        ("scores", scores, ORANGE),
        ("exp(score):\nall positive", exps, SKY),
        ("weight:\nshare of the sum", shares, BLUE),
    )
    for k, (name, values, colour) in enumerate(steps):
        ax = axes(figure, 0.15 + 1.99 * k, 0.4, 1.75, 1.8)
        _bars(ax, values, tokens, colour, name)
        ax.tick_params(labelsize=9.5)
        if k:
            figure.text((0.02 + 1.99 * k) / 6.05, 0.5, "\u2192", fontsize=16, ha="center", va="center", color=GREY)
    return Picture(
        figure,
        f"{title}, three bar charts over the words {', '.join(tokens)}. Scores: "
        f"{_listed(scores)}; their exponentials: {_listed(exps)}; weights: {_listed(shares)}",
    )


def _listed(values):
    return ", ".join(number(value) for value in values)


@styled
def scales(scores, tokens, factors, title="One row of scores, multiplied before softmax"):
    """The weights of one row when its scores are multiplied by each of the factors."""
    scores, told = row(scores), []
    n_rows = -(-len(factors) // 2)
    figure = card(5.9, 0.6 + 2.3 * n_rows, title)
    for k, (name, factor) in enumerate(factors.items()):
        values = _softmax([value * factor for value in scores])
        told.append(f"{name}: {_listed(values)}")
        left, bottom = 0.3 + 2.8 * (k % 2), 0.4 + 2.3 * (n_rows - 1 - k // 2)
        _bars(axes(figure, left, bottom, 2.5, 1.45), values, tokens, BLUE, name, top=1)
    return Picture(
        figure,
        f"{title}, one bar chart of weights each over the words {', '.join(tokens)}. " + "; ".join(told),
    )


@styled
def weighted_average(weights, values, tokens, query, features, title=""):
    """Every value vector enters the output as much as its weight says: weight times value, added up."""
    weights, values = row(weights), rows(values)
    output = [sum(w * v[e] for w, v in zip(weights, values, strict=True)) for e in range(len(values[0]))]
    n, height = len(tokens), 0.56 * len(tokens) + 1.2
    figure = card(6.05, height, title or f"The output for \u201c{query}\u201d: a weighted average of the values")
    ax = canvas(figure, 0, 0, 6.05, height)
    top, middle = height - 1.3, height - 1.3 - 0.28 * (n - 1)
    high = max(abs(value) for line in values for value in line) or 1
    _headings(ax, top + 0.42)
    for k in range(n):
        y = top - 0.56 * k
        ax.text(0.58, y, tokens[k], ha="right", va="center")
        ax.barh(y, 0.75 * weights[k], left=0.7, height=0.3, color=BLUE)
        ax.text(0.76 + 0.75 * weights[k], y, number(weights[k]), va="center", fontsize=9.5)
        _strip(ax, 1.9, y, values[k], high)
        look = {"linewidth": 0.5 + 5 * weights[k], "alpha": 0.25 + 0.7 * weights[k], "color": BLUE}
        ax.annotate("", (4.06, middle), (3.56, y), arrowprops={"arrowstyle": "-|>"} | look)
    _strip(ax, 4.15, middle, output, high)
    for e, name in enumerate(features):
        ax.text(4.36 + 0.42 * e, middle - 0.3, name, ha="center", va="top", fontsize=8.5, color=GREY)
    told = ", ".join(f"{number(w)} of {token}" for w, token in zip(weights, tokens, strict=True))
    return Picture(
        figure,
        f"The output for the query {query} is a weighted average of the value vectors: {told}, "
        f"added up to ({_listed(output)})",
    )


def _headings(ax, y):
    for x, text in ((0.7, "weight"), (1.9, "value vector"), (4.15, "output: the sum")):
        ax.text(x, y, text, color=GREY, va="center")


def _strip(ax, x, y, values, high):
    """A small row vector as coloured cells."""
    from matplotlib.patches import Rectangle

    for e, value in enumerate(values):
        shade = SIGNED((value / high + 1) / 2)
        dark = 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.55
        ax.add_patch(Rectangle((x + 0.42 * e, y - 0.2), 0.41, 0.4, facecolor=shade, edgecolor=GREY, linewidth=0.6))
        place = (x + 0.205 + 0.42 * e, y)
        ax.text(*place, number(value), ha="center", va="center", fontsize=9, color="white" if dark else INK)


@styled
def one_query(weights, output, tokens, features, query, title=""):
    """One query's weights and the output that they make; the explorers' figure."""
    weights, output = row(weights), row(output)
    figure = card(6.05, 3.2, title or f"What \u201c{query}\u201d listens to, and hears")
    _bars(axes(figure, 0.25, 0.5, 2.85, 1.75), weights, tokens, BLUE, "weights over the words", top=1)
    colours = [GREEN if value >= 0 else VERMILLION for value in output]
    ax = axes(figure, 3.35, 0.5, 2.45, 1.75)
    _bars(ax, output, features, colours, "output, feature by feature")
    ax.set_ylim(-2.3, 2.7)
    told = ", ".join(f"{token} {number(w)}" for token, w in zip(tokens, weights, strict=True))
    return Picture(
        figure, f"{title or 'What ' + query + ' listens to'}. Weights: {told}. Output: {_listed(output)}"
    )
