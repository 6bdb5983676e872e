"""The pictures of lesson 15."""

import math

from drawing import arrow, box, cells, squares
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, ORANGE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.words import number
from autograder.notebook.sentence import TOKENS, embed

LIGHT = "#D1D5DB"


@styled
def two_parts() -> Picture:
    """Draw the five scores of *cat* in two parts, the sum of exponentials of each, and the share of each."""
    x = embed()
    scores = (x[4] @ x.T / math.sqrt(4)).tolist()
    parts, colours = ((0, 1), (2, 3, 4)), (BLUE, ORANGE)
    sums = [sum(math.exp(scores[j]) for j in part) for part in parts]
    figure = card(6.0, 3.6, "Cat attends in two parts")
    ax = canvas(figure, 0, 0, 6.0, 3.6)
    for part, total, colour, fill, left, name in zip(parts, sums, colours, HEADS, (0.7, 3.0), "ab"):
        line = [f"{number(scores[j])}" for j in part]
        cells(ax, left, 2.62, [line], [[fill] * len(part)], width=0.75)
        for k, j in enumerate(part):
            ax.text(
                left + 0.75 * (k + 0.5), 2.78, TOKENS[j], ha="center", va="center", fontsize=9.5, color=GREY
            )
        middle = left + 0.375 * len(part)
        ax.text(middle, 2.0, f"sum of exp: {total:.2f}", ha="center", va="center", fontsize=9.5)
        box(ax, middle, 1.5, f"output $o_{name}$", colour=colour)
        arrow(ax, (middle, 1.17), (2.9 + 0.3 * (1 if middle > 2.9 else -1), 0.72), colour)
        share = f"{total / sum(sums):.2f} of it"
        side = -1 if middle < 2.9 else 1
        ax.text(2.9 + side * 1.4, 0.9, share, ha="center", va="center", fontsize=9.5, color=INK)
    ax.text(0.6, 2.42, "scores", ha="right", va="center", fontsize=9.5, color=GREY)
    box(ax, 2.9, 0.42, "one output", colour=GREEN, width=1.4, height=0.5)
    told = " and ".join(f"{total:.2f}" for total in sums)
    return Picture(
        figure,
        "The five scores of cat in two parts: those with the first two words and those with the last three. The sums "
        f"of exponentials are {told}. Each part has an output, and one output is made of both by the shares "
        f"{sums[0] / sum(sums):.2f} and {sums[1] / sum(sums):.2f}.",
    )


@styled
def table_or_tiles() -> Picture:
    """Draw the whole table of scores, and one block of its columns with the running results."""
    figure = card(6.0, 3.75, "The whole table, or a block of keys at a time")
    ax = canvas(figure, 0, 0, 6.0, 3.75)
    size, top = 0.22, 2.72
    for left, name in ((0.45, "table"), (2.85, "tiles")):
        colours = {(i, j): HEADS[1] for i in range(8) for j in range(8)}
        if name == "tiles":
            colours = {
                (i, j): (LIGHT if j < 4 else HEADS[0] if j < 6 else "white")
                for i in range(8)
                for j in range(8)
            }
        squares(ax, left, top, 8, 8, size, colours)
        ax.add_patch(
            Rectangle((left, top - 8 * size), 8 * size, 8 * size, fill=False, edgecolor=GREY, linewidth=0.8)
        )
        ax.text(left + 4 * size, 0.78, "keys", ha="center", va="center", fontsize=9.5, color=GREY)
        ax.text(
            left - 0.14,
            top - 4 * size,
            "queries",
            rotation=90,
            ha="center",
            va="center",
            fontsize=9.5,
            color=GREY,
        )
    ax.add_patch(
        Rectangle(
            (2.85 + 4 * size, top - 8 * size), 2 * size, 8 * size, fill=False, edgecolor=BLUE, linewidth=2.2
        )
    )
    ax.text(0.45, 2.95, "all scores at once", fontsize=9.5, va="center", fontweight="bold")
    ax.text(2.85, 2.95, "done", fontsize=9.5, va="center", color=GREY)
    ax.text(
        2.85 + 5 * size, 2.95, "now", fontsize=9.5, va="center", ha="center", fontweight="bold", color=BLUE
    )
    ax.text(2.85 + 7.2 * size, 2.95, "later", fontsize=9.5, va="center", ha="center", color=GREY)
    for left, wide, name in ((4.8, 1, "m"), (5.07, 1, "z"), (5.34, 2, "o")):
        squares(ax, left, top, 8, wide, size, fill=HEADS[2])
        ax.text(left + wide * size / 2, 2.95, f"${name}$", ha="center", va="center", fontsize=10.5, color=INK)
    ax.text(5.28, 0.78, "carried along", ha="center", va="center", fontsize=9.5, color=GREEN)
    ax.text(0.45, 0.38, "memory: N times N", fontsize=9.5, va="center")
    ax.text(2.85, 0.38, "memory: N times block, plus N rows", fontsize=9.5, va="center")
    return Picture(
        figure,
        "Two tables of queries by keys. Left, all scores are held at once, N times N. Right, the keys come in blocks: "
        "the blocks that are done are forgotten, one block is held now, the others come later; beside it three columns "
        "m, z and o are carried along, one row per query.",
    )


