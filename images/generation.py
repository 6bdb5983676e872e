"""The pictures of lesson 12."""

from drawing import arrow, box, cells, squares
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, INK, ORANGE, PALE, SKY, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled


@styled
def computed_again() -> Picture:
    """Draw which tokens are computed in each step, without and with a cache."""
    figure = card(6.0, 3.5, "Which tokens are computed in each step?")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    kinds = (("without a cache", GREY, "1 + 2 + \u2026 + 6 = 21 tokens"), ("with a cache", PALE, "6 tokens"))
    for k, (name, old, note) in enumerate(kinds):
        left = 0.85 + 2.8 * k
        ax.text(left, 2.85, name, fontweight="bold", va="center")
        before = "#AFCBE0" if old == GREY else PALE
        colours = {(i, j): BLUE if i == j else before for i in range(6) for j in range(i + 1)}
        squares(ax, left, 2.6, 6, 6, 0.31, colours, fill="white")
        ax.text(left, 0.5, note, fontsize=9.5, color=INK, va="center")
        for i in range(6):
            ax.text(
                left - 0.1,
                2.445 - 0.31 * i,
                f"step {i + 1}",
                ha="right",
                va="center",
                fontsize=8.5,
                color=GREY,
            )
    ax.text(
        0.25,
        0.22,
        "dark: new; light blue: computed again; grey: only read",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "Six steps of writing, one row per step. Without a cache each step computes all tokens again, 21 in all. With "
        "a cache each step computes the new token alone, 6 in all, and reads the others.",
    )


@styled
def offset_triangle() -> Picture:
    """Draw the causal mask of two new tokens after a cache of three, right and wrong."""
    figure = card(6.0, 2.75, "Two new tokens after a cache of three")
    ax = canvas(figure, 0, 0, 6.0, 2.75)
    kinds = (("from the lower right", 3, GREEN), ("from the upper left", 0, VERMILLION))
    for k, (name, seen, colour) in enumerate(kinds):
        left = 0.95 + 2.75 * k
        ax.text(left, 2.1, name, fontweight="bold", va="center", color=colour)
        fills = [[(HEADS[0] if j <= i + seen else PALE) for j in range(5)] for i in range(2)]
        texts = [["1" if j <= i + seen else "0" for j in range(5)] for i in range(2)]
        cells(ax, left, 1.6, texts, fills, 0.4, 0.4)
        for j, key in enumerate(("c0", "c1", "c2", "n0", "n1")):
            ax.text(left + 0.2 + 0.4 * j, 1.74, key, ha="center", va="center", fontsize=8.5, color=GREY)
        for i in range(2):
            ax.text(left - 0.1, 1.4 - 0.4 * i, f"n{i}", ha="right", va="center", fontsize=9, color=GREY)
    ax.text(0.95, 0.55, "each sees the cache, itself,\nand what is before it", fontsize=9.5, va="center")
    ax.text(3.7, 0.55, "hides most of what has\nbeen written", fontsize=9.5, va="center")
    return Picture(
        figure,
        "The mask of two new tokens, n0 and n1, over five keys, c0 to c2 from the cache and n0, n1. Right: 1 1 1 1 0 "
        "and 1 1 1 1 1. Wrong, with the triangle at the upper left: 1 0 0 0 0 and 1 1 0 0 0.",
    )


@styled
def two_tails() -> Picture:
    """Draw a sure and an unsure distribution, cut by the same k and the same p."""
    sure, unsure = (0.82, 0.1, 0.04, 0.02, 0.01, 0.01), (0.22, 0.2, 0.18, 0.16, 0.14, 0.1)
    figure = card(6.0, 3.5, "The same k and the same p, twice")
    for k, (name, probs) in enumerate((("a sure model", sure), ("an unsure model", unsure))):
        ax = axes(figure, 0.4 + 2.85 * k, 1.05, 2.4, 1.5)
        kept, total = 0, 0.0
        while total < 0.9 - 1e-9:
            total, kept = total + probs[kept], kept + 1
        ax.bar(range(6), probs, color=[BLUE if i < kept else "#D1D5DB" for i in range(6)], width=0.7)
        for i, value in enumerate(probs):
            ax.text(i, value + 0.015, f"{value:g}", ha="center", va="bottom", fontsize=8.5)
        ax.axvline(2.5, color=VERMILLION, linewidth=2)
        ax.text(2.6, 0.86, "k = 3", color=VERMILLION, fontsize=9.5, va="center")
        ax.set(ylim=(0, 0.95), xticks=[], yticks=[])
        ax.spines["left"].set_visible(False)
        ax.set_title(name, fontsize=10.5, color=INK)
        ax.text(-0.4, -0.16, f"p = 0.9 keeps {kept}", color=BLUE, fontsize=9.5, va="center")
    canvas(figure, 0, 0, 6.0, 3.5).text(
        0.25,
        0.3,
        "k = 3 lets nonsense through on the left and cuts good words on the right",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "Two bar charts of six tokens. A sure model, 0.82, 0.1, 0.04, 0.02, 0.01, 0.01: p = 0.9 keeps two, k = 3 one "
        "more. An unsure model, 0.22, 0.2, 0.18, 0.16, 0.14, 0.1: p = 0.9 keeps five, k = 3 cuts two good ones.",
    )


