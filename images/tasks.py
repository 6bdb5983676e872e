"""The pictures of lesson 16."""

import math

from drawing import arrow, box, cells
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, ORANGE, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled


@styled
def one_answer() -> Picture:
    """Draw the path from the tokens of a padded text to one answer: padding is blocked in the layers and left
    out of the mean.
    """
    figure = card(6.0, 3.7, "One answer for a padded text")
    ax = canvas(figure, 0, 0, 6.0, 3.7)
    words, left = ("a", "fine", "film", "pad", "pad"), 0.9
    x = [left + 0.85 * i for i in range(5)]
    for i, word in enumerate(words):
        real = i < 3
        colour = BLUE if real else GREY
        cells(ax, x[i] - 0.32, 0.75, [[word]], [[HEADS[0] if real else PALE]], width=0.64, height=0.36)
        if real:
            arrow(ax, (x[i], 0.78), (x[i], 1.08), colour, 1.2)
        fill = HEADS[0] if real else PALE
        cells(ax, x[i] - 0.32, 2.02, [["" if real else "\u2715"]], [[fill]], width=0.64, height=0.36)
    box(ax, x[1], 1.36, "layers", width=2.4, height=0.5)
    ax.text(
        x[3] + 0.42, 1.36, "padding: blocked\nas a key", ha="center", va="center", fontsize=9.5, color=GREY
    )
    box(ax, x[1], 2.55, "mean", colour=GREEN, width=1.3, height=0.44)
    for i in range(3):
        arrow(ax, (x[i], 2.04), (x[1] + 0.3 * (i - 1), 2.32), GREEN, 1.2)
    ax.text(
        x[3] + 0.42, 2.36, "and left out of\nthe mean", ha="center", va="center", fontsize=9.5, color=GREY
    )
    box(ax, x[3] + 0.42, 2.95, "head", colour=ORANGE, width=0.95, height=0.44)
    arrow(ax, (x[1] + 0.66, 2.6), (x[3] - 0.08, 2.92), GREEN, 1.4)
    return Picture(
        figure,
        "Five tokens, two of them padding. The three real ones go through the layers, where padding is blocked as a "
        "key; the mean runs over the three real outputs only and goes to the head, which gives one answer.",
    )


@styled
def known_and_held_out() -> Picture:
    """Draw a series whose level rises: mean and standard deviation of the known part, and those of the
    whole."""
    figure = card(6.0, 3.3, "Mean and spread of what is known")
    ax = axes(figure, 0.55, 0.75, 5.1, 1.9)
    series = [math.sin(t / 3) + (0 if t < 60 else (t - 60) / 12) for t in range(90)]
    means = [sum(series[:60]) / 60, sum(series) / 90]
    ax.axvspan(60, 89, color=HEADS[1], alpha=0.6, linewidth=0)
    ax.plot(series[:61], color=BLUE, linewidth=1.6)
    ax.plot(range(60, 90), series[60:], color=ORANGE, linewidth=1.6)
    ax.plot([0, 59], [means[0]] * 2, color=BLUE, linewidth=1.4, linestyle="--")
    ax.plot([0, 89], [means[1]] * 2, color=VERMILLION, linewidth=1.4, linestyle=":")
    ax.text(
        2, 1.75, "mean of everything:\nit has seen the future", color=VERMILLION, fontsize=9.5, va="center"
    )
    ax.text(30, -1.55, "known", color=BLUE, fontsize=9.5, ha="center", va="center")
    ax.text(75, -1.55, "held out", color="#9A6700", fontsize=9.5, ha="center", va="center")
    ax.set(xlabel="time", yticks=[0], xticks=[], ylim=(-1.9, 3.6), xlim=(0, 89))
    return Picture(
        figure,
        "A wave that rises in its last third, which is held out. A dashed line shows the mean of the known part, near "
        "0. A dotted line, the mean of the whole series, lies above it: it has seen the future.",
    )


