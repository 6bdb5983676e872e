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


@styled
def loops_and_matmul():
    """Two loops fill the score matrix cell by cell; one matrix product fills it at once."""
    figure = card(5.85, 4.7)
    ax = canvas(figure, 0, 0, 5.85, 4.7)
    size, i, j, left, right = 0.32, 2, 3, 0.5, 2.55
    top, beside, above = 2.4, right + 4 * 0.32 + 0.14, 2.4 + 0.14 + 4 * 0.32
    done = {(r, c): SKY for r in range(5) for c in range(5) if (r, c) < (i, j)} | {(i, j): VERMILLION}
    _grid(ax, left, top, 5, 5, size, done)
    _grid(ax, right, top, 5, 4, size, {(i, c): BLUE for c in range(4)})
    _grid(ax, beside, above, 4, 5, size, {(r, j): ORANGE for r in range(4)})
    _grid(ax, beside, top, 5, 5, size, {(r, c): SKY for r in range(5) for c in range(5)} | {(i, j): VERMILLION})
    for x, y in ((left, top), (beside, above)):
        ax.text(x + (j + 0.5) * size, y + 0.12, "j", ha="center", va="center", color=VERMILLION, fontweight="bold")
    for x in (left, right):
        ax.text(x - 0.12, top - (i + 0.5) * size, "i", ha="center", va="center", color=VERMILLION, fontweight="bold")
    ax.plot([2.27, 2.27], [0.3, 4.4], color="#D1D5DB", linewidth=1)
    ax.text(0.25, 4.25, "two loops:\none cell at a time", fontweight="bold", va="center")
    ax.text(2.45, 4.25, "one matrix product:\nall cells together", fontweight="bold", va="center")
    ax.text(left + 0.8, 0.45, "scores: q$_i$ \u00b7 k$_j$,\nN \u00d7 M times", ha="center", va="center", color=GREY)
    for x, text in ((right + 0.64, "q\n(N, D)"), (beside + 0.8, "scores\n(N, M)")):
        ax.text(x, 0.45, text, ha="center", va="center", color=GREY)
    ax.text(beside - 0.1, top + 0.78, "k transposed\n(D, M)", ha="right", va="center", color=GREY)
    return Picture(
        figure,
        (
            "Left: two Python loops fill a score matrix cell by cell, each cell the dot product of query "
            "i and key j. "
            "Right: q with N rows and D columns times k transposed with D rows and M columns gives all N "
            "by M scores at "
            "once; the result stands beside q and below k transposed, so that row i of q and column j of k "
            "transposed meet in the same cell."
        ),
    )


@styled
def attention_flow():
    """From queries, keys and values to the output, with the shape of every result."""
    figure = card(5.4, 4.9, "Attention, with the shape of everything")
    ax = canvas(figure, 0, 0, 5.4, 4.9)
    boxes = (
        (0.95, 3.9, "q", "(N, D)", BLUE),
        (2.55, 3.9, "k", "(M, D)", ORANGE),
        (1.75, 2.8, "scores", "(N, M)", GREY),
        (1.75, 1.6, "weights", "(N, M)", GREY),
        (4.0, 1.6, "v", "(M, E)", GREEN),
        (2.85, 0.5, "output", "(N, E)", PURPLE),
    )
    for box in boxes:
        _box(ax, *box)
    _arrow(ax, (1.05, 3.57), (1.5, 3.14))
    _arrow(ax, (2.45, 3.57), (2.0, 3.14))
    _arrow(ax, (1.75, 2.47), (1.75, 1.94))
    _arrow(ax, (1.95, 1.27), (2.55, 0.84))
    _arrow(ax, (3.8, 1.27), (3.15, 0.84))
    ax.text(2.5, 2.8, "q$_i$ \u00b7 k$_j$ / \u221aD, for every pair", va="center", color=GREY)
    ax.text(1.9, 2.2, "softmax, each row on its own", va="center", color=GREY)
    ax.text(3.6, 0.5, "weights \u00d7 values", va="center", color=GREY)
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
    figure = card(5.7, 5.6, "Self-attention: one input in three roles")
    ax = canvas(figure, 0, 0, 5.7, 5.6)
    _box(ax, 2.85, 4.65, "x", "(N, d_in)", INK)
    roles = (
        (1.0, "W_query", "q", BLUE, "what am I\nlooking for?"),
        (2.85, "W_key", "k", ORANGE, "what can I\nbe found by?"),
        (4.7, "W_value", "v", GREEN, "what do I\npass on?"),
    )
    for x, weight, name, colour, question in roles:
        _box(ax, x, 3.5, weight, "(d_in, d_out)", colour, width=1.45)
        _box(ax, x, 2.4, name, "(N, d_out)", colour)
        _arrow(ax, (2.85 + (x - 2.85) * 0.2, 4.32), (x, 3.84))
        _arrow(ax, (x, 3.17), (x, 2.74))
        start = (2.85, 1.6) if name == "k" else (x + (2.85 - x) * 0.32, 2.05)
        _arrow(ax, start, (2.85 + (x - 2.85) * 0.2, 1.34))
        ax.text(x, 1.84, question, ha="center", va="center", fontsize=9, color=GREY, style="italic")
    _box(ax, 2.85, 1.07, "attention", "", PURPLE, width=1.3, height=0.5)
    _arrow(ax, (2.85, 0.8), (2.85, 0.5))
    ax.text(2.85, 0.33, "output (N, d_out)", ha="center", va="center", color=GREY)
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


def _state(ax, x, y, colour):
    """A small box for what a network holds at one word, with its centre at (x, y)."""
    style = {"facecolor": "white", "edgecolor": colour, "linewidth": 1.8}
    ax.add_patch(FancyBboxPatch((x - 0.2, y - 0.17), 0.4, 0.34, boxstyle="round,pad=0,rounding_size=0.08", **style))


@styled
def recurrence(tokens):
    """A recurrent network passes a state from word to word; attention connects every pair directly."""
    step, right = 0.92, 0.6 + 0.92 * len(tokens)
    figure = card(right, 4.3)
    ax = canvas(figure, 0, 0, right, 4.3)
    halves = ((2.35, "recurrence: word by word", ORANGE), (0.3, "attention: every pair at once", BLUE))
    for floor, title, colour in halves:
        ax.text(0.3, floor + 1.62, title, fontweight="bold", va="center")
        for k, token in enumerate(tokens):
            x = 0.75 + step * k
            ax.text(x, floor, token, ha="center", va="center")
            _state(ax, x, floor + 1.15, colour)
    for k in range(len(tokens)):
        x = 0.75 + step * k
        _arrow(ax, (x, 2.5), (x, 3.3), GREY, 1.2)
        if k:
            _arrow(ax, (x - step + 0.2, 3.5), (x - 0.22, 3.5), ORANGE, 2)
        for other in range(len(tokens)):
            _arrow(ax, (0.75 + step * other, 0.45), (x, 1.25), BLUE, 0.9, alpha=0.55)
    return Picture(
        figure,
        (
            "Above: a recurrent network. Each word feeds one state, and each state feeds the next, in a "
            "chain from the "
            "first word to the last. Below: attention. Every word has an arrow to every output, with no "
            "arrows between "
            "outputs."
        ),
    )