@styled
def end_to_end() -> Picture:
    """Draw probabilities laid end to end, and a random number that falls on one of them."""
    figure = card(6.0, 2.3, "A draw: where does u fall?")
    ax = canvas(figure, 0, 0, 6.0, 2.3)
    left, full, at = 0.5, 5.0, 0.0
    for k, (name, prob) in enumerate((("a", 0.1), ("b", 0.5), ("c", 0.15), ("d", 0.25))):
        start, wide = left + full * at, full * prob
        ax.add_patch(
            Rectangle((start, 0.75), wide, 0.5, facecolor=HEADS[k], edgecolor="white", linewidth=1.5)
        )
        ax.text(start + wide / 2, 1.0, name, ha="center", va="center", fontweight="bold")
        ax.text(start, 0.58, f"{at:g}", ha="center", va="center", fontsize=9.5, color=GREY)
        at = round(at + prob, 2)
    ax.text(left + full, 0.58, "1", ha="center", va="center", fontsize=9.5, color=GREY)
    arrow(ax, (left + full * 0.65, 1.62), (left + full * 0.65, 1.27), VERMILLION, 2.0)
    ax.text(left + full * 0.65, 1.73, "u = 0.65", ha="center", va="center", color=VERMILLION, fontsize=10.5)
    ax.text(
        0.5,
        0.26,
        "each token gets a stretch as long as its probability",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "The probabilities of a, b, c and d laid end to end from 0 to 1: a up to 0.1, b up to 0.6, c up to 0.75, d up "
        "to 1. The number u = 0.65 falls on c.",
    )


@styled
def writing_loop() -> Picture:
    """Draw the loop that writes: text, model, last row of logits, choose, append."""
    figure = card(6.0, 2.7, "The loop that writes")
    ax = canvas(figure, 0, 0, 6.0, 2.7)
    steps = (("ids", "(B, N)"), ("model", "(B, N, V)"), ("last row", "(B, V)"), ("choose", "(B,)"))
    for k, (name, shape) in enumerate(steps):
        box(ax, 0.95 + 1.37 * k, 1.55, name, shape, (GREY, BLUE, ORANGE, GREEN)[k], 1.05)
        if k:
            arrow(ax, (0.12 + 1.37 * k, 1.55), (0.4 + 1.37 * k, 1.55))
    ax.plot([5.06, 5.06, 0.95], [1.2, 0.65, 0.65], color=GREY, linewidth=1.6)
    arrow(ax, (0.95, 0.65), (0.95, 1.22))
    ax.text(3.0, 0.45, "one token longer: once more", ha="center", va="center", fontsize=9.5, color=GREY)
    return Picture(
        figure,
        "Four boxes in a row: ids (B, N), model (B, N, V), last row (B, V), choose (B,). An arrow leads from choose "
        "back to the ids: one token longer, once more.",
    )


def _bars(
    ax: Axes, x: float, values: list[float], colours: list[str], base: list[float] | None = None
) -> None:
    for k, value in enumerate(values):
        low = 0.75 + 2.4 * (base[k] if base else 0)
        ax.add_patch(
            Rectangle((x + 0.42 * k, low), 0.34, 2.4 * value, facecolor=colours[k], edgecolor="none")
        )


