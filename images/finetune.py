"""The pictures of lesson 22."""

from drawing import arrow, box, cells

from autograder.notebook.figures.palette import BLUE, GREY, HEADS, INK, ORANGE, PALE
from autograder.notebook.figures.style import Picture, canvas, card, styled

WEIGHTS = ((0.95, -0.4, 1.4, 0.2), (20.0, -7.0, 28.0, 3.0))


@styled
def quantise_blocks() -> Picture:
    """Draw two blocks of a row, each with its own scale."""
    figure = card(6.0, 3.0, "Each block is divided by a scale of its own")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    told = []
    for row, name in enumerate(("weights", "codes", "back")):
        ax.text(0.3, 1.98 - 0.62 * row, name, va="center", fontsize=9.5, color=GREY)
    for k, block in enumerate(WEIGHTS):
        scale = max(map(abs, block)) / 7
        codes = [round(weight / scale) for weight in block]
        back = [code * scale for code in codes]
        left, fill = 1.1 + 2.45 * k, HEADS[k]
        for row, values in enumerate(
            ([f"{w:g}" for w in block], [str(c) for c in codes], [f"{b:g}" for b in back])
        ):
            cells(ax, left, 2.15 - 0.62 * row, [values], [[fill if row != 1 else PALE] * 4], 0.56, 0.36)
        ax.text(left, 2.36, f"scale {scale:g}", fontsize=9.5, va="center", color=INK)
        told.append(f"weights {block}, scale {scale:g}, codes {codes}, back {[round(b, 2) for b in back]}")
    return Picture(figure, f"Two blocks of four weights. {'; '.join(told)}.")


@styled
def lora_layer() -> Picture:
    """Draw the frozen layer and its low-rank update."""
    figure = card(6.0, 2.9, "A frozen layer, and a small update beside it")
    ax = canvas(figure, 0, 0, 6.0, 2.9)
    ax.text(0.35, 1.35, "x", fontsize=13, va="center")
    box(ax, 2.6, 1.95, "linear, frozen", "d_out x d_in", GREY, 2.2, 0.68)
    box(ax, 1.75, 0.72, "down", "rank x d_in", ORANGE, 1.25, 0.62)
    box(ax, 3.35, 0.72, "up", "d_out x rank", ORANGE, 1.25, 0.62)
    arrow(ax, (0.55, 1.45), (1.45, 1.95))
    arrow(ax, (0.55, 1.25), (1.08, 0.72))
    arrow(ax, (2.4, 0.72), (2.7, 0.72), ORANGE)
    arrow(ax, (4.0, 0.72), (4.85, 1.2), ORANGE)
    arrow(ax, (3.72, 1.95), (4.85, 1.5))
    ax.text(4.35, 0.72, "times alpha / rank", fontsize=9.5, color=INK, va="center")
    ax.text(5.0, 1.35, "+", fontsize=15, va="center", ha="center", color=BLUE, fontweight="bold")
    arrow(ax, (5.15, 1.35), (5.6, 1.35))
    ax.text(5.67, 1.35, "y", fontsize=13, va="center")
    return Picture(
        figure,
        "The input x goes two ways. Above it passes the frozen linear layer. Below it passes down, which makes rank "
        "numbers of it, and up, and is multiplied by alpha over rank. Both are added to y.",
    )


@styled
def answer_targets() -> Picture:
    """Draw tokens, and the target at each position."""
    figure = card(6.0, 2.3, "Targets: the next token, if it is of the answer")
    ax = canvas(figure, 0, 0, 6.0, 2.3)
    tokens = ["opposite", "of", "hot", "?", "hot", "|", "cold", "end"]
    targets = ["", "", "", "hot", "|", "cold", "end", ""]
    answer = [False] * 4 + [True] * 4
    fills = [HEADS[0] if one else PALE for one in answer]
    cells(ax, 0.95, 1.5, [tokens], [fills], 0.61, 0.38)
    cells(ax, 0.95, 0.72, [targets], [[HEADS[0] if one else "white" for one in targets]], 0.61, 0.38)
    for k, one in enumerate(targets):
        if one:
            arrow(ax, (0.95 + 0.61 * (k + 1.45), 1.1), (0.95 + 0.61 * (k + 0.6), 0.75), BLUE, 1.2)
    ax.text(0.2, 1.31, "tokens", va="center", fontsize=9.5, color=GREY)
    ax.text(0.2, 0.53, "targets", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "The tokens opposite of hot ? are the question, hot | cold end the answer. Below the question mark stands the "
        "target hot, below hot the bar, below the bar cold, below cold the end; below all others nothing.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {one.__name__: one() for one in (quantise_blocks, lora_layer, answer_targets)}