@styled
def running_sum() -> Picture:
    """Draw the running sum of exponentials for the scores 1, 3 and 5: each larger score shrinks the terms
    before it.
    """
    figure = card(6.0, 3.4, "A larger score comes: everything before it shrinks")
    ax = axes(figure, 0.7, 0.75, 4.9, 1.85)
    colours, scores = (BLUE, ORANGE, GREEN), (1, 3, 5)
    for step in range(3):
        largest, bottom = scores[step], 0.0
        for k in range(step + 1):
            part = math.exp(scores[k] - largest)
            ax.bar(step, part, bottom=bottom, color=colours[k], width=0.5)
            bottom += part
        ax.text(step, bottom + 0.05, f"{bottom:.3f}", ha="center", va="bottom", fontsize=10)
    ax.set_xticks(range(3), [f"score {score}:\nthe largest is {score}" for score in scores])
    ax.set(ylim=(0, 1.4), ylabel="sum of exp")
    ax.tick_params(axis="x", length=0)
    ax.text(0.5, 0.6, "the part\nof score 1", color=BLUE, fontsize=9.5, ha="center", va="center")
    arrow(ax, (0.56, 0.46), (0.74, 0.12), BLUE, 1.2)
    return Picture(
        figure,
        "Three stacked bars, the sum of exponentials after the scores 1, 3 and 5, each measured with the largest score "
        "so far: 1.000, then 1.135, then 1.154. With every larger score, the parts of the earlier ones shrink.",
    )


@styled
def backward_in_tiles() -> Picture:
    """Draw one block of keys in the backward pass: what each query contributes, and where the gradients
    go."""
    figure = card(6.0, 3.9, "The way back, a block of keys at a time")
    ax = canvas(figure, 0, 0, 6.0, 3.9)
    size, left, top = 0.22, 2.3, 2.75
    stages = [LIGHT] * 4 + [HEADS[0]] * 2 + ["white"] * 2
    colours = {(i, j): stages[j] for i in range(8) for j in range(8)}
    squares(ax, left, top, 8, 8, size, colours)
    for x, name in ((1.15, "$\\ell$"), (1.65, "$\\delta$")):
        squares(ax, x, top, 8, 1, size, fill=HEADS[2])
        ax.text(x + size / 2, top + 0.15, name, ha="center", va="center", fontsize=11)
    squares(ax, 4.75, top, 8, 2, size, fill=HEADS[1])
    ax.text(4.75 + size, top + 0.15, "gradient of q", ha="center", va="center", fontsize=9.5)
    squares(ax, left, 0.66, 2, 8, size, {(i, j): stages[j] for i in range(2) for j in range(8)})
    for bottom, height in ((top - 8 * size, 8 * size), (0.22, 2 * size)):
        ax.add_patch(Rectangle((left, bottom), 8 * size, height, fill=False, edgecolor=GREY, linewidth=0.8))
    ax.text(left - 0.12, 0.44, "gradients of k and v", ha="right", va="center", fontsize=9.5)
    ax.text(left + 4 * size, top + 0.15, "weights", ha="center", va="center", fontsize=9.5)
    ax.text(0.3, top - 4 * size, "one\nper\nquery", va="center", fontsize=9.5, color=GREY)
    middle = top - 4 * size
    arrow(ax, (left + 8 * size + 0.08, middle), (4.68, middle), BLUE)
    ax.text(4.4, middle + 0.2, "added", ha="center", va="center", fontsize=9, color=GREY)
    arrow(ax, (left + 5 * size, top - 8 * size - 0.04), (left + 5 * size, 0.72), BLUE)
    return Picture(
        figure,
        "A table of eight queries by eight keys. Four columns are done and forgotten, two are in hand, two come later. "
        "To the left two columns, the logsumexp and the inner product, one number per query. To the right the gradient "
        "of q, to which every block adds. Below it the gradients of k and v, of which each block fills its own part.",
    )


