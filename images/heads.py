"""The pictures of lesson 04."""

import torch
from drawing import NAMES, arrow, box, cells
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, ORANGE, PURPLE, VERMILLION
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.figures.words import number, rows
from autograder.notebook.sentence import TOKENS, embed

WORDS = ("#E5E7EB", "#CFE6F5", "#FBE3B5", "#C9EBDD", "#F4D9E7")
PALE_OF = {BLUE: HEADS[0], ORANGE: HEADS[1], GREEN: HEADS[2]}


@styled
def reshaping(x, tokens, n_heads=2) -> Picture:
    """Draw how queries (N, d_model) are split into H tables (N, d_head) and merged again, with the sentence's
    numbers.
    """
    x = rows(x)
    n, d_model = len(x), len(x[0])
    d_head, wide, top = d_model // n_heads, 0.46, 3.0
    figure = card(6.0, 4.2, f"The queries of {n_heads} heads: split, and merged again")
    ax = canvas(figure, 0, 0, 6.0, 4.2)
    texts = [[number(value) for value in line] for line in x]
    cells(ax, 0.52, top, texts, [[HEADS[j // d_head] for j in range(d_model)] for _ in x], wide)
    _words(ax, 0.46, top, tokens)
    columns = [str(j) for j in range(d_model)]
    _features(ax, 0.52, top, columns, wide)
    ax.text(
        0.52 + wide * d_model / 2, top + 0.42, "x @ w_query", ha="center", fontweight="bold", fontsize=9.5
    )
    ax.text(0.52 + wide * d_model / 2, top - 0.4 * n - 0.3, "(N, d_model) = (5, 4)", ha="center", color=GREY)
    for y, start, end, name in ((2.35, 2.46, 3.3, "split_heads"), (1.75, 3.3, 2.46, "merge_heads")):
        arrow(ax, (start, y), (end, y))
        ax.text(2.88, y + (0.15 if start < end else -0.28), name, ha="center", fontweight="bold", fontsize=9)
    for h in range(n_heads):
        left, mine = 3.82 + 1.1 * h, slice(h * d_head, (h + 1) * d_head)
        cells(ax, left, top, [line[mine] for line in texts], [[HEADS[h]] * d_head for _ in x], wide)
        _features(ax, left, top, columns[:d_head], wide)
        middle = left + wide * d_head / 2
        ax.text(middle, top + 0.42, f"head {h}", ha="center", color=NAMES[h], fontweight="bold")
    _words(ax, 3.76, top, tokens)
    ax.text(4.83, top - 0.4 * n - 0.3, "(H, N, d_head) = (2, 5, 2)", ha="center", color=GREY)
    note = "Every head has a row for every token, and its own share of the columns."
    ax.text(0.25, 0.3, note, color=GREY, fontsize=9.5)
    shares = (", ".join(columns[h * d_head : (h + 1) * d_head]) for h in range(n_heads))
    told = "; ".join(f"head {h}: columns {share}" for h, share in enumerate(shares))
    return Picture(
        figure,
        f"Left, the queries x @ w_query, a table of {n} tokens and {d_model} columns, shape (N, d_model). split_heads "
        f"splits it between its columns into {n_heads} tables of shape (N, d_head), each with all tokens: {told}. "
        "merge_heads puts them side by side again.",
    )


def _words(ax, x, top, tokens, height=0.4):
    for i, token in enumerate(tokens):
        ax.text(x, top - (i + 0.5) * height, token, ha="right", va="center", fontsize=9.5)


def _features(ax, x, top, features, wide):
    for j, feature in enumerate(features):
        ax.text(x + (j + 0.5) * wide, top + 0.14, feature, ha="center", va="center", fontsize=8.5, color=GREY)


@styled
def split_trap(tokens, n_heads=2, d_head=2) -> Picture:
    """Draw what a reshape without a transpose does: tokens torn apart. Cells are coloured by token."""
    n, wide = len(tokens), 0.62
    short = [f"{token}{'' if tokens.index(token) == i else chr(39)}" for i, token in enumerate(tokens)]
    flat = [(i, f) for i in range(n) for f in range(n_heads * d_head)]
    whole = [[[(i, h * d_head + f) for f in range(d_head)] for i in range(n)] for h in range(n_heads)]
    torn = [[flat[(h * n + i) * d_head :][:d_head] for i in range(n)] for h in range(n_heads)]
    figure = card(6.05, 4.5)
    ax = canvas(figure, 0, 0, 6.05, 4.5)
    cut = (
        "correct: split each token,\nthen swap two axes",
        "row i is token i in every head;\nthe' is the second the",
    )
    tear = (
        "torn: reshaped straight\ninto (H, N, d_head)",
        "rows are halves of tokens, and\nhead 0 never meets cat",
    )
    for k, ((title, note), colour, heads) in enumerate(((cut, BLUE, whole), (tear, VERMILLION, torn))):
        left = 0.2 + 3.0 * k
        ax.text(left, 4.0, title, fontweight="bold", va="center", color=colour)
        for h, lines in enumerate(heads):
            texts = [[f"{short[i]} {f}" for i, f in line] for line in lines]
            fills = [[WORDS[i] for i, _ in line] for line in lines]
            cells(ax, left + 1.38 * h, 3.15, texts, fills, wide)
            ax.text(left + wide + 1.38 * h, 3.35, f"head {h}", ha="center", va="center", color=NAMES[h])
        ax.text(left, 0.62, note, color=GREY, fontsize=9.5, va="center")
    ax.plot([3.02, 3.02], [0.3, 4.2], color="#D1D5DB", linewidth=1)
    return Picture(
        figure,
        "Two ways to make two heads of five tokens with features 0 to 3. Correct: head 0 has features 0 and 1 of "
        "every word, head 1 features 2 and 3. Torn, by a reshape straight into (H, N, d_head): head 0 holds "
        "both halves of the first and second token below each other and half of the third; no row is where it "
        "belongs.",
    )


@styled
def multihead_flow() -> Picture:
    """Draw multi-head attention from x to the output, with every shape."""
    figure = card(5.4, 6.6, "Multi-head attention, with every shape")
    ax = canvas(figure, 0, 0, 5.4, 6.6)
    box(ax, 2.7, 5.65, "x", "(B, N, d_model)", INK, width=1.5)
    for x, name, colour in ((0.98, "q_proj", BLUE), (2.7, "k_proj", ORANGE), (4.42, "v_proj", GREEN)):
        box(ax, x, 4.65, name, "(B, N, d_model)", colour, width=1.5)
        box(ax, x, 3.65, "split", "(B, H, N, d_head)", colour, width=1.6)
        arrow(ax, (2.7 + 0.3 * (x - 2.7), 5.32), (x, 5.0))
        arrow(ax, (x, 4.32), (x, 4.0))
        arrow(ax, (x, 3.32), (2.7 + 0.3 * (x - 2.7), 2.95))
    for k in (3, 2, 1, 0):
        corner = (1.8 + 0.07 * k, 2.1 + 0.07 * k)
        ax.add_patch(Rectangle(corner, 1.7, 0.62, facecolor="white", edgecolor=PURPLE, linewidth=1.5))
    ax.text(2.65, 2.52, "attention", ha="center", va="center", fontweight="bold")
    ax.text(2.65, 2.26, "(B, H, N, d_head)", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(3.85, 2.4, "H times,\neach head on its own", va="center", fontsize=9, color=GREY)
    box(ax, 2.7, 1.42, "merge", "(B, N, d_model)", INK, width=1.6)
    arrow(ax, (2.7, 2.07), (2.7, 1.77))
    box(ax, 2.7, 0.48, "out_proj", "(B, N, d_model)", PURPLE, width=1.6)
    arrow(ax, (2.7, 1.09), (2.7, 0.83))
    return Picture(
        figure,
        "A flow chart. x of shape (B, N, d_model) goes through q_proj, k_proj and v_proj; each result is split "
        "into heads, shape (B, H, N, d_head). Attention runs in every head on its own. The heads are merged to "
        "(B, N, d_model), and out_proj mixes them.",
    )


@styled
def sum_of_heads() -> Picture:
    """Draw merge and out_proj as one product, and as a sum of one product per head."""
    figure = card(6.0, 4.15, "Merge, then mix: the same as a sum over heads")
    ax = canvas(figure, 0, 0, 6.0, 4.15)
    wide, high, size = 0.62, 0.5, 0.62
    for h in range(2):
        _block(ax, 0.75 + wide * h, 2.35, wide, high, HEADS[h], f"$z_{h}$")
        _block(ax, 2.75, 2.6 - size * h, 2 * size, size, HEADS[h], f"$W_{{o,{h}}}^T$")
        x = 0.75 + 2.45 * h
        _block(ax, x, 0.75, wide, high, HEADS[h], f"$z_{h}$")
        ax.text(x + wide + 0.17, 1.0, "\u00d7", ha="center", va="center", fontsize=13)
        _block(ax, x + wide + 0.34, 0.69, 2 * size, size, HEADS[h], f"$W_{{o,{h}}}^T$")
    ax.text(2.37, 2.6, "\u00d7", ha="center", va="center", fontsize=13)
    ax.text(3.04, 1.0, "+", ha="center", va="center", fontsize=13)
    for x, y, text in (
        (0.75 + wide, 3.05, "merged heads"),
        (2.75 + size, 3.37, "out_proj"),
        (0.75, 1.55, "the same numbers, head by head:"),
    ):
        ax.text(x, y, text, ha="left" if y == 1.55 else "center", va="center", fontsize=9.5, color=GREY)
    ax.text(0.75, 0.35, "(and once the bias)", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "Above, the row of merged heads, z_0 beside z_1, times the matrix of out_proj, whose upper half meets z_0 and "
        "whose lower half meets z_1. Below, the same as a sum: z_0 times the upper half plus z_1 times the lower half.",
    )


def _block(ax, x, y, width, height, colour, text):
    ax.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="white", linewidth=1.5))
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=11)


@styled
def cross_flow() -> Picture:
    """Draw cross-attention: queries from one sentence, keys and values from another."""
    figure = card(6.0, 3.5, "Cross-attention: one sentence attends to another")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    box(ax, 0.78, 2.4, "x", "(B, N, d_model)", BLUE, width=1.26)
    box(ax, 0.78, 0.95, "context", "(B, M, d_model)", GREEN, width=1.26)
    for y, name, shape, colour, start in (
        (2.4, "queries", "(B, H, N, d_head)", BLUE, 2.4),
        (1.4, "keys", "(B, H, M, d_head)", GREEN, 1.05),
        (0.5, "values", "(B, H, M, d_head)", GREEN, 0.85),
    ):
        box(ax, 2.42, y, name, shape, colour, width=1.38)
        arrow(ax, (1.44, start), (1.7, y))
        arrow(ax, (3.14, y), (3.4, 1.5 + 0.3 * (y - 1.5)))
    box(ax, 3.98, 1.5, "", "", PURPLE, width=1.12, height=0.95)
    ax.text(3.98, 1.73, "attention", ha="center", va="center", fontweight="bold")
    ax.text(3.98, 1.38, "weights\n(B, H, N, M)", ha="center", va="center", fontsize=9, color=GREY)
    arrow(ax, (4.57, 1.5), (4.76, 1.5))
    box(ax, 5.33, 1.5, "output", "(B, N, d_model)", BLUE, width=1.1)
    return Picture(
        figure,
        "A flow chart. Queries come from x, shape (B, N, d_model); keys and values come from context, shape "
        "(B, M, d_model). The weights are (B, H, N, M), and the output is as long as x: (B, N, d_model).",
    )


@styled
def packed_weights(d_model=4) -> Picture:
    """Draw PyTorch's stacked weight and bias, and the three layers into which they are cut."""
    figure = card(6.0, 4.1, "One stack in PyTorch, three layers in your module")
    ax, height, top = canvas(figure, 0, 0, 6.0, 4.1), 0.22, 3.2
    for k, (name, colour) in enumerate((("q_proj", BLUE), ("k_proj", ORANGE), ("v_proj", GREEN))):
        y, blank = top - k * d_model * height, [[""] * d_model] * d_model
        middle = y - d_model * height / 2
        cells(ax, 1.15, y, blank, [[PALE_OF[colour]] * d_model] * d_model, 0.3, height)
        cells(ax, 2.75, y, [["0"]] * d_model, [[PALE_OF[colour]]] * d_model, 0.36, height)
        first, last = k * d_model, (k + 1) * d_model - 1
        ax.text(1.05, middle, f"rows {first} to {last}", ha="right", va="center", fontsize=9)
        arrow(ax, (3.25, middle), (4.1, middle))
        box(ax, 4.95, middle, name, "weight and bias", colour, width=1.5)
    for x, name in ((1.75, "in_proj_weight"), (2.93, "in_proj_bias")):
        ax.text(x, top + 0.13, name, ha="center", fontsize=9.5, fontweight="bold")
    shapes = f"(3 d_model, d_model) = ({3 * d_model}, {d_model})"
    ax.text(1.55, 0.3, shapes, ha="center", va="center", fontsize=9, color=GREY)
    ax.text(2.75, 0.3, "fresh: all zeros", ha="left", va="center", fontsize=9, color=VERMILLION)
    return Picture(
        figure,
        f"in_proj_weight as a stack of {3 * d_model} rows and in_proj_bias beside it. Rows 0 to {d_model - 1} go to "
        f"q_proj, rows {d_model} to {2 * d_model - 1} to k_proj, rows {2 * d_model} to {3 * d_model - 1} to v_proj, "
        "each weight with its bias. The biases of a fresh module are all zero.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    # The queries of lesson 04, section 1: an action asks for a pet, and for a thing that is not a pet.
    w_query = torch.zeros(4, 4)
    w_query[1] = torch.tensor([1.0, 1, 1, -1])
    return {
        "reshaping": reshaping(embed() @ w_query, TOKENS),
        "split_trap": split_trap(TOKENS),
        "multihead_flow": multihead_flow(),
        "sum_of_heads": sum_of_heads(),
        "packed_weights": packed_weights(),
        "cross_flow": cross_flow(),
    }
