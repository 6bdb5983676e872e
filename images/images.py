"""The pictures of lesson 19."""

import torch
from drawing import arrow, box, cells
from matplotlib.patches import Circle, Rectangle
from sklearn.datasets import load_digits

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

PIXELS = [[str(4 * i + j) for j in range(4)] for i in range(4)]


@styled
def scrambled_digits() -> Picture:
    """Draw handwritten digits, and below each its sixteen squares in a new order, the same for all digits."""
    digits = torch.tensor(load_digits().images[:6])
    order = torch.randperm(16, generator=torch.Generator().manual_seed(1))
    squares = digits.unflatten(2, (4, 2)).unflatten(1, (4, 2)).transpose(2, 3).flatten(1, 2)
    moved = squares[:, order].unflatten(1, (4, 4)).transpose(2, 3).flatten(3).flatten(1, 2)
    figure = card(6.0, 2.75, "Six digits, and the same squares in another order")
    for k in range(6):
        for row, image in enumerate((digits[k], moved[k])):
            ax = axes(figure, 0.3 + 0.92 * k, 1.3 - 1.05 * row, 0.8, 0.8)
            ax.pcolormesh(image.tolist(), cmap="Greys", vmin=0, vmax=18)
            ax.set(ylim=(8, 0), xticks=[], yticks=[])
            ax.spines[["top", "right"]].set_visible(True)
            ax.spines[:].set_color(GREY)
            for at in (2, 4, 6):
                ax.plot([at, at], [0, 8], color="#D1D5DB", linewidth=0.7)
                ax.plot([0, 8], [at, at], color="#D1D5DB", linewidth=0.7)
    return Picture(
        figure,
        "The handwritten digits 0 to 5 as images of 8 x 8 pixels, with thin lines that cut each into sixteen "
        "squares. Below each of them the same sixteen squares in another order, the same order for all six. The "
        "digits below cannot be read.",
    )


