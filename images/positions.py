"""The pictures of lesson 07."""

import math

from drawing import NAMES, arrow, box, cells

from autograder.notebook.figures.palette import BLUE, GREY, HEADS, INK, ORANGE, PALE
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.figures.words import number
from autograder.notebook.lessons.positions import dial
from autograder.notebook.sentence import TOKENS, embed


@styled
def one_bag() -> Picture:
    """Draw two sentences that say the opposite, and the one bag of tokens that attention makes of both."""
    figure = card(6.0, 2.7, "Two sentences, one bag")
    ax = canvas(figure, 0, 0, 6.0, 2.7)
    for y, words in ((1.75, TOKENS), (0.65, TOKENS[3:] + TOKENS[2:3] + TOKENS[:2])):
        fills = [HEADS[("dog", "cat").index(word)] if word in ("dog", "cat") else PALE for word in words]
        cells(ax, 0.3, y + 0.2, [list(words)], [fills], 0.58, 0.4)
        arrow(ax, (3.3, y), (3.95, 1.2 + 0.12 * (y - 1.2)))
    box(ax, 4.85, 1.2, "cat, dog, saw,\nthe, the", "", BLUE, 1.6, 0.8)
    return Picture(
        figure,
        "The sentences the dog saw the cat and the cat saw the dog, with an arrow from each to one and the same box. "
        "The box holds the tokens cat, dog, saw, the, the, without an order.",
    )


@styled
def position_clocks() -> Picture:
    """Draw each pair of features as a clock: its hand at positions 0 to 4."""
    figure = card(6.0, 3.9, "A position is read from several clocks")
    ax = canvas(figure, 0, 0, 6.0, 3.9)
    for i, (rate, name) in enumerate(zip((1.0, 0.1), ("1 radian", "0.1 radian"), strict=True)):
        y = 2.45 - 1.4 * i
        ax.text(0.25, y + 0.12, f"pair {i}", va="center", fontweight="bold")
        ax.text(0.25, y - 0.14, name, va="center", fontsize=9.5, color=GREY)
        for p in range(5):
            angle = rate * p
            dial(ax, 1.45 + 0.95 * p, y, {"": _hand(angle)}, 0.42)
    for p in range(5):
        ax.text(1.45 + 0.95 * p, 0.27, f"position {p}", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "Two rows of five clocks, one clock for each of the positions 0 to 4. In the upper row the hand rotates by 1 "
        "radian from one position to the next, in the lower row by a tenth of that.",
    )


