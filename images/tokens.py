"""The pictures of lesson 10."""

from drawing import arrow, cells
from matplotlib.axes import Axes

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, canvas, card, styled
from autograder.notebook.lessons.tokens import draw_tokens


@styled
def token_levels() -> Picture:
    """Draw one text as bytes, as words, and as pieces."""
    figure = card(6.0, 3.1, "One text, cut in three ways")
    ax = canvas(figure, 0, 0, 6.0, 3.1)
    text = "the·dog·saw·the·catfish"
    rows = {
        f"bytes: {len(text)} tokens, a table of 256 rows": list(text),
        "words: 9 tokens, however large the table, some word is not in it": [
            "the",
            "·",
            "dog",
            "·",
            "saw",
            "·",
            "the",
            "·",
            "<unk>",
        ],
        "pieces: 6 tokens, nothing is unknown": ["the", "·dog", "·saw", "·the", "·cat", "fish"],
    }
    for k, (name, tokens) in enumerate(rows.items()):
        y = 2.3 - 0.78 * k
        ax.text(0.25, y, name, fontsize=9.5, color=GREY, va="center")
        draw_tokens(ax, 0.25, y - 0.3, tokens)
    return Picture(
        figure,
        "The text 'the dog saw the catfish' cut in three ways. Bytes: 23 tokens, one for each letter and space. Words: "
        "9 tokens, catfish is unknown. Pieces: 6 tokens, the last two are cat and fish.",
    )


@styled
def word_boundaries() -> Picture:
    """Draw where the word boundaries of a short text are."""
    figure = card(6.0, 2.6, "Where are the word boundaries?")
    ax = canvas(figure, 0, 0, 6.0, 2.6)
    text, size = "Hi, you", 0.5
    fills = [[HEADS[0] if letter.isalnum() else PALE for letter in text]]
    cells(ax, 1.2, 1.6, [["·" if letter == " " else letter for letter in text]], fills, size, 0.45)
    for place in (0, 2, 4, 7):
        ax.plot([1.2 + size * place] * 2, [1.05, 1.72], color=VERMILLION, linewidth=2.4)
        ax.text(
            1.2 + size * place, 1.83, str(place), ha="center", va="center", fontsize=9.5, color=VERMILLION
        )
    for first, last, name in ((0, 2, "Hi"), (2, 4, ",·"), (4, 7, "you")):
        left, right = 1.2 + size * first + 0.06, 1.2 + size * last - 0.06
        ax.plot([left, left, right, right], [0.98, 0.9, 0.9, 0.98], color=GREY, linewidth=1.2)
        ax.text((left + right) / 2, 0.72, f"\u201c{name}\u201d", ha="center", va="center", fontsize=10.5)
    ax.text(
        0.25,
        0.3,
        "blue: letters, digits, underscore (\\w); grey: all else",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "The seven characters of 'Hi, you' in boxes, letters blue, the comma and the space grey. Boundaries at 0, 2, 4 "
        "and 7 cut it into 'Hi', a comma with its space, and 'you'.",
    )


@styled
def merge_rounds() -> Picture:
    """Draw three rounds of merging on a small text."""
    figure = card(6.0, 3.3, "Three rounds of merging")
    ax = canvas(figure, 0, 0, 6.0, 3.3)
    rounds = (
        ("bytes", ["a", "a", "a", "b", "d", "a", "a", "a", "b", "a", "c"], "11 tokens"),
        ("aa \u2192 256", ["aa", "a", "b", "d", "aa", "a", "b", "a", "c"], "9 tokens"),
        ("256 a \u2192 257", ["aaa", "b", "d", "aaa", "b", "a", "c"], "7 tokens"),
        ("257 b \u2192 258", ["aaab", "d", "aaab", "a", "c"], "5 tokens"),
    )
    fills = {1: PALE, 2: HEADS[0], 3: HEADS[2], 4: HEADS[1]}
    for k, (name, tokens, count) in enumerate(rounds):
        y, x = 2.4 - 0.62 * k, 1.3
        ax.text(1.18, y, name, ha="right", va="center", fontsize=9.5, color=INK)
        for token in tokens:
            wide = 0.33 * len(token)
            cells(ax, x, y + 0.19, [[token]], [[fills[len(token)]]], wide, 0.38)
            x += wide
        ax.text(5.1, y, count, va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "The text aaabdaaabac in four lines. First 11 bytes. Then aa becomes 256, 9 tokens are left. Then 256 and a "
        "become 257, 7 tokens. Then 257 and b become 258, 5 tokens: aaab, d, aaab, a, c.",
    )


