"""The key/value cache: how it grows while a model writes, what it weighs, what sharing costs."""

from matplotlib.patches import Rectangle

from autograder.notebook.figures.diagrams import _arrow
from autograder.notebook.figures.sharing import _groups
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
    axes,
    canvas,
    card,
    styled,
)


@styled
def writing(tokens):
    """A model that writes: at each step one new query meets all keys kept so far, and one column is added."""
    n, size = len(tokens), 0.46
    figure = card(9.4, 3.5, "One word at a time: what is new, what is kept, what is read")
    ax = canvas(figure, 0, 0, 9.4, 3.5)
    for step in range(n):
        y = 2.45 - size * step
        ax.text(1.0, y, tokens[step], ha="right", va="center")
        ax.add_patch(Rectangle((1.2, y - 0.16), 0.75, 0.32, facecolor=ORANGE, alpha=0.85))
        ax.text(1.575, y, "query", ha="center", va="center", fontsize=8.5)
        _arrow(ax, (2.05, y), (2.55, y))
        for j in range(step + 1):
            new = j == step
            ax.add_patch(
                Rectangle(
                    (2.65 + 0.95 * j, y - 0.17),
                    0.87,
                    0.34,
                    facecolor=SKY if new else PALE,
                    edgecolor=BLUE if new else "#9CA3AF",
                    linewidth=1.2,
                )
            )
            ax.text(
                2.65 + 0.95 * j + 0.435,
                y,
                f"k, v {tokens[j]}",
                ha="center",
                va="center",
                fontsize=8,
                color=INK if new else GREY,
            )
        ax.text(7.6, y, f"1 new, {step + 1} read", va="center", fontsize=9.5, color=GREY)
    ax.text(2.65, 0.22, "blue: computed now; grey: kept from before, and read again", fontsize=9, color=GREY)
    return Picture(
        figure,
        f"A model writes {' '.join(tokens)} word by word. At every step there is one new query and one new pair "
        "of key and value; the pairs of all words before are kept. The query meets all of them: at the first "
        f"step 1 pair is read, at the last step {n}.",
    )


def _size(gibibytes):
    """A size in words: 16 MiB, 1.25 GiB, 1,008 GiB."""
    if gibibytes < 0.5:
        return f"{1024 * gibibytes:.0f} MiB"
    return f"{gibibytes:,.0f} GiB" if gibibytes >= 100 else f"{gibibytes:.3g} GiB"


@styled
def cache_sizes(models, title="The key/value cache of one text, at the model's full length"):
    """Dots on a logarithmic scale: `models` maps a name to GiB (as published, if every head kept its own)."""
    high = 0.46 * len(models)
    figure = card(9.4, high + 1.95, title)
    ax = axes(figure, 1.9, 0.75, 5.1, high)
    names, told = list(models), []
    for k, (name, (own, every)) in enumerate(models.items()):
        ax.plot([own, every], [k, k], color="#9CA3AF", linewidth=1.5, zorder=1)
        ax.plot([every], [k], "o", color="white", markeredgecolor=GREY, markeredgewidth=1.5, markersize=9)
        ax.plot([own], [k], "o", color=PURPLE, markersize=9)
        label = _size(own) + ("" if own == every else f", not {_size(every)}")
        ax.text(1.03, k, label, va="center", fontsize=9.5, transform=ax.get_yaxis_transform())
        told.append(f"{name}: {label}")
    ax.set_xscale("log", base=2)
    ticks = [2.0**e for e in range(-6, 11, 2)]
    ax.set_xticks(ticks, [_size(tick).replace(" GiB", "").replace("iB", "") for tick in ticks], fontsize=9)
    ax.minorticks_off()
    ax.set(xlim=(2**-7, 2**11), ylim=(len(models) - 0.4, -0.6), xlabel="GiB, each tick four times as much")
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25, color=GREY)
    figure.text(
        0.25 / 9.4,
        1 - 0.72 / (high + 1.95),
        "filled: as published; hollow: if every query head kept keys and values of its own",
        fontsize=9.5,
        color=GREY,
        va="center",
    )
    return Picture(figure, f"{title}, on a logarithmic scale. " + "; ".join(told))


@styled
def price_of_sharing(counts, lines, guessing, title="What sharing costs a trained model"):
    """Shares of right answers over the number of key/value heads, from many to one; `lines` maps a name to
    shares between 0 and 1."""
    figure = card(9.2, 3.7, title)
    ax = axes(figure, 0.9, 0.7, 4.9, 2.35)
    looks = (
        (BLUE, "s", "-"),
        (ORANGE, "^", "--"),
        (VERMILLION, "o", "-."),
        (GREEN, "D", "-"),
        (PURPLE, "v", "--"),
    )
    for (name, shares), (colour, marker, style) in zip(lines.items(), looks, strict=False):
        percents = [100 * share for share in shares]
        ax.plot(range(len(counts)), percents, style, color=colour, marker=marker, linewidth=2, label=name)
    ax.axhline(100 * guessing, color=GREY, linewidth=1, linestyle=":", label="guessing")
    ax.set_xticks(range(len(counts)), [str(count) for count in counts])
    ax.set(xlabel="key/value heads", ylabel="% right", ylim=(0, 105))
    ax.grid(alpha=0.25, color=GREY)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.03, 0.5), fontsize=9.5)
    told = "; ".join(
        f"{name}: {', '.join(f'{100 * share:.0f}' for share in shares)}" for name, shares in lines.items()
    )
    return Picture(
        figure, f"{title}: percent right with {', '.join(map(str, counts))} key/value heads. {told}"
    )


@styled
def groups_and_memory(n_heads, n_kv_heads, gibibytes, room, title):
    """Who shares with whom, and the cache as a bar beside the memory of a machine; the explorer's figure."""
    figure = card(9.4, 3.6, title)
    ax = canvas(figure, 0, 0, 9.4, 3.6)
    _groups(ax, 0.4, 8.6, 1.85, n_heads, n_kv_heads, 2.7)
    wide, top = 6.0, max(room * 1.25, 1)
    shown = min(gibibytes, top)
    ax.text(0.4, 1.25, "the cache", fontsize=9.5, va="center", color=GREY)
    ax.add_patch(
        Rectangle((0.4, 0.65), wide * shown / top, 0.34, color=VERMILLION if gibibytes > room else PURPLE)
    )
    ax.plot([0.4 + wide * room / top] * 2, [0.5, 1.12], color=INK, linewidth=1.5)
    ax.text(0.4 + wide * room / top, 0.32, f"{room:.0f} GiB", ha="center", va="center", fontsize=9.5)
    fits = "fits" if gibibytes <= room else "does not fit"
    ax.text(6.75, 0.82, f"{gibibytes:,.2f} GiB: {fits}", fontweight="bold", va="center")
    return Picture(
        figure,
        f"{title}. {n_heads} query heads share {n_kv_heads} key/value head(s), "
        f"{n_heads // n_kv_heads} each. The cache takes {gibibytes:.2f} GiB, which {fits} in {room:.0f} GiB.",
    )
