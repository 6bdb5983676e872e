"""The pictures of lesson 03."""

from itertools import pairwise

import torch
from drawing import arrow, softmax
from matplotlib.patches import Rectangle

from autograder.notebook.figures.bars import draw_bars
from autograder.notebook.figures.masks import MAY, described, draw_mask
from autograder.notebook.figures.palette import BLUE, GREY, HEADS, INK, ORANGE, PALE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.figures.words import number, row, rows
from autograder.notebook.sentence import TOKENS, embed


@styled
def four_exercises(allowed, tokens, title="A causal mask makes four exercises of one sentence") -> Picture:
    """Draw a causal mask, and next to each row the token to be predicted there."""
    allowed, n, wide, high = rows(allowed), len(tokens), 0.62, 0.44
    figure = card(6.0, 3.95, title)
    ax = axes(figure, 1.1, 0.5, n * wide, n * high)
    draw_mask(ax, allowed, tokens, tokens, ("True", "False"))
    ax.set_xlabel("key (attended to)", color=GREY, labelpad=6)
    ax.set_ylabel("query (attends)", color=GREY, labelpad=6)
    side = canvas(figure, 0, 0, 6.0, 3.95)
    left = 1.1 + n * wide
    side.text(left + 0.45, 0.62 + n * high, "predicts", va="center", fontsize=9.5, color=GREY)
    for i, answer in enumerate(tokens[1:]):
        y = 0.5 + (n - i - 0.5) * high
        arrow(side, (left + 0.08, y), (left + 0.38, y))
        side.text(left + 0.48, y, answer, va="center", fontweight="bold")
    text = "the answer to each row is hidden in that row"
    side.text(1.1, 0.25, text, va="center", fontsize=9.5, color=GREY)
    told = "; ".join(f"{query} predicts {answer}" for query, answer in pairwise(tokens))
    return Picture(
        figure,
        f"{title}. A table of True and False: {described(allowed, tokens, tokens)}. Beside the rows, the next tokens: "
        f"{told}.",
    )