@styled
def cut_windows() -> Picture:
    """Draw the series 1 to 6 cut into windows of three with two values ahead."""
    figure = card(6.0, 3.0, "Windows of three, two values ahead")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    left, wide = 1.6, 0.6
    names = ("the series", "example 0", "example 1")
    for line, name in enumerate(names):
        y = 2.25 - 0.62 * line
        ax.text(left - 0.15, y - 0.2, name, ha="right", va="center", fontsize=9.5)
        begin = line - 1
        for i in range(6):
            if line and not begin <= i < begin + 5:
                continue
            fill = PALE if line == 0 else HEADS[0] if i < begin + 3 else HEADS[1]
            cells(ax, left + wide * i, y, [[str(i + 1)]], [[fill]], width=wide)
    for k, (name, fill) in enumerate((("input", HEADS[0]), ("target", HEADS[1]))):
        ax.add_patch(Rectangle((left + 1.3 * k, 0.28), 0.25, 0.22, facecolor=fill))
        ax.text(left + 0.33 + 1.3 * k, 0.39, name, va="center", fontsize=9.5)
    return Picture(
        figure,
        "The series 1 to 6 and its two examples. Example 0: the input is 1, 2, 3 and the target 4, 5. Example 1: the "
        "input is 2, 3, 4 and the target 5, 6. The two overlap in four of their five values.",
    )


@styled
def two_splits() -> Picture:
    """Draw two choices of test examples: at random, among their neighbours, or the last ones, after all
    others.
    """
    figure = card(6.0, 2.9, "Which examples are held out?")
    ax = canvas(figure, 0, 0, 6.0, 2.9)
    chosen = {2, 7, 11, 14, 19, 22}
    for line, (name, note, held) in enumerate(
        (
            ("shuffled", "each one lies between two that were trained on", chosen),
            ("the end", "all of them come later than what was trained on", set(range(18, 24))),
        )
    ):
        y = 2.1 - 0.95 * line
        ax.text(0.35, y, name, va="center", fontsize=9.5, fontweight="bold")
        for i in range(24):
            colour = ORANGE if i in held else HEADS[0]
            ax.add_patch(Rectangle((1.35 + 0.18 * i, y - 0.13), 0.15, 0.28, facecolor=colour))
        ax.text(1.35, y - 0.34, note, va="center", fontsize=9.5, color=GREY)
    for k, (name, fill) in enumerate((("trained on", HEADS[0]), ("tested on", ORANGE))):
        ax.add_patch(Rectangle((1.35 + 1.5 * k, 0.28), 0.15, 0.22, facecolor=fill))
        ax.text(1.6 + 1.5 * k, 0.39, name, va="center", fontsize=9.5)
    return Picture(
        figure,
        "Two rows of 24 examples in the order of time. Shuffled: the six that are tested on lie between others that "
        "were trained on. The end: the six that are tested on are the last ones, later than all others.",
    )


@styled
def numbers_as_tokens() -> Picture:
    """Draw a window of numbers on its way to the next value, read at its last token."""
    figure = card(6.0, 3.85, "From a window of numbers to the next one")
    ax = canvas(figure, 0, 0, 6.0, 3.85)
    numbers, left, step = ("5", "11", "16", "23"), 1.65, 0.88
    x = [left + step * i for i in range(4)]
    ax.text(0.25, 0.6, "window", va="center", fontsize=9.5)
    ax.text(0.25, 1.32, "input_proj\n+ position", va="center", fontsize=9.5)
    for i, value in enumerate(numbers):
        cells(ax, x[i] - 0.32, 0.8, [[value]], [[PALE]], width=0.64)
        for k in range(3):
            cells(ax, x[i] - 0.32, 1.63 - 0.2 * k, [[""]], [[HEADS[0]]], width=0.64, height=0.2)
        arrow(ax, (x[i], 0.83), (x[i], 1.02), GREY, 1.2)
        arrow(ax, (x[i], 1.65), (x[i], 1.9), GREY, 1.2)
    box(
        ax,
        (x[0] + x[3]) / 2,
        2.17,
        "layers, norm",
        "every token attends to every other",
        width=3.8,
        height=0.52,
    )
    ax.text(0.25, 2.95, "only the last\nis read", va="center", fontsize=9.5)
    for i in range(4):
        fill = HEADS[0] if i == 3 else PALE
        for k in range(3):
            cells(ax, x[i] - 0.32, 3.27 - 0.2 * k, [[""]], [[fill]], width=0.64, height=0.2)
        arrow(ax, (x[i], 2.45), (x[i], 2.66), GREY, 1.2)
    arrow(ax, (x[3] + 0.34, 2.97), (x[3] + 0.62, 2.97), ORANGE, 1.6)
    ax.text(x[3] + 0.66, 2.97, "head: 36", va="center", fontsize=9.5, color="#9A6700", fontweight="bold")
    return Picture(
        figure,
        "Four numbers, 5, 11, 16, 23. Each becomes a column of features by input_proj, and its position is added. They "
        "go through layers in which every token attends to every other. Only the last column is read: the head "
        "makes the forecast of it, 36.",
    )