@styled
def window_reach() -> Picture:
    """Draw what the last token of the top layer can reach through three layers with a window of three."""
    figure = card(6.0, 3.75, "Three layers, each with a window of three")
    ax = canvas(figure, 0, 0, 6.0, 3.75)
    count, step, low, high = 9, 0.55, 0.75, 0.72
    reach = {3: {8}}
    for layer in (2, 1, 0):
        reach[layer] = {j - back for j in reach[layer + 1] for back in range(3) if j - back >= 0}
    x = [0.95 + step * j for j in range(count)]
    for layer in range(3, 0, -1):
        for j in sorted(reach[layer]):
            for back in range(3):
                start, end = (x[j - back], low + high * (layer - 1)), (x[j], low + high * layer)
                ax.plot(*zip(start, end), color=BLUE, linewidth=1.3, alpha=0.55, zorder=1)
    for layer in range(4):
        for j in range(count):
            inside = j in reach[layer]
            colour = VERMILLION if layer == 3 and inside else BLUE if inside else LIGHT
            ax.plot([x[j]], [low + high * layer], "o", color=colour, markersize=11, zorder=2)
        ax.text(
            0.55,
            low + high * layer,
            f"{layer}" if layer else "in",
            ha="center",
            va="center",
            fontsize=9.5,
            color=GREY,
        )
    for j in range(count):
        far = x[-1] - x[j]
        ax.text(x[j], 0.4, f"{round(far / step)}", ha="center", va="center", fontsize=9.5, color=GREY)
    ax.text(0.55, 0.4, "back", ha="center", va="center", fontsize=9.5, color=GREY)
    ax.text(0.55, low + high * 3 + 0.25, "layer", ha="center", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "Nine tokens in three layers, each layer with a window of three. Lines go from the last token of the top layer "
        "down: to 3 tokens of the layer below, to 5 of the next, to 7 of the input. The two tokens that are 7 and 8 "
        "back are not reached.",
    )


@styled
def carried_state() -> Picture:
    """Draw a cache that grows with the text, next to two sums that do not."""
    figure = card(6.0, 3.6, "What is kept while a text is written")
    ax = canvas(figure, 0, 0, 6.0, 3.6)
    for line, (name, y) in enumerate((("softmax: a cache", 2.45), ("linear: two sums", 1.05))):
        ax.text(0.3, y, name.replace(": ", ":\n"), va="center", fontsize=9.5, fontweight="bold")
        for step in range(4):
            left = 1.55 + 1.12 * step
            if line == 0:
                squares(ax, left, y + 0.3, 2, step + 1, 0.2, fill=HEADS[1])
            else:
                squares(ax, left, y + 0.3, 3, 3, 0.2, fill=HEADS[0])
                squares(ax, left + 0.66, y + 0.3, 3, 1, 0.2, fill=HEADS[2])
            if step < 3 and line:
                arrow(ax, (left + 0.88, y), (left + 1.1, y), GREY, 1.2)
    ax.text(1.55, 2.87, "keys and values, one column per token", va="center", fontsize=9.5, color=GREY)
    ax.text(1.55, 1.52, "$S$ and $z$, always of the same size", va="center", fontsize=9.5, color=GREY)
    for step in range(4):
        ax.text(1.55 + 1.12 * step, 0.42, f"token {step + 1}", va="center", fontsize=9.5, color=INK)
    return Picture(
        figure,
        "What is kept after each of four tokens. With softmax: a cache of keys and values that is one column longer "
        "with every token. With linear attention: a square S and a column z, of the same size after every token.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "two_parts": two_parts(),
        "table_or_tiles": table_or_tiles(),
        "running_sum": running_sum(),
        "backward_in_tiles": backward_in_tiles(),
        "window_reach": window_reach(),
        "carried_state": carried_state(),
    }