def _column(ax: Axes, x: float, title: str, steps: list[list[str]], notes: list[str], colour: str) -> None:
    ax.text(x, 2.5, title, fontweight="bold", va="center", color=colour)
    for k, (tokens, note) in enumerate(zip(steps, notes, strict=True)):
        y, left = 2.2 - 0.64 * k, x
        for token in tokens:
            wide = 0.42 * len(token)
            cells(ax, left, y, [[token]], [[PALE if len(token) == 1 else HEADS[0]]], wide, 0.38)
            left += wide
        ax.text(x + 1.4, y - 0.19, note, va="center", fontsize=9.5, color=GREY)
        if k:
            arrow(ax, (x + 0.63, y + 0.24), (x + 0.63, y + 0.02), width=1.2)


@styled
def merge_order() -> Picture:
    """Draw the same word encoded in the order of learning and from left to right."""
    figure = card(6.0, 3.2, "Learned first: bc. Learned second: ab.")
    ax = canvas(figure, 0, 0, 6.0, 3.2)
    _column(
        ax,
        0.3,
        "in the order of learning",
        [["a", "b", "c"], ["a", "bc"], ["a", "bc"]],
        ["97 98 99", "bc: 97 256", "ab: none is left"],
        GREEN,
    )
    _column(
        ax,
        3.3,
        "from left to right",
        [["a", "b", "c"], ["ab", "c"], ["ab", "c"]],
        ["97 98 99", "ab: 257 99", "bc: none is left"],
        VERMILLION,
    )
    ax.text(
        0.3,
        0.22,
        "Two spellings of one text; the model has learned from the left one.",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "The text abc encoded twice, with the merges bc, learned first, and ab. In the order of learning: a and bc, "
        "the ids 97, 256. From left to right: ab and c, the ids 257, 99.",
    )


@styled
def utf8_bytes() -> Picture:
    """Draw the bytes of several characters, and what an incomplete character is decoded as."""
    figure = card(6.0, 3.35, "A character takes one to four bytes")
    ax = canvas(figure, 0, 0, 6.0, 3.35)
    for k, letter in enumerate("aäя€😀"):
        y, code = 2.6 - 0.42 * k, letter.encode()
        ax.text(0.6, y, letter, ha="center", va="center", fontsize=13, color=BLUE)
        arrow(ax, (0.9, y), (1.3, y), width=1.2)
        cells(ax, 1.45, y + 0.17, [[str(byte) for byte in code]], [[HEADS[k % 4]] * len(code)], 0.55, 0.34)
        words = "one byte" if len(code) == 1 else f"{len(code)} bytes"
        ax.text(3.85, y, words, va="center", fontsize=9.5, color=GREY)
    cells(ax, 1.45, 0.55, [["240", "159"]], [[HEADS[0]] * 2], 0.55, 0.34)
    arrow(ax, (2.7, 0.38), (3.2, 0.38), width=1.2)
    ax.text(3.45, 0.38, "\ufffd", ha="center", va="center", fontsize=13, color=VERMILLION)
    ax.text(3.85, 0.38, "half a character", va="center", fontsize=9.5, color=GREY)
    ax.text(1.3, 0.38, "cut apart", ha="right", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "Characters and their UTF-8 bytes: a is 97; a with two dots is 195, 164; the Russian ya is 209, 143; the euro "
        "sign is 226, 130, 172; a smiling face is 240, 159, 152, 128. The first two of those four bytes alone are "
        "no character and are read as the replacement sign.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "token_levels": token_levels(),
        "word_boundaries": word_boundaries(),
        "merge_rounds": merge_rounds(),
        "merge_order": merge_order(),
        "utf8_bytes": utf8_bytes(),
    }