@styled
def mask_patterns(patterns, title="Masks: blue may be attended to, hatched may not") -> Picture:
    """Draw masks, three in a row; `patterns` maps a name to (mask, a line of explanation, tokens)."""
    n, cell, across = 5, 0.33, 3
    wide = high = cell * n
    lines = -(-len(patterns) // across)
    figure = card(6.0, 0.6 + lines * (high + 0.95), title)
    told, first = [], None
    for k, (name, (allowed, line, tokens)) in enumerate(patterns.items()):
        allowed = rows(allowed)
        bottom = 0.65 + (lines - 1 - k // across) * (high + 0.95)
        # Rows are labelled in the first column, and wherever their tokens differ from those there.
        first = tokens if k % across == 0 else first
        named = k % across == 0 or tokens != first
        left = 0.55 + k % across * (wide + 0.15) + 0.4 * (tokens != first)
        ax = axes(figure, left, bottom, wide, high)
        draw_mask(ax, allowed, tokens, tokens)
        ax.tick_params(labelsize=8, labelleft=named, pad=2)
        ax.text(n / 2, n + 0.55, name, ha="center", va="center", fontweight="bold")
        ax.text(n / 2, n + 1.2, line, ha="center", va="center", fontsize=9, color=GREY)
        told.append(f"{name} ({line}): {described(allowed, tokens, tokens)}")
    note = canvas(figure, 0, 0, 6.0, 0.6 + lines * (high + 0.95))
    note.text(4.6, 0.65 + high / 2, "row: query\ncolumn: key", va="center", fontsize=9.5, color=GREY)
    return Picture(figure, f"{title}. " + ". ".join(told))


@styled
def mask_conventions(allowed, tokens, title="One mask, written in three ways") -> Picture:
    """Draw the same mask as True = may attend, as True = blocked, and as numbers added to the scores."""
    allowed = rows(allowed)
    n, width, height = len(tokens), 5.1 / (3 * len(tokens)), 0.42
    panel = width * n + 0.1
    figure = card(6.0, height * n + 2.3, title)
    note = canvas(figure, 0, 0, 6.0, height * n + 2.3)
    note.text(0.25, height * n + 1.62, "row: query; column: key", va="center", fontsize=9.5, color=GREY)
    ways = (
        ("True = may attend", "this course, and F.scaled_\ndot_product_attention", "", ("True", "False")),
        ("True = blocked", "nn.MultiheadAttention", "the opposite!", ("False", "True")),
        ("added to the scores", "both accept it", "", ("0", "\u2212\u221e")),
    )
    for k, (name, who, more, words) in enumerate(ways):
        ax = axes(figure, 0.52 + k * panel, 1.0, width * n, height * n)
        draw_mask(ax, allowed, tokens, tokens, words)
        ax.tick_params(labelleft=k == 0, labelsize=9.5, pad=2)
        colour = VERMILLION if k == 1 else INK
        bold = {"fontweight": "bold", "fontsize": 9.5, "color": colour}
        ax.text(n / 2, n + 0.5, name, ha="center", va="center", **bold)
        ax.text(n / 2, n + 0.9, who, ha="center", va="top", fontsize=8.5, color=GREY)
        ax.text(n / 2, n + 1.7, more, ha="center", va="center", fontsize=9, color=colour)
    return Picture(
        figure,
        f"{title}; in all three, {described(allowed, tokens, tokens)}. Left, for F.scaled_dot_product_attention "
        "and this course: True where a query may attend. Middle, for nn.MultiheadAttention: True where it is "
        "blocked. Right, a mask of numbers that are added to the scores: 0 where it may attend, minus infinity "
        "where it is blocked.",
    )


@styled
def mask_broadcasting(causal, padding, names) -> Picture:
    """Draw how (N, N) and (B, N), each given axes of size 1, broadcast to (B, 1, N, N)."""
    causal, padding = rows(causal), rows(padding)
    n, size, middle = len(causal), 0.2, 1.75
    wide, top = n * size, middle + n * size / 2
    figure = card(6.0, 3.5, "Two masks of different shapes meet")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    _small(ax, 0.35, top, causal, size)
    _under(ax, 0.35 + wide / 2, top - wide, "causal", "(N, N)", "\u2192 (1, 1, N, N)")
    ax.text(1.62, middle, "and", ha="center", va="center", color=GREY)
    for b, line in enumerate(padding):
        _small(ax, 1.9, middle + 0.32 - 0.5 * b, [line], size)
        ax.text(1.9, middle + 0.41 - 0.5 * b, names[b], fontsize=8.5, color=GREY, va="center")
    _under(ax, 1.9 + wide / 2, top - wide, "padding", "(B, N)", "\u2192 (B, 1, 1, N)")
    arrow(ax, (3.05, middle), (3.45, middle))
    for b, line in enumerate(padding):
        both = [[c and p for c, p in zip(across, line, strict=True)] for across in causal]
        _small(ax, 3.6 + 1.15 * b, top, both, size)
        ax.text(3.6 + 1.15 * b, top + 0.13, names[b], fontsize=8.5, color=GREY, va="center")
    _under(ax, 3.6 + (wide + 1.15) / 2, top - wide, "both allow", "(B, 1, N, N)", "one mask per sentence")
    note = "An axis of size 1 is repeated as often as the other mask needs."
    ax.text(0.25, 2.82, note, fontsize=9.5, color=GREY, va="center")
    return Picture(
        figure,
        f"A causal mask of shape ({n}, {n}), a triangle, becomes (1, 1, N, N). A padding mask of shape "
        f"({len(padding)}, {n}), one row per sentence, becomes (B, 1, 1, N). Together they make one mask per "
        "sentence, shape (B, 1, N, N): the triangle, and in the shorter sentence the columns of the padding "
        "blocked as well.",
    )


def _small(ax, x, y, allowed, size):
    """Draw a mask in small squares, its upper left corner at (x, y)."""
    for i, line in enumerate(allowed):
        for j, may in enumerate(line):
            ax.add_patch(
                Rectangle(
                    (x + j * size, y - (i + 1) * size),
                    size,
                    size,
                    facecolor=MAY if may else PALE,
                    edgecolor="white" if may else "#D1D5DB",
                    hatch=None if may else "////",
                    linewidth=0.5,
                )
            )


def _under(ax, x, bottom, name, shape, becomes):
    ax.text(x, bottom - 0.25, name, ha="center", va="center", fontweight="bold")
    ax.text(x, bottom - 0.52, shape, ha="center", va="center", color=GREY)
    ax.text(x, bottom - 0.78, becomes, ha="center", va="center", color=BLUE, fontsize=9.5)


@styled
def mask_before_or_after(scores, allowed, tokens, query) -> Picture:
    """Draw one row of weights: without a mask, zeroed after softmax, masked before softmax."""
    scores, allowed = row(scores), row(allowed)
    free = softmax(scores)
    after = [w if may else 0.0 for w, may in zip(free, allowed, strict=True)]
    some = iter(softmax([s for s, may in zip(scores, allowed, strict=True) if may]))
    before = [next(some) if may else 0.0 for may in allowed]
    ways = (
        ("no mask", free, GREY),
        ("zeroed after softmax", after, ORANGE),
        ("masked before softmax", before, BLUE),
    )
    figure = card(6.0, 3.2, f"What \u201c{query}\u201d attends to if the future must be hidden")
    for k, (name, values, colour) in enumerate(ways):
        ax = axes(figure, 0.16 + 1.97 * k, 0.45, 1.74, 1.65)
        draw_bars(ax, values, tokens, colour, f"{name}\nsum {number(sum(values))}", top=1)
        ax.tick_params(labelsize=9.5)
        for text in ax.texts:
            text.set_fontsize(8.5)
    told = "; ".join(f"{name}: {', '.join(number(w) for w in values)}" for name, values, _ in ways)
    return Picture(figure, f"Three bar charts of the weights of {query} over {', '.join(tokens)}. {told}")


@styled
def padded_batch(sentences) -> Picture:
    """Draw sentences of different lengths in one padded tensor, and the mask that tells real tokens from
    padding.
    """
    longest, wide = max(map(len, sentences)), 0.74
    figure = card(6.0, 4.4, "Two sentences in one tensor, one of them padded")
    ax = canvas(figure, 0, 0, 6.0, 4.4)
    for b, words in enumerate(sentences):
        texts = [*words, *["0"] * (longest - len(words))]
        truths = [str(j < len(words)) for j in range(longest)]
        for top, line in ((2.9, texts), (1.2, truths)):
            y = top - 0.55 * b
            ax.text(1.1, y + 0.21, f"sentence {b}", ha="right", va="center", fontsize=9.5)
            for j, text in enumerate(line):
                _place(ax, 1.2 + (wide + 0.04) * j, y, wide, text, j < len(words))
        ax.text(5.4, 3.11 - 0.55 * b, f"{len(words)}", ha="center", va="center", fontweight="bold")
    middle = 1.2 + (wide + 0.04) * longest / 2
    for x, y, text in (
        (middle, 3.5, "the batch (B, N)"),
        (middle, 1.8, "padding mask (B, N)"),
        (5.4, 3.5, "length"),
    ):
        ax.text(x, y, text, ha="center", va="center", fontsize=9.5, color=GREY)
    text = "a padding token is a vector of zeros, and yet it gets attention"
    ax.text(1.2, 0.32, text, fontsize=9.5, color=GREY, va="center")
    told = "; ".join(f"{' '.join(words)}, {longest - len(words)} padding tokens" for words in sentences)
    return Picture(
        figure,
        f"A batch of {len(sentences)} sentences, each {longest} positions long: {told}. Below it the mask: True for "
        "each real token, False for each padding token. The length says how many are True.",
    )


def _place(ax, x, y, wide, text, real):
    """Draw one position of a sentence: pale blue for a real token, hatched for padding."""
    if not real:
        return _hatched(ax, x, y, wide, 0.42, text)
    ax.add_patch(Rectangle((x, y), wide, 0.42, facecolor=HEADS[0], edgecolor="white"))
    ax.text(x + wide / 2, y + 0.21, text, ha="center", va="center", fontsize=9.5)


def _hatched(ax, x, y, width, height, text=""):
    ax.add_patch(
        Rectangle((x, y), width, height, facecolor=PALE, edgecolor="#C3C8D0", hatch="////", linewidth=0)
    )
    if text:
        ax.text(
            x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=9, backgroundcolor=PALE
        )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    x, place = embed(), torch.arange(5)
    causal = place[:, None] >= place
    padding = place < torch.tensor([[5], [3]])
    sentences = [list(TOKENS), ["the", "cat", "saw"]]
    padded = [*sentences[1], "pad", "pad"]
    patterns = {
        "none": (causal | True, "nothing is hidden", TOKENS),
        "causal": (causal, "the future is hidden", TOKENS),
        "window": (causal & (place[:, None] - place < 2), "causal, one token back", TOKENS),
        "prefix": (causal | (place < 3), "three given, then causal", TOKENS),
        "padding": (padding[1].expand(5, 5), "padding is hidden", padded),
    }
    return {
        "causal_mask": four_exercises(causal, TOKENS),
        "mask_patterns": mask_patterns(patterns),
        "mask_conventions": mask_conventions(causal[:4, :4], TOKENS[:4]),
        "mask_before_or_after": mask_before_or_after(x[1] @ x.T / 2, causal[1], TOKENS, "dog"),
        "padded_batch": padded_batch(sentences),
        "mask_broadcasting": mask_broadcasting(causal, padding, ("sentence 0", "sentence 1")),
    }
