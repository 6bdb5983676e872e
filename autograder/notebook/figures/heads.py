"""Heads: how features are shared out among them, what each one sees, and how modules are put together."""

from matplotlib.patches import Rectangle

from autograder.notebook.figures.bars import _bars
from autograder.notebook.figures.diagrams import _arrow, _box
from autograder.notebook.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
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

HEADS = ("#CFE6F5", "#FBE3B5", "#C9EBDD", "#F4D9E7")  # pale blue, orange, green, purple
HEADS_DARK = (BLUE, ORANGE, GREEN, PURPLE)
WORDS = ("#E5E7EB", "#CFE6F5", "#FBE3B5", "#C9EBDD", "#F4D9E7")
NAMES = (BLUE, "#9A6700", "#00684C", "#8B3A66")


def _cells(ax, x, y, lines, colours, width=0.52, height=0.4):
    """A small table of texts, its upper left corner at (x, y); colours[i][j] fills a cell."""
    for i, line in enumerate(lines):
        for j, text in enumerate(line):
            corner = (x + j * width, y - (i + 1) * height)
            ax.add_patch(
                Rectangle(corner, width, height, facecolor=colours[i][j], edgecolor="white", linewidth=1.5)
            )
            middle = (x + (j + 0.5) * width, y - (i + 0.5) * height)
            ax.text(*middle, text, ha="center", va="center", fontsize=9.5)


