"""The pictures of lesson 23."""

from drawing import arrow, cells, squares

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, canvas, card, styled

DOCUMENTS = ((5, 6), (7,), (8, 9, 5))


@styled
def packed_rows() -> Picture:
    """Draw documents laid end to end, cut into rows of four, and the mask of the first row."""
    figure = card(6.0, 3.3, "Documents in a row, and none sees another")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    tokens, numbers = [], []
    for number, words in enumerate(DOCUMENTS):
        tokens += [*map(str, words), "0"]
        numbers += [number] * (len(words) + 1)
    fills = [HEADS[number] for number in numbers]
    ax.text(0.3, 2.4, "in a row", va="center", fontsize=9.5, color=GREY)
    cells(ax, 1.2, 2.6, [tokens], [fills], 0.47)
    for k in range(2):
        ax.text(0.3, 1.55 - 0.6 * k, f"row {k}", va="center", fontsize=9.5, color=GREY)
        cells(ax, 1.2, 1.75 - 0.6 * k, [tokens[4 * k : 4 * k + 4]], [fills[4 * k : 4 * k + 4]], 0.47)
    arrow(ax, (2.1, 2.15), (2.1, 1.8))
    ax.text(5.2, 2.05, "dropped", ha="center", va="center", fontsize=9.5, color=GREY)
    allowed = {(i, j): HEADS[numbers[i]] for i in range(4) for j in range(i + 1) if numbers[i] == numbers[j]}
    squares(ax, 3.9, 1.8, 4, 4, 0.32, allowed)
    ax.text(4.54, 0.33, "mask of row 0", ha="center", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "The documents 5 6, 7 and 8 9 5 in a row, each followed by the separator 0, a colour for each. Cut into 5 6 0 "
        "7 and 0 8 9 5; the last 0 is dropped. The mask of the first row: a triangle of three for the first document, "
        "and a single entry for the 7.",
    )


@styled
def left_padding() -> Picture:
    """Draw three prompts, each at the right end of its row."""
    figure = card(6.0, 3.15, "All prompts end in the same column")
    ax = canvas(figure, 0, 0, 6.0, 3.15)
    prompts = (["sort", "kite", "ball", "?"], ["two", "?"], ["Ada", "has", "?"])
    told = []
    for row, prompt in enumerate(prompts):
        empty, top = 4 - len(prompt), 2.45 - 0.72 * row
        cells(
            ax,
            0.4,
            top,
            [["pad"] * empty + prompt],
            [[PALE] * empty + [HEADS[row]] * len(prompt)],
            0.85,
            0.36,
        )
        for place in range(4):
            position = str(max(0, place - empty))
            x = 0.4 + 0.85 * (place + 0.5)
            ax.text(x, top - 0.5, position, ha="center", va="center", fontsize=9, color=GREY)
        arrow(ax, (3.85, top - 0.18), (4.3, top - 0.18), BLUE)
        ax.text(4.4, top - 0.18, "next token", va="center", fontsize=9.5, color=INK)
        told.append(f"{empty} of padding, then {' '.join(prompt)}")
    return Picture(
        figure,
        f"Rows of four: {'; '.join(told)}. Below each token its position, from 0 at the prompt's first token, and 0 in "
        "the padding. An arrow leads from the last column to the next token of every row.",
    )


@styled
def draw_from_urn() -> Picture:
    """Draw four answers, and the six pairs that can be chosen from them."""
    figure = card(6.0, 2.5, "Two of four answers are right; two are drawn")
    ax = canvas(figure, 0, 0, 6.0, 2.5)
    colours = (GREEN, GREEN, VERMILLION, VERMILLION)
    for k, colour in enumerate(colours):
        ax.plot([0.6 + 0.45 * (k % 2)], [1.45 - 0.45 * (k // 2)], "os"[k // 2], color=colour, markersize=15)
    ax.text(0.82, 0.5, "round: right", ha="center", va="center", fontsize=9.5, color=GREY)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for k, pair in enumerate(pairs):
        x, y = 2.35 + 1.15 * (k % 3), 1.6 - 0.75 * (k // 3)
        for side, one in enumerate(pair):
            ax.plot([x + 0.34 * side], [y], "os"[one // 2], color=colours[one], markersize=12)
        hit = min(pair) < 2
        text, colour = ("counts", GREY) if hit else ("does not", VERMILLION)
        ax.text(x + 0.17, y - 0.3, text, ha="center", va="center", fontsize=9.5, color=colour)
    return Picture(
        figure,
        "Four answers, two right (round) and two wrong (square), and the six pairs of them. Five pairs have a right "
        "answer and count; the pair of the two wrong ones does not.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {one.__name__: one() for one in (packed_rows, left_padding, draw_from_urn)}
