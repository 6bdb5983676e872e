"""Drawings without data: shapes, and how they flow."""

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from autograder.notebook.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    canvas,
    card,
    number,
    styled,
)


def _arrow(ax, start, end, colour=GREY, width=1.6, bend=0.0, alpha=1.0):
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            color=colour,
            linewidth=width,
            connectionstyle=f"arc3,rad={bend}",
            alpha=alpha,
            shrinkA=0,
            shrinkB=0,
        )
    )


def _box(ax, x, y, text, shape="", colour=BLUE, width=1.25, height=0.62):
    """A named box with its centre at (x, y), its shape in small letters below the name."""
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            facecolor="white",
            edgecolor=colour,
            boxstyle="round,pad=0,rounding_size=0.08",
            linewidth=1.8,
        )
    )
    ax.text(x, y + (0.11 if shape else 0), text, ha="center", va="center", fontweight="bold")
    if shape:
        ax.text(x, y - 0.15, shape, ha="center", va="center", fontsize=9, color=GREY)


def _grid(ax, x, y, n_rows, n_columns, size, colours=None, fill=PALE):
    """An n_rows x n_columns grid with its upper left corner at (x, y); `colours` maps (i, j) to a colour."""
    for i in range(n_rows):
        for j in range(n_columns):
            colour = (colours or {}).get((i, j), fill)
            ax.add_patch(
                Rectangle(
                    (x + j * size, y - (i + 1) * size),
                    size,
                    size,
                    facecolor=colour,
                    edgecolor="white",
                    linewidth=1.5,
                )
            )


@styled
def dot_product(a, b, names, features):
    """Two words multiplied feature by feature, and the products added up."""
    products = [x * y for x, y in zip(a, b, strict=True)]
    figure = card(7.4, 3.0, f"How alike are \u201c{names[0]}\u201d and \u201c{names[1]}\u201d?")
    ax = canvas(figure, 0, 0, 7.4, 3.0)
    lines = ((names[0], a, BLUE), (names[1], b, ORANGE), ("product", products, None))
    for i, (name, values, colour) in enumerate(lines):
        y = 1.85 - 0.62 * i
        ax.text(1.35, y, name, ha="right", va="center", fontweight="bold", color=colour or INK)
        for e, value in enumerate(values):
            _number_cell(ax, 1.6 + 0.95 * e, y, value, colour)
            if i == 0:
                ax.text(
                    2.0 + 0.95 * e, y + 0.42, features[e], ha="center", va="center", color=GREY, fontsize=9
                )
    ax.text(5.6, 0.61, f"sum  =  {number(sum(products))}", va="center", fontsize=13, fontweight="bold")
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


@styled
def loops_and_matmul():
    """Two loops fill the score matrix cell by cell; one matrix product fills it at once."""
    figure = card(9.7, 3.9)
    ax = canvas(figure, 0, 0, 9.7, 3.9)
    size, i, j = 0.36, 2, 3
    done = {(r, c): SKY for r in range(5) for c in range(5) if (r, c) < (i, j)} | {(i, j): VERMILLION}
    ax.text(0.3, 3.5, "two loops: one cell at a time", fontweight="bold", va="center")
    _grid(ax, 0.75, 2.7, 5, 5, size, done)
    ax.text(0.6, 2.7 - (i + 0.5) * size, "i", ha="center", va="center", color=VERMILLION, fontweight="bold")
    ax.text(0.75 + (j + 0.5) * size, 2.86, "j", ha="center", va="center", color=VERMILLION, fontweight="bold")
    ax.text(0.75, 0.5, "q$_i$ \u00b7 k$_j$, N\u00d7M times", va="center", color=GREY)
    ax.plot([3.0, 3.0], [0.4, 3.5], color="#D1D5DB", linewidth=1)
    ax.text(3.3, 3.5, "one matrix product: all cells together", fontweight="bold", va="center")
    _grid(ax, 3.4, 2.7, 5, 4, size, {(i, c): BLUE for c in range(4)})
    ax.text(5.06, 1.8, "\u00d7", fontsize=16, ha="center", va="center")
    _grid(ax, 5.3, 2.52, 4, 5, size, {(r, j): ORANGE for r in range(4)})
    ax.text(7.32, 1.8, "=", fontsize=16, ha="center", va="center")
    cells = {(r, c): SKY for r in range(5) for c in range(5)} | {(i, j): VERMILLION}
    _grid(ax, 7.55, 2.7, 5, 5, size, cells)
    for x, name, shape in (
        (4.12, "q", "(N, D)"),
        (6.2, "k transposed", "(D, M)"),
        (8.45, "scores", "(N, M)"),
    ):
        ax.text(x, 2.95, name, ha="center", va="center", fontweight="bold")
        ax.text(x, 0.72, shape, ha="center", va="center", color=GREY)
    ax.text(
        3.4,
        0.35,
        "row i of q  meets  column j of k transposed:  the D inside is summed away",
        fontsize=9,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        (
            "Left: two Python loops fill a score matrix cell by cell, each cell the dot product of query "
            "i and key j. "
            "Right: q with N rows and D columns times k transposed with D rows and M columns gives all N "
            "by M scores at "
            "once; row i of q and column j of k transposed meet in the same cell."
        ),
    )