@styled
def accept_or_redraw() -> Picture:
    """Draw the probabilities of a draft, the part that is accepted, and what the second draw adds."""
    figure = card(6.0, 3.2, "Accept what both agree on, draw the rest")
    ax = canvas(figure, 0, 0, 6.0, 3.2)
    p, q = [0.1, 0.5, 0.15, 0.25], [0.4, 0.3, 0.2, 0.1]
    both = [min(pair) for pair in zip(p, q, strict=True)]
    rest = [a - b for a, b in zip(p, both, strict=True)]
    thrown = [a - b for a, b in zip(q, both, strict=True)]
    charts = (("the draft, q", q), ("accepted: 0.65", both), ("as it should be, p", p))
    for k, (name, values) in enumerate(charts):
        x = 0.3 + 1.95 * k
        ax.text(x, 2.4, name, fontsize=10.5, fontweight="bold", va="center")
        _bars(ax, x, both, [SKY] * 4)
        if k == 0:
            _bars(ax, x, thrown, ["#F3B27A"] * 4, both)
        if k == 2:
            _bars(ax, x, rest, [GREEN] * 4, both)
        for j, letter in enumerate("abcd"):
            ax.text(x + 0.17 + 0.42 * j, 0.6, letter, ha="center", va="center", fontsize=9.5)
            top = 0.75 + 2.4 * values[j]
            ax.text(x + 0.17 + 0.42 * j, top + 0.1, f"{values[j]:g}", ha="center", va="center", fontsize=8.5)
    ax.text(
        0.25,
        0.28,
        "orange: rejected; green: drawn anew, only where p is larger than q",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "Bars for a, b, c, d. The draft q is 0.4, 0.3, 0.2, 0.1. Accepted is the smaller of p and q, 0.1, 0.3, 0.15, "
        "0.1, together 0.65. The rest, 0.2 for b and 0.15 for d, is drawn anew, and the sum is p: 0.1, 0.5, "
        "0.15, 0.25.",
    )


LENGTHS = {
    "A": 2,
    "B": 8,
    "C": 3,
    "D": 6,
    "E": 4,
    "F": 2,
}  # requests in order of arrival, with their lengths in tokens
SLOTS = 3  # texts that are written at once


def _in_batches() -> list[list[str]]:
    """Return the request that each slot writes at each step ("" waits) if a batch lasts as long as its
    longest.
    """
    slots: list[list[str]] = [[] for _ in range(SLOTS)]
    names = list(LENGTHS)
    for first in range(0, len(names), SLOTS):
        batch = names[first : first + SLOTS]
        longest = max(LENGTHS[name] for name in batch)
        for slot, name in zip(slots, batch, strict=True):
            slot += [name] * LENGTHS[name] + [""] * (longest - LENGTHS[name])
    return slots


def _continuously() -> list[list[str]]:
    """Return the same if a finished text frees its slot for the next request at once."""
    slots: list[list[str]] = [[] for _ in range(SLOTS)]
    for name, length in LENGTHS.items():
        min(slots, key=len).extend([name] * length)
    longest = max(map(len, slots))
    return [slot + [""] * (longest - len(slot)) for slot in slots]


@styled
def continuous_batching() -> Picture:
    """Draw six requests of different lengths in three slots: batch by batch, and continuously."""
    figure = card(6.0, 3.5, "Six texts in three places")
    ax = canvas(figure, 0, 0, 6.0, 3.5)
    colours = dict(
        zip(LENGTHS, ("#AFCBE0", "#F3D19C", "#B7DEC8", "#E3BFD3", "#D9D3F0", "#F3B27A"), strict=True)
    )
    told = []
    for top, name, slots in ((2.78, "in batches", _in_batches()), (1.3, "continuously", _continuously())):
        steps, waits = len(slots[0]), sum(slot.count("") for slot in slots)
        ax.text(0.35, top, f"{name}: {steps} steps, {waits} places empty", fontweight="bold", va="center")
        for row, slot in enumerate(slots):
            fills = [colours.get(request, "#F3F4F6") for request in slot]
            cells(ax, 0.35, top - 0.17 - 0.33 * row, [slot], [fills], width=0.38, height=0.3)
        told.append(f"{name.capitalize()} they take {steps} steps, and {waits} places stay empty")
    lengths = ", ".join(f"{name} {length}" for name, length in LENGTHS.items())
    return Picture(
        figure,
        f"Texts of different lengths in tokens ({lengths}), of which three can be written at once. {told[0]}, "
        f"because a batch ends with its longest text. {told[1]}: as soon as a text ends, the next one takes "
        "its place.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "computed_again": computed_again(),
        "offset_triangle": offset_triangle(),
        "two_tails": two_tails(),
        "end_to_end": end_to_end(),
        "writing_loop": writing_loop(),
        "accept_or_redraw": accept_or_redraw(),
        "continuous_batching": continuous_batching(),
    }
