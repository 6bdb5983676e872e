"""Tables that are filled up, stacked, kept or pooled: batches, packed weights, the cache, shared heads."""

from matplotlib.patches import Rectangle

from autograder.notebook.figures.diagrams import _arrow, _box
from autograder.notebook.figures.heads import HEADS, NAMES, _cells
from autograder.notebook.figures.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE,
    VERMILLION,
    Picture,
    canvas,
    card,
    styled,
)

_PALE = {BLUE: HEADS[0], ORANGE: HEADS[1], GREEN: HEADS[2]}


def _hatched(ax, x, y, width, height, text=""):
    ax.add_patch(
        Rectangle((x, y), width, height, facecolor=PALE, edgecolor="#C3C8D0", hatch="////", linewidth=0)
    )
    if text:
        ax.text(
            x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=9, backgroundcolor=PALE
        )


@styled
def padded_batch(sentences):
    """Sentences of different lengths in one tensor, filled up, and the mask that tells words from fillers."""
    longest, wide = max(map(len, sentences)), 0.74
    figure = card(6.0, 4.4, "Two sentences in one tensor, one filled up")
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
    text = "a filler is a word of zeros: it looks like silence, and is not"
    ax.text(1.2, 0.32, text, fontsize=9.5, color=GREY, va="center")
    told = "; ".join(f"{' '.join(words)}, {longest - len(words)} fillers" for words in sentences)
    return Picture(
        figure,
        f"A batch of {len(sentences)} sentences, each {longest} places long: {told}. Below it the mask: True for each "
        "word, False for each filler. The length says how many are True.",
    )


def _place(ax, x, y, wide, text, real):
    """One place of a sentence: pale blue for a word, hatched for a filler."""
    if not real:
        return _hatched(ax, x, y, wide, 0.42, text)
    ax.add_patch(Rectangle((x, y), wide, 0.42, facecolor=HEADS[0], edgecolor="white"))
    ax.text(x + wide / 2, y + 0.21, text, ha="center", va="center", fontsize=9.5)


@styled
def packed_weights(d_model=4):
    """PyTorch's stacked weight and bias, and the three layers into which they are cut."""
    figure = card(6.0, 4.1, "One stack in PyTorch, three layers in your module")
    ax, height, top = canvas(figure, 0, 0, 6.0, 4.1), 0.22, 3.2
    for k, (name, colour) in enumerate((("q_proj", BLUE), ("k_proj", ORANGE), ("v_proj", GREEN))):
        y, blank = top - k * d_model * height, [[""] * d_model] * d_model
        middle = y - d_model * height / 2
        _cells(ax, 1.15, y, blank, [[_PALE[colour]] * d_model] * d_model, 0.3, height)
        _cells(ax, 2.75, y, [["0"]] * d_model, [[_PALE[colour]]] * d_model, 0.36, height)
        first, last = k * d_model, (k + 1) * d_model - 1
        ax.text(1.05, middle, f"rows {first} to {last}", ha="right", va="center", fontsize=9)
        _arrow(ax, (3.25, middle), (4.1, middle))
        _box(ax, 4.95, middle, name, "weight and bias", colour, width=1.5)
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


@styled
def cache_block(tokens, n_layers=4, n_kv_heads=2):
    """What is kept: for each word and each layer, keys and values of all key/value heads."""
    figure = card(6.0, 5.4, "What is kept of a text")
    ax = canvas(figure, 0, 0, 6.0, 5.4)
    columns = [1.25 + 0.88 * j for j in range(len(tokens))]
    for layer in range(n_layers):
        y = 2.4 + 0.54 * layer
        ax.text(1.1, y + 0.21, f"layer {layer}", ha="right", va="center", fontsize=9.5)
        for x in columns:
            _keys_and_values(ax, x, y, n_kv_heads, 0.38, 0.21)
    for x, token in zip(columns, tokens, strict=True):
        ax.text(x + 0.37, 4.63, token, ha="center", va="center", fontsize=9.5)
    ax.text(1.1, 4.63, f"N = {len(tokens)} words", ha="right", va="center", color=GREY, fontsize=9.5)
    _arrow(ax, (columns[-1] + 0.37, 2.36), (columns[-1] + 0.37, 1.95))
    left = columns[-1] + 0.74 - 2.5
    _keys_and_values(ax, left, 0.55, n_kv_heads, 1.25, 0.5)
    for part, name in enumerate(("keys", "values")):
        ax.text(
            left + 0.61 + 1.25 * part, 1.72, name, ha="center", va="center", fontsize=9.5, fontweight="bold"
        )
    sizes = (
        "2: a key and a value",
        "G key/value heads",
        r"$d_\mathrm{head}$ numbers in each",
        "b bytes a number",
    )
    for k, text in enumerate((*sizes, "times L layers, N words, B texts")):
        ax.text(0.3, 1.7 - 0.32 * k, text, va="center", fontsize=9.5, color=INK if k < 4 else GREY)
    return Picture(
        figure,
        f"A grid of {len(tokens)} words and {n_layers} layers. In every cell stand a key and a value for each of "
        f"{n_kv_heads} key/value heads. One cell enlarged: 2 times G heads times d_head numbers of b bytes; all of it "
        "times L layers, N words and B texts.",
    )


def _keys_and_values(ax, x, y, n_kv_heads, wide, high):
    """A word's cell in one layer: a row for each key/value head, its key blue and its value orange."""
    for g in range(n_kv_heads):
        for part, colour in enumerate((BLUE, ORANGE)):
            corner = (x + wide * part, y + high * g)
            ax.add_patch(Rectangle(corner, wide - 0.03, 0.82 * high, facecolor=colour, edgecolor="white"))


@styled
def pooled_heads():
    """Two heads of width 2 become one: rows of the same feature meet."""
    figure = card(6.0, 2.9, "Each feature meets the same feature of the other head")
    ax = canvas(figure, 0, 0, 6.0, 2.9)
    weight, fills = [["1", "2"], ["3", "4"], ["5", "6"], ["7", "8"]], [HEADS[0], HEADS[1]] * 2
    _cells(ax, 1.55, 2.15, weight, [[fill] * 2 for fill in fills], 0.42, 0.4)
    _cells(ax, 3.75, 1.75, [["3", "4"], ["5", "6"]], [[HEADS[0]] * 2, [HEADS[1]] * 2], 0.42, 0.4)
    for i in range(4):
        head, feature = divmod(i, 2)
        y = 1.95 - 0.4 * i
        ax.text(1.47, y, f"head {head}, feature {feature}", ha="right", va="center", fontsize=9)
        colour = (BLUE, ORANGE)[feature]
        _arrow(ax, (2.45, y), (3.68, 1.55 - 0.4 * feature), colour, 1.6)
    for feature in range(2):
        y = 1.55 - 0.4 * feature
        ax.text(4.67, y, f"shared, feature {feature}", va="center", fontsize=9, color=NAMES[feature])
    ax.text(3.1, 2.1, "mean", ha="center", va="center", fontweight="bold")
    ax.text(1.97, 0.28, "k_proj.weight (4, 2)", ha="center", va="center", fontsize=9, color=GREY)
    ax.text(4.17, 0.28, "after pooling (2, 2)", ha="center", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        "Left, a weight of four rows: 1 2, 3 4 for head 0 and 5 6, 7 8 for head 1. Feature 0 of both heads, 1 2 and "
        "5 6, meet in the mean 3 4; feature 1 of both, 3 4 and 7 8, in the mean 5 6. Neighbouring rows do not meet.",
    )