@styled
def attention_flow():
    """From queries, keys and values to the output, with the shape of every result."""
    figure = card(9.2, 2.9, "Attention, with the shape of everything")
    ax = canvas(figure, 0, 0, 9.2, 2.9)
    _box(ax, 1.0, 1.75, "q", "(N, D)", BLUE)
    _box(ax, 1.0, 0.75, "k", "(M, D)", ORANGE)
    _box(ax, 3.1, 1.25, "scores", "(N, M)", GREY)
    _box(ax, 5.6, 1.25, "weights", "(N, M)", GREY)
    _box(ax, 5.6, 2.25 - 0.02, "v", "(M, E)", GREEN)
    _box(ax, 8.1, 1.75, "output", "(N, E)", PURPLE)
    _arrow(ax, (1.65, 1.75), (2.45, 1.4))
    _arrow(ax, (1.65, 0.75), (2.45, 1.1))
    _arrow(ax, (3.75, 1.25), (4.95, 1.25))
    _arrow(ax, (6.25, 1.25), (7.45, 1.6))
    _arrow(ax, (6.25, 2.2), (7.45, 1.9))
    ax.text(3.1, 0.6, "q$_i$ \u00b7 k$_j$ / \u221aD", ha="center", va="center")
    ax.text(4.35, 1.45, "softmax", ha="center", va="center", fontsize=9)
    ax.text(4.35, 1.05, "each row", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(8.1, 1.1, "weights \u00d7 values", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        (
            "A flow chart. Queries of shape (N, D) and keys of shape (M, D) give scores of shape (N, M), "
            "divided by the "
            "root of D; softmax over each row makes them weights; weights and values of shape (M, E) "
            "give the output of "
            "shape (N, E)."
        ),
    )


@styled
def self_attention():
    """One input, three weight matrices, three roles, one attention."""
    figure = card(9.2, 3.8, "Self-attention: one input in three roles")
    ax = canvas(figure, 0, 0.1, 9.2, 3.8)
    _box(ax, 0.95, 1.5, "x", "(N, d_in)", INK)
    roles = (
        (2.5, "W_query", "q", BLUE, "what am I looking for?"),
        (1.5, "W_key", "k", ORANGE, "what can I be found by?"),
        (0.5, "W_value", "v", GREEN, "what do I pass on?"),
    )
    for y, weight, name, colour, question in roles:
        _box(ax, 3.0, y, weight, "(d_in, d_out)", colour, width=1.45)
        _box(ax, 5.05, y, name, "(N, d_out)", colour)
        _arrow(ax, (1.6, 1.5 + (y - 1.5) * 0.15), (2.25, y))
        _arrow(ax, (3.75, y), (4.4, y))
        _arrow(ax, (5.7, y), (6.5, 1.5 + (y - 1.5) * 0.15))
        ax.text(5.05, y + 0.42, question, ha="center", va="center", fontsize=9, color=GREY, style="italic")
    _box(ax, 7.1, 1.5, "attention", "", PURPLE, width=1.15)
    _arrow(ax, (7.7, 1.5), (8.0, 1.5))
    ax.text(8.55, 1.5, "(N, d_out)", ha="center", va="center", color=GREY)
    return Picture(
        figure,
        (
            "A flow chart. The input x of shape (N, d_in) is multiplied by three matrices of shape "
            "(d_in, d_out): W_query "
            "gives queries (what am I looking for), W_key gives keys (what can I be found by), W_value "
            "gives values (what "
            "do I pass on), each (N, d_out). Attention makes of them an output of shape (N, d_out)."
        ),
    )


@styled
def recurrence(tokens):
    """A recurrent network passes a state from word to word; attention connects every pair directly."""
    figure = card(9.2, 2.9)
    ax = canvas(figure, 0, 0, 9.2, 2.9)
    ax.text(0.3, 2.5, "recurrence: word by word", fontweight="bold", va="center")
    ax.text(4.9, 2.5, "attention: every pair at once", fontweight="bold", va="center")
    for k, token in enumerate(tokens):
        for start, colour in ((0.65, ORANGE), (5.25, BLUE)):
            x = start + 0.82 * k
            ax.text(x, 0.5, token, ha="center", va="center")
            ax.add_patch(
                FancyBboxPatch(
                    (x - 0.2, 1.6),
                    0.4,
                    0.34,
                    facecolor="white",
                    edgecolor=colour,
                    linewidth=1.8,
                    boxstyle="round,pad=0,rounding_size=0.08",
                )
            )
        _arrow(ax, (0.65 + 0.82 * k, 0.7), (0.65 + 0.82 * k, 1.58), GREY, 1.2)
        if k:
            _arrow(ax, (0.85 + 0.82 * (k - 1), 1.77), (0.45 + 0.82 * k, 1.77), ORANGE, 2)
        for other in range(len(tokens)):
            _arrow(ax, (5.25 + 0.82 * other, 0.7), (5.25 + 0.82 * k, 1.58), BLUE, 0.9, alpha=0.55)
    return Picture(
        figure,
        (
            "Left: a recurrent network. Each word feeds one state, and each state feeds the next, in a "
            "chain from the "
            "first word to the last. Right: attention. Every word has an arrow to every output, with no "
            "arrows between "
            "outputs."
        ),
    )
