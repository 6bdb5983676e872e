"""The pictures of lesson 09."""

from drawing import arrow, box, cells

from autograder.notebook.figures.masks import described, draw_mask
from autograder.notebook.figures.palette import BLUE, GREEN, GREY, HEADS, ORANGE, PALE, PURPLE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled
from autograder.notebook.sentence import TOKENS

TARGET = TOKENS[::-1]


@styled
def shifted_target() -> Picture:
    """Draw the decoder's input, above the token that it must predict at each position."""
    figure = card(6.0, 3.0, "The target, shifted right by one")
    ax = canvas(figure, 0, 0, 6.0, 3.0)
    read, say = ("bos", *TARGET), (*TARGET, "eos")
    left, wide = 1.35, 0.73
    for y, name, line, fill in ((2.15, "reads", read, HEADS[0]), (0.95, "predicts", say, HEADS[2])):
        ax.text(0.25, y - 0.2, name, va="center", fontweight="bold")
        cells(ax, left, y, [list(line)], [[fill] * len(line)], width=wide)
    for k in range(len(read)):
        x = left + (k + 0.5) * wide
        arrow(ax, (x, 1.72), (x, 0.98), BLUE, 1.4)
        if k:
            arrow(ax, (x - wide + 0.12, 0.98), (x - 0.1, 1.72), GREY, 1.0)
    ax.text(
        0.25,
        0.28,
        "Blue: predicts from this and all before it. Grey: the same token, read next.",
        fontsize=9,
        color=GREY,
        va="center",
    )
    return Picture(
        figure,
        "Two lines of six cells. The decoder reads bos, cat, the, saw, dog, the. Below, at the same places, it "
        "predicts cat, the, saw, dog, the, eos. Grey arrows lead from each predicted token to the place to its "
        "right in the upper line: there it is read.",
    )


@styled
def three_masks() -> Picture:
    """Draw the masks of the three attentions of an encoder-decoder."""
    source, target = (*TOKENS, "pad"), ("bos", *TARGET[:3])
    real = [token != "pad" for token in source]
    masks = (
        ("encoder", "self-attention", source, source, [real] * len(source)),
        ("decoder", "self-attention", target, target, [[j <= i for j in range(4)] for i in range(4)]),
        ("decoder", "cross-attention", target, source, [real] * len(target)),
    )
    size, figure, left, told = 0.24, card(6.0, 3.05, "Three attentions, three masks"), 0.6, []
    for where, kind, queries, keys, allowed in masks:
        wide, high = size * len(keys), size * len(queries)
        ax = axes(figure, left, 2.1 - high, wide, high)
        draw_mask(ax, allowed, queries, keys)
        ax.tick_params(labelsize=8, pad=2)
        ax.tick_params(axis="x", labelrotation=60)
        for step, text in ((0.8, where), (1.55, kind)):
            weight = "bold" if step < 1 else "normal"
            ax.text(
                len(keys) / 2,
                len(queries) + step,
                text,
                ha="center",
                va="center",
                fontsize=9,
                fontweight=weight,
            )
        told.append(f"{where}, {kind}: {described(allowed, queries, keys)}")
        left += wide + 0.63
    return Picture(figure, f"Three masks, one row per query, one column per key. {'. '.join(told)}.")


@styled
def encoder_decoder_flow() -> Picture:
    """Draw the whole model: two streams, and the memory between them."""
    figure = card(6.0, 5.2, "The whole model: two streams and one memory")
    ax = canvas(figure, 0, 0, 6.0, 5.2)
    rows = (
        (4.2, "src ids", "(B, M)", "tgt ids, shifted", "(B, N)", GREY),
        (3.3, "src_embedding", "times \u221ad_model", "tgt_embedding", "times \u221ad_model", ORANGE),
        (2.4, "+ positions", "0, 1, 2, ...", "+ positions", "0, 1, 2, ...", GREEN),
        (1.5, "encoder", "n_layers", "decoder", "n_layers, causal", BLUE),
    )
    for k, (y, source, note, target, other, colour) in enumerate(rows):
        box(ax, 1.25, y, source, note, colour, width=1.75)
        box(ax, 4.6, y, target, other, PURPLE if target == "decoder" else colour, width=1.75)
        if k:
            for x in (1.25, 4.6):
                arrow(ax, (x, y + 0.59), (x, y + 0.31))
    arrow(ax, (2.13, 1.5), (3.72, 1.5), VERMILLION, 2.4)
    ax.text(2.92, 1.68, "memory", ha="center", color=VERMILLION, fontweight="bold", fontsize=9.5)
    ax.text(2.92, 1.27, "(B, M, d_model)", ha="center", color=GREY, fontsize=9)
    ax.text(2.92, 1.03, "to every layer", ha="center", color=GREY, fontsize=9)
    box(ax, 4.6, 0.6, "head", "logits (B, N, tgt_vocab)", ORANGE, width=2.1)
    arrow(ax, (4.6, 1.19), (4.6, 0.91))
    return Picture(
        figure,
        "Two columns. Left: src ids (B, M), src_embedding times the root of d_model, plus positions, encoder. Right: "
        "tgt ids shifted (B, N), tgt_embedding times the root of d_model, plus positions, decoder, head, logits (B, N, "
        "tgt_vocab). One thick arrow, the memory (B, M, d_model), leads from the end of the encoder to every layer of "
        "the decoder.",
    )


@styled
def greedy_steps() -> Picture:
    """Draw a target that grows by one token per call of the model."""
    said = ["cat", "the", "saw", "dog", "the", "eos"]
    figure = card(6.0, 3.95, "One call of the model per token")
    ax = canvas(figure, 0, 0, 6.0, 3.95)
    for k, chosen in enumerate(said):
        y, line = 2.95 - 0.44 * k, ["bos", *said[:k], chosen]
        ax.text(0.25, y - 0.17, f"call {k + 1}", va="center", fontsize=9.5, color=GREY)
        fills = [PALE] * (k + 1) + [HEADS[2] if chosen != "eos" else HEADS[1]]
        cells(ax, 0.95, y, [line], [fills], width=0.62, height=0.36)
    ax.text(
        0.25,
        3.17,
        "grey: what the model reads; green: the token it finds likeliest",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    ax.text(
        0.25, 0.2, "eos ends the row; bos is not part of the result", fontsize=9.5, color=GREY, va="center"
    )
    return Picture(
        figure,
        "Six rows, one for each call of the model. The first call reads bos and chooses cat; the second reads bos, cat "
        "and chooses the; and so on: saw, dog, the. The sixth call reads bos, cat, the, saw, dog, the and chooses eos, "
        "which ends the row.",
    )


def pictures() -> dict[str, Picture]:
    """Return the pictures of the lesson, by name."""
    return {
        "shifted_target": shifted_target(),
        "three_masks": three_masks(),
        "encoder_decoder_flow": encoder_decoder_flow(),
        "greedy_steps": greedy_steps(),
    }