@styled
def three_parts() -> Picture:
    """Draw the years for training, for choosing and for testing, and those used for training after the
    choice.
    """
    figure = card(6.0, 2.75, "Three parts: learn, choose, test")
    ax = canvas(figure, 0, 0, 6.0, 2.75)
    marks = (1700, 1909, 1949, 2009)
    at = {year: 0.45 + 5.1 * (year - 1700) / 309 for year in marks}
    for y, note, parts in (
        (1.8, "first: how many steps?", ((1700, 1909, "learn", HEADS[0]), (1909, 1949, "choose", HEADS[2]))),
        (0.85, "then, with that choice:", ((1700, 1949, "learn", HEADS[0]), (1949, 2009, "test", HEADS[1]))),
    ):
        ax.text(0.45, y + 0.32, note, va="center", fontsize=9.5, color=GREY)
        ax.add_patch(Rectangle((0.45, y - 0.2), 5.1, 0.36, facecolor=PALE))
        if parts[-1][1] == 1949:
            ax.text(at[1949] + 0.49, y - 0.02, "untouched", ha="center", va="center", fontsize=9, color=GREY)
        for begin, end, name, fill in parts:
            wide = at[end] - at[begin]
            ax.add_patch(
                Rectangle((at[begin], y - 0.2), wide, 0.36, facecolor=fill, edgecolor="white", linewidth=1.5)
            )
            ax.text(at[begin] + wide / 2, y - 0.02, name, ha="center", va="center", fontsize=9.5)
    for year in marks:
        ax.text(at[year], 0.42, str(min(year, 2008)), ha="center", va="center", fontsize=9.5)
    return Picture(
        figure,
        "A line of years, twice. First: learn from 1700 to 1908, choose the number of steps by 1909 to 1948; the rest "
        "is not touched. Then, with that choice: learn from 1700 to 1948, and test, once, on 1949 to 2008.",
    )


@styled
def fed_back() -> Picture:
    """Draw three steps of a forecast whose model is the sum of the last two values: 1, 2, then 3, 5, 8."""
    figure = card(6.0, 3.35, "Each forecast becomes an input")
    ax = canvas(figure, 0, 0, 6.0, 3.35)
    values, left, wide = (1, 2, 3, 5, 8), 1.5, 0.62
    for line in range(3):
        y = 2.6 - 0.68 * line
        ax.text(left - 0.2, y - 0.2, f"step {line + 1}", ha="right", va="center", fontsize=9.5)
        for i in range(line + 3):
            fill = HEADS[0] if i < 2 else HEADS[1]
            cells(ax, left + wide * i, y, [[str(values[i])]], [[fill]], width=wide)
        ax.add_patch(
            Rectangle((left + wide * line, y - 0.4), 2 * wide, 0.4, fill=False, edgecolor=BLUE, linewidth=2.2)
        )
    for k, (name, fill) in enumerate((("known", HEADS[0]), ("forecast", HEADS[1]))):
        ax.add_patch(Rectangle((left + 1.3 * k, 0.28), 0.25, 0.22, facecolor=fill))
        ax.text(left + 0.33 + 1.3 * k, 0.39, name, va="center", fontsize=9.5)
    ax.add_patch(Rectangle((left + 2.75, 0.28), 0.25, 0.22, fill=False, edgecolor=BLUE, linewidth=2.2))
    ax.text(left + 3.08, 0.39, "window", va="center", fontsize=9.5)
    return Picture(
        figure,
        "Three steps of a forecast whose model adds the last two values. The window holds 1, 2 and gives 3; then 2, 3 "
        "gives 5; then 3, 5, both forecasts, gives 8.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    drawn = (
        one_answer,
        known_and_held_out,
        cut_windows,
        two_splits,
        numbers_as_tokens,
        three_parts,
        fed_back,
    )
    return {draw.__name__: draw() for draw in drawn}