@styled
def learned_rows() -> Picture:
    """Draw a table with one row for each position; the rows of a short sentence are added to its tokens."""
    figure = card(6.0, 3.3, "One row for each position")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    x, learned = embed().tolist(), [[0.0] * 4 for _ in range(7)]
    learned[0][0], learned[3][1] = 0.1, 0.2  # as in the lesson's example by hand
    for i, line in enumerate(learned):
        y, used = 2.65 - 0.34 * i, i < len(TOKENS)
        if used:
            cells(ax, 0.75, y, [[number(value) for value in x[i]]], [[PALE] * 4], 0.38, 0.32)
            ax.text(0.68, y - 0.16, TOKENS[i], ha="right", va="center", fontsize=9.5)
            ax.text(2.6, y - 0.16, "+", ha="center", va="center", fontsize=12)
        fills = [HEADS[1] if used else "#F3F4F6"] * 4
        cells(ax, 3.2, y, [[number(value, 1) for value in line]], [fills], 0.38, 0.32)
        ax.text(3.13, y - 0.16, str(i), ha="right", va="center", fontsize=9.5)
        ax.text(4.82, y - 0.16, "" if used else "not needed", va="center", fontsize=9, color=GREY)
    ax.text(1.51, 0.28, "x (5, 4)", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(3.96, 0.13, "table (7, 4)", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "Left, the five tokens of the sentence, four features each. Right, a table of seven rows, numbered 0 to 6. "
        "Rows 0 to 4 are added to the tokens, rows 5 and 6 are not needed for this sentence. Row 0 is 0.1, 0, 0, 0 and "
        "row 3 is 0, 0.2, 0, 0; the others are zero.",
    )


@styled
def same_angle() -> Picture:
    """Draw a query and a key two positions apart, at three places: the same angle between them."""
    figure = card(6.0, 2.75, "Two positions apart: always the same angle")
    ax = canvas(figure, 0, 0, 6.0, 2.75)
    for k, (query, key) in enumerate(((2, 0), (3, 1), (5, 3))):
        hands = {"q": _hand(0.2 + 0.4 * query), "k": _hand(2.0 + 0.4 * key)}
        dial(ax, 1.1 + 1.9 * k, 1.4, hands)
        ax.text(1.1 + 1.9 * k, 0.4, f"positions {query} and {key}", ha="center", va="center", fontsize=9.5)
    return Picture(
        figure,
        "Three dials, each with an arrow for a query and one for a key. Left, the query is at position 2 and the key "
        "at 0, in the middle at 3 and 1, right at 5 and 3. From dial to dial both arrows rotate by the same angle, so "
        "the angle between them stays the same.",
    )


def _hand(angle):
    return math.cos(angle), math.sin(angle)


@styled
def rope_layouts() -> Picture:
    """Draw one head of six features: which two make a pair, in either layout, and where each row goes."""
    figure = card(6.0, 3.0, "Which features make a pair?")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    layouts = (("neighbours", 2.1, [0, 1, 2, 3, 4, 5]), ("halves", 0.95, [0, 2, 4, 1, 3, 5]))
    place = {name: {row: 1.75 + 0.65 * k for k, row in enumerate(order)} for name, _, order in layouts}
    for name, y, order in layouts:
        ax.text(0.25, y, name, va="center", fontweight="bold")
        fills = [HEADS[row // 2] for row in order]
        cells(ax, 1.45, y + 0.2, [[f"row {row}" for row in order]], [fills], 0.65, 0.4)
    for row in range(6):
        arrow(ax, (place["neighbours"][row], 1.88), (place["halves"][row], 1.17), NAMES[row // 2], 1.4)
    ax.text(
        1.45,
        0.45,
        "a colour is a pair: rows 0 and 1, 2 and 3, 4 and 5",
        va="center",
        fontsize=9.5,
        color=GREY,
    )
    return Picture(
        figure,
        "One head of six rows in two layouts. Above, neighbours make a pair: rows 0 and 1, 2 and 3, 4 and 5. Below, "
        "the order is 0, 2, 4, 1, 3, 5, so that the two of a pair are three places apart. Arrows lead each row from "
        "its place above to its place below.",
    )


@styled
def distance_bias() -> Picture:
    """Draw the last row of the sentence: scores, minus a slope times the distance."""
    figure = card(6.0, 2.75, "ALiBi: a penalty that grows with distance")
    ax = canvas(figure, 0, 0, 6.0, 2.75)
    scores, slope, left = (0, 2, -2, 0, 3), 0.5, 1.9
    distance = [len(scores) - 1 - j for j in range(len(scores))]
    lines = (
        ("scores of cat", scores, PALE, INK),
        ("distance", distance, "white", GREY),
        ("bias, slope 0.5", [-slope * d for d in distance], HEADS[1], ORANGE),
        ("sum", [score - slope * d for score, d in zip(scores, distance, strict=True)], HEADS[0], BLUE),
    )
    for j, token in enumerate(TOKENS):
        ax.text(left + 0.36 + 0.72 * j, 2.1, token, ha="center", va="center", fontsize=9.5, color=GREY)
    for k, (name, values, fill, _) in enumerate(lines):
        y = 1.95 - 0.44 * k
        ax.text(left - 0.1, y - 0.2, name, ha="right", va="center", fontsize=9.5)
        cells(ax, left, y, [[number(value) for value in values]], [[fill] * 5], 0.72, 0.4)
    told = ", ".join(number(score - slope * d) for score, d in zip(scores, distance, strict=True))
    return Picture(
        figure,
        "The scores of cat for the five tokens, 0, 2, -2, 0, 3. Below them the distances 4, 3, 2, 1, 0, the bias "
        f"minus one half of each, and the sum: {told}.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "one_bag": one_bag(),
        "position_clocks": position_clocks(),
        "learned_rows": learned_rows(),
        "same_angle": same_angle(),
        "rope_layouts": rope_layouts(),
        "distance_bias": distance_bias(),
    }