@styled
def patch_orders() -> Picture:
    """Draw four tokens made of sixteen pixels: squares, stripes and a comb."""
    figure = card(6.0, 3.3, "Three ways to make four tokens of sixteen pixels")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    ways = (
        ("patchify", "squares", GREEN, lambda i, j: 2 * (i // 2) + j // 2),
        ("view(B, 4, 4)", "stripes", VERMILLION, lambda i, j: i),
        ("image[::2, ::2]", "every second pixel", VERMILLION, lambda i, j: 2 * (i % 2) + j % 2),
    )
    for k, (name, kind, colour, token) in enumerate(ways):
        left = 0.4 + 1.9 * k
        fills = [[HEADS[token(i, j)] for j in range(4)] for i in range(4)]
        cells(ax, left, 2.65, PIXELS, fills, width=0.36, height=0.36)
        first = [str(4 * i + j) for i in range(4) for j in range(4) if token(i, j) == 0]
        cells(ax, left, 0.95, [first], [[HEADS[0]] * 4], width=0.36, height=0.36)
        ax.text(left, 1.07, kind, fontsize=9.5, color=GREY, va="center")
        ax.text(left, 0.38, name, fontsize=9.5, fontweight="bold", color=colour, va="center")
    return Picture(
        figure,
        "An image of sixteen pixels, numbered from 0 to 15 row by row, three times; four colours show which pixels "
        "make a token. patchify takes squares: the first token holds 0, 1, 4, 5. view takes stripes: 0, 1, 2, 3. "
        "Slicing with a step takes every second pixel: 0, 2, 8, 10.",
    )


@styled
def patch_axes() -> Picture:
    """Draw the six axes of an image cut into patches, and how they move there and back."""
    figure = card(6.0, 3.5, "Six axes, in another order")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    names = {"B": "B", "C": "C", "i": "H / P", "a": "P", "j": "W / P", "b": "P "}
    told = {
        "i": "row of patches",
        "a": "row in the patch",
        "j": "column of patches",
        "b": "column in the patch",
    }
    fills = {"B": PALE, "C": HEADS[3], "i": HEADS[0], "j": HEADS[0], "a": HEADS[1], "b": HEADS[1]}
    lines = (("image", 2.55, "BCiajb"), ("patches", 1.2, "BijCab"))
    for name, y, order in lines:
        ax.text(0.25, y - 0.2, name, va="center", fontweight="bold")
        cells(ax, 1.15, y, [[names[axis] for axis in order]], [[fills[axis] for axis in order]], width=0.78)
    for k, axis in enumerate(lines[0][2]):
        to = lines[1][2].index(axis)
        arrow(ax, (1.54 + 0.78 * k, 2.12), (1.54 + 0.78 * to, 1.24), GREY, 1.3)
    brackets = (
        (2.62, 2, 2, "H", 1),
        (2.62, 4, 2, "W", 1),
        (0.72, 1, 2, "N", -1),
        (0.72, 3, 3, "features", -1),
    )
    for y, first, count, text, up in brackets:
        left, right = 1.15 + 0.78 * first + 0.08, 1.15 + 0.78 * (first + count) - 0.08
        ax.plot([left, left, right, right], [y, y + 0.07 * up, y + 0.07 * up, y], color=INK, linewidth=1.2)
        ax.text((left + right) / 2, y + 0.2 * up, text, ha="center", va="center", fontsize=9.5)
    ax.text(
        0.25, 0.25, "blue: which patch, orange: where in the patch", fontsize=9.5, color=GREY, va="center"
    )
    return Picture(
        figure,
        "Two lines of six axes with an arrow from each axis above to its place below. The image: B, C, H / P, P, "
        "W / P, P, where two axes each make H and W. The patches: B, H / P, W / P, C, P, P, where the two axes of "
        f"patches make N and the last three make the features of a patch ({', '.join(told.values())}).",
    )


@styled
def conv_as_layer() -> Picture:
    """Draw a kernel on one patch, and the same numbers as a row of a linear layer."""
    figure = card(6.0, 3.4, "A kernel on a patch is a row of a linear layer")
    ax = canvas(figure, 0, 0, 6.0, 3.4)
    first = [[HEADS[0] if i < 2 and j < 2 else PALE for j in range(4)] for i in range(4)]
    cells(ax, 0.3, 2.5, PIXELS, first, width=0.4, height=0.4)
    ax.add_patch(Rectangle((0.3, 1.7), 0.8, 0.8, fill=False, edgecolor=BLUE, linewidth=2.2))
    ax.text(0.3, 0.65, "image", fontsize=9.5, color=GREY)
    ax.text(2.2, 2.68, "kernel", fontsize=9.5, color=GREY, va="center")
    cells(ax, 2.2, 2.5, [["1", "0"], ["0", "\u22122"]], [[HEADS[1]] * 2] * 2, width=0.4, height=0.4)
    ax.text(3.15, 2.1, "stride 2: it is laid on\nfour patches in turn", fontsize=9.5, va="center")
    ax.text(2.2, 1.32, "the same numbers in a row", fontsize=9.5, color=GREY, va="center")
    cells(ax, 2.2, 1.15, [["1", "0", "0", "\u22122"]], [[HEADS[1]] * 4], width=0.4, height=0.4)
    cells(ax, 2.2, 0.65, [["0", "1", "4", "5"]], [[HEADS[0]] * 4], width=0.4, height=0.4)
    ax.text(3.95, 0.95, "weight", fontsize=9.5, va="center")
    ax.text(3.95, 0.45, "patch", fontsize=9.5, va="center")
    ax.text(4.65, 0.7, "0 \u2212 10 = \u221210", fontsize=10.5, fontweight="bold", va="center")
    return Picture(
        figure,
        "An image of 4 x 4 pixels numbered from 0 to 15, its first patch 0, 1, 4, 5 framed. A kernel of 2 x 2 with "
        "the rows 1, 0 and 0, -2. Below, the kernel in a row, 1, 0, 0, -2, over the patch in a row, 0, 1, 4, 5: the"
        " product is 0 - 10 = -10.",
    )


@styled
def vit_flow() -> Picture:
    """Draw the path from an image to logits."""
    figure = card(6.0, 4.55, "A vision transformer")
    ax = canvas(figure, 0, 0, 6.0, 4.55)
    box(ax, 1.35, 3.65, "image", "(B, C, H, W)", GREY, width=1.7)
    box(ax, 1.35, 2.75, "patchify", "(B, N, C P\u00b2)", GREEN, width=1.7)
    box(ax, 1.35, 1.85, "patch_proj", "(B, N, d_model)", ORANGE, width=1.7)
    for y in (3.34, 2.44):
        arrow(ax, (1.35, y), (1.35, y - 0.28))
    left, wide = 0.35, 0.5
    names = ["class", "p 0", "p 1", "p 2", "..."]
    cells(ax, left, 1.1, [names], [[HEADS[3], *[HEADS[1]] * 4]], width=wide)
    arrow(ax, (1.35, 1.54), (1.35, 1.13))
    ax.text(left, 0.5, "+ position_embedding (1, N + 1, d_model)", fontsize=9.5, va="center")
    ax.text(left, 0.25, "class: learned, the same for every image", fontsize=9, color=GREY, va="center")
    arrow(ax, (2.9, 0.9), (4.55, 1.25), bend=0.15)
    box(ax, 4.55, 1.6, "layers", "(B, N + 1, d_model)", BLUE, width=2.0)
    box(ax, 4.55, 2.6, "token 0, norm", "(B, d_model)", PURPLE, width=2.0)
    box(ax, 4.55, 3.6, "head", "logits (B, n_classes)", ORANGE, width=2.0)
    arrow(ax, (4.55, 1.91), (4.55, 2.28))
    arrow(ax, (4.55, 2.91), (4.55, 3.28))
    return Picture(
        figure,
        "Boxes joined by arrows: image (B, C, H, W), patchify (B, N, C P squared), patch_proj (B, N, d_model); then"
        " a row of tokens, first the class token, then the patches; plus position_embedding (1, N + 1, d_model); "
        "layers (B, N + 1, d_model); token 0 alone, normed, (B, d_model); head, logits (B, n_classes).",
    )


@styled
def rollout_paths() -> Picture:
    """Draw two tokens through two layers: every path back to the input, with its share."""
    figure = card(6.0, 3.5, "Follow every path back, and multiply along it")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    x, y = (0.9, 2.75, 4.6), (2.35, 1.05)
    ways = ((0, 0, BLUE, "0.5"), (0, 1, VERMILLION, "0.5"), (1, 1, GREY, "1"))
    for layer in range(2):
        for to, source, colour, share in ways:
            start, end = (x[layer] + 0.27, y[source]), (x[layer + 1] - 0.27, y[to])
            arrow(ax, start, end, colour, 2.0 if share == "0.5" else 1.4)
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
            ax.text(
                middle[0] - (0.12 if to != source else 0),
                middle[1] + 0.19,
                share,
                ha="center",
                va="center",
                fontsize=9.5,
                color=colour,
                fontweight="bold",
            )
    for k, name in enumerate(("input", "after layer 1", "after layer 2")):
        for token in range(2):
            ax.add_patch(Circle((x[k], y[token]), 0.26, facecolor=HEADS[token], edgecolor=GREY, linewidth=1))
            ax.text(x[k], y[token], str(token), ha="center", va="center", fontweight="bold")
        ax.text(x[k], 2.82, name, ha="center", va="center", fontsize=9.5, color=GREY)
    ax.text(4.98, 2.45, "0.25 of 0,\n0.75 of 1", fontsize=9.5, va="center")
    ax.text(4.98, 1.05, "1 of 1", fontsize=9.5, va="center")
    ax.text(
        0.25,
        0.42,
        "0 to 0: 0.5 \u00b7 0.5 = 0.25. 1 to 0: 0.5 \u00b7 1 + 0.5 \u00b7 0.5 = 0.75.",
        fontsize=9.5,
        va="center",
    )
    return Picture(
        figure,
        "Two tokens, 0 and 1, as circles in three columns: input, after layer 1, after layer 2. In each layer token"
        " 0 comes with a share of 0.5 from itself and 0.5 from token 1, and token 1 from itself alone. After two "
        "layers token 0 is 0.25 of 0 and 0.75 of 1, because two paths lead from 1 to 0; token 1 is 1 of 1.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    drawn = (scrambled_digits, patch_orders, patch_axes, conv_as_layer, vit_flow, rollout_paths)
    return {draw.__name__: draw() for draw in drawn}