@styled
def reshaping(x, tokens, features, n_heads=2):
    """Splitting (N, d_model) into H tables (N, d_head) and merging them again, with the sentence's numbers."""
    x = rows(x)
    n, d_model = len(x), len(x[0])
    d_head, wide = d_model // n_heads, 0.56
    figure = card(9.2, 4.3, f"Split into {n_heads} heads, and merge again")
    ax = canvas(figure, 0, 0, 9.2, 4.3)
    top = 3.0
    texts = [[number(value) for value in line] for line in x]
    _cells(ax, 1.0, top, texts, [[HEADS[j // d_head] for j in range(d_model)] for _ in x], wide)
    _words(ax, 0.9, top, tokens)
    _features(ax, 1.0, top, features, wide)
    ax.text(1.0 + wide * d_model / 2, top - 0.4 * n - 0.3, "(N, d_model) = (5, 4)", ha="center", color=GREY)
    _arrow(ax, (3.7, 2.35), (5.0, 2.35))
    _arrow(ax, (5.0, 1.75), (3.7, 1.75))
    ax.text(4.35, 2.5, "split_heads", ha="center", fontweight="bold", fontsize=9.5)
    ax.text(4.35, 1.45, "merge_heads", ha="center", fontweight="bold", fontsize=9.5)
    for h in range(n_heads):
        left = 5.75 + 1.75 * h
        mine = slice(h * d_head, (h + 1) * d_head)
        _cells(ax, left, top, [line[mine] for line in texts], [[HEADS[h]] * d_head for _ in x], wide)
        _features(ax, left, top, features[mine], wide)
        ax.text(
            left + wide * d_head / 2, top + 0.52, f"head {h}", ha="center", color=NAMES[h], fontweight="bold"
        )
    _words(ax, 5.65, top, tokens)
    ax.text(7.2, top - 0.4 * n - 0.3, "(H, N, d_head) = (2, 5, 2)", ha="center", color=GREY)
    ax.text(
        0.35,
        0.3,
        "Every head keeps all words, and gets its own share of the features.",
        color=GREY,
        fontsize=9.5,
    )
    told = "; ".join(
        f"head {h}: {', '.join(features[h * d_head : (h + 1) * d_head])}" for h in range(n_heads)
    )
    return Picture(
        figure,
        f"Left, a table of {n} words and {d_model} features, shape (N, d_model). split_heads cuts it between "
        f"its columns into {n_heads} tables of shape (N, d_head), each with all words: {told}. merge_heads puts "
        "them side by side again.",
    )


def _words(ax, x, top, tokens, height=0.4):
    for i, token in enumerate(tokens):
        ax.text(x, top - (i + 0.5) * height, token, ha="right", va="center", fontsize=9.5)


def _features(ax, x, top, features, wide):
    for j, feature in enumerate(features):
        ax.text(x + (j + 0.5) * wide, top + 0.14, feature, ha="center", va="center", fontsize=8.5, color=GREY)


@styled
def split_trap(tokens, n_heads=2, d_head=2):
    """What a reshape without a transpose does: words torn apart. Cells are coloured by word."""
    n = len(tokens)
    short = [f"{token}{'' if tokens.index(token) == i else chr(39)}" for i, token in enumerate(tokens)]
    flat = [(i, f) for i in range(n) for f in range(n_heads * d_head)]
    right = [[[(i, h * d_head + f) for f in range(d_head)] for i in range(n)] for h in range(n_heads)]
    torn = [[flat[(h * n + i) * d_head :][:d_head] for i in range(n)] for h in range(n_heads)]
    figure = card(9.6, 4.1)
    ax = canvas(figure, 0, 0, 9.6, 4.1)
    for k, (title, colour, heads) in enumerate(
        (
            ("right: cut each word, then swap two axes", BLUE, right),
            ("wrong: straight into (H, N, d_head)", VERMILLION, torn),
        )
    ):
        left = 0.4 + 4.75 * k
        ax.text(left, 3.7, title, fontweight="bold", va="center", color=colour)
        for h, lines in enumerate(heads):
            texts = [[f"{short[i]} {f}" for i, f in line] for line in lines]
            fills = [[WORDS[i] for i, _ in line] for line in lines]
            _cells(ax, left + 2.15 * h, 2.95, texts, fills, 0.92)
            ax.text(left + 0.92 + 2.15 * h, 3.15, f"head {h}", ha="center", va="center", color=NAMES[h])
    ax.plot([4.8, 4.8], [0.4, 3.8], color="#D1D5DB", linewidth=1)
    ax.text(0.4, 0.55, "row i belongs to word i, in every head", color=GREY, fontsize=9.5, va="center")
    ax.text(
        5.15,
        0.55,
        "rows are halves of words, and head 0 never meets cat",
        color=GREY,
        fontsize=9.5,
        va="center",
    )
    return Picture(
        figure,
        "Two ways to make two heads of five words with features 0 to 3. Right: head 0 has features 0 and 1 of "
        "every word, head 1 features 2 and 3. Wrong, a reshape straight into (H, N, d_head): head 0 holds "
        "both halves of the first and second word below each other and half of the third; no row is where it "
        "belongs.",
    )


@styled
def heads_of_a_word(weights, tokens, query, title=""):
    """What each head of one word listens to: weights (H, M), one bar chart a head."""
    weights = rows(weights)
    n = len(weights)
    title = title or f"What \u201c{query}\u201d listens to, head by head"
    figure = card(max(0.6 + 2.7 * n, 0.105 * len(title) + 0.8), 3.1, title)
    for h, values in enumerate(weights):
        name = f"head {h}" if n > 1 else "the only head"
        _bars(axes(figure, 0.3 + 2.7 * h, 0.45, 2.4, 1.7), values, tokens, HEADS_DARK[h % 4], name, top=1)
    told = "; ".join(f"head {h}: {', '.join(number(w) for w in values)}" for h, values in enumerate(weights))
    return Picture(figure, f"{title}. Weights over {', '.join(tokens)}: {told}")


@styled
def multihead_flow():
    """Multi-head attention from x to the output, with every shape."""
    figure = card(9.6, 4.2, "Multi-head attention, with the shape of everything")
    ax = canvas(figure, 0, 0.1, 9.6, 4.2)
    _box(ax, 0.85, 1.7, "x", "(B, N, d_model)", INK, width=1.35)
    for y, name, colour in ((2.7, "q_proj", BLUE), (1.7, "k_proj", ORANGE), (0.7, "v_proj", GREEN)):
        _box(ax, 2.55, y, name, "", colour, width=1.0, height=0.5)
        _box(ax, 4.15, y, "split", "(B, H, N, d_head)", colour, width=1.5)
        _arrow(ax, (1.55, 1.7 + 0.15 * (y - 1.7)), (2.02, y))
        _arrow(ax, (3.07, y), (3.38, y))
        _arrow(ax, (4.92, y), (5.3, 1.7 + 0.45 * (y - 1.7)))
    for k in (3, 2, 1, 0):
        ax.add_patch(
            Rectangle(
                (5.35 + 0.07 * k, 1.1 + 0.07 * k),
                1.1,
                1.05,
                facecolor="white",
                edgecolor=PURPLE,
                linewidth=1.5,
            )
        )
    ax.text(5.9, 1.72, "attention", ha="center", va="center", fontweight="bold")
    ax.text(5.9, 1.46, "H times", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(6.0, 0.72, "(B, H, N, d_head)", ha="center", va="center", fontsize=9, color=GREY)
    _arrow(ax, (6.7, 1.7), (7.0, 1.7))
    _box(ax, 7.65, 1.7, "merge", "(B, N, d_model)", INK, width=1.3)
    _arrow(ax, (8.32, 1.7), (8.58, 1.7))
    _box(ax, 9.0, 1.7, "out_proj", "", PURPLE, width=0.82, height=0.5)
    ax.text(9.0, 1.3, "(B, N, d_model)", ha="center", va="center", fontsize=8, color=GREY)
    return Picture(
        figure,
        "A flow chart. x of shape (B, N, d_model) goes through q_proj, k_proj and v_proj; each result is split "
        "into heads, shape (B, H, N, d_head). Attention runs in every head on its own. The heads are merged to "
        "(B, N, d_model), and out_proj mixes them.",
    )


@styled
def cross_flow():
    """Cross-attention: queries from one sentence, keys and values from another."""
    figure = card(9.2, 3.4, "Cross-attention: one sentence asks, another answers")
    ax = canvas(figure, 0, 0, 9.2, 3.4)
    _box(ax, 1.0, 2.3, "x", "(B, N, d_model)", BLUE, width=1.5)
    _box(ax, 1.0, 0.95, "context", "(B, M, d_model)", GREEN, width=1.5)
    for y, name, shape, colour, start in (
        (2.3, "queries", "(B, H, N, d_head)", BLUE, 2.3),
        (1.35, "keys", "(B, H, M, d_head)", GREEN, 1.05),
        (0.55, "values", "(B, H, M, d_head)", GREEN, 0.85),
    ):
        _box(ax, 3.6, y, name, shape, colour, width=1.7)
        _arrow(ax, (1.8, start), (2.7, y))
        _arrow(ax, (4.5, y), (5.35, 1.5 + 0.3 * (y - 1.5)))
    _box(ax, 6.0, 1.5, "attention", "weights (B, H, N, M)", PURPLE, width=1.3, height=0.8)
    _arrow(ax, (6.7, 1.5), (7.3, 1.5))
    _box(ax, 8.1, 1.5, "output", "(B, N, d_model)", BLUE, width=1.5)
    return Picture(
        figure,
        "A flow chart. Queries come from x, shape (B, N, d_model); keys and values come from context, shape "
        "(B, M, d_model). The weights are (B, H, N, M), and the output is as long as x: (B, N, d_model).",
    )


@styled
def learning_alike(mine, theirs, title="Do they learn alike?"):
    """Two losses over the steps of training, the second drawn as a thin line over the first."""
    mine, theirs = row(mine), row(theirs)
    figure = card(6.4, 3.2, title)
    ax = axes(figure, 0.8, 0.65, 5.2, 1.85)
    ax.plot(range(len(mine)), mine, color=ORANGE, linewidth=5, alpha=0.6, label="yours")
    ax.plot(range(len(theirs)), theirs, color=INK, linewidth=1.3, linestyle="--", label="PyTorch's")
    ax.set(xlabel="step", ylabel="loss", ylim=(0, None))
    ax.grid(alpha=0.25, color=GREY)
    ax.legend(frameon=False)
    return Picture(
        figure,
        f"{title} Two losses over {len(mine)} steps: yours from {mine[0]:.2f} to {mine[-1]:.2f}, PyTorch's from "
        f"{theirs[0]:.2f} to {theirs[-1]:.2f}.",
    )
