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
    n, pitch = len(tokens), 0.62
    figure = card(6.0, 3.6, "One word at a time: new, kept, read")
    ax = canvas(figure, 0, 0, 6.0, 3.6)
    for step in range(n):
        y = 2.65 - 0.48 * step
        ax.text(0.62, y, tokens[step], ha="right", va="center")
        ax.add_patch(Rectangle((0.72, y - 0.17), 0.62, 0.34, facecolor=ORANGE, alpha=0.85))
        ax.text(1.03, y, "query", ha="center", va="center", fontsize=9)
        _arrow(ax, (1.38, y), (1.66, y))
        for j in range(step + 1):
            _pair(ax, 1.7 + pitch * j, y, tokens[j], new=j == step)
        ax.text(1.78 + pitch * n, y, f"1 new, {step + 1} read", va="center", fontsize=9, color=GREY)
    ax.text(1.7, 0.27, "blue: computed now; grey: kept, and read again", va="center", fontsize=9, color=GREY)
    return Picture(
        figure,
        f"A model writes {' '.join(tokens)} word by word. At every step there is one new query and one new pair "
        "of key and value; the pairs of all words before are kept. The query meets all of them: at the first "
        f"step 1 pair is read, at the last step {n}.",
    )


def _pair(ax, left, y, token, new):
    """A word's key and value, blue where they have just been computed."""
    fill, edge, ink = (SKY, BLUE, INK) if new else (PALE, "#9CA3AF", GREY)
    ax.add_patch(Rectangle((left, y - 0.17), 0.57, 0.34, facecolor=fill, edgecolor=edge, linewidth=1.2))
    ax.text(left + 0.285, y, f"k, v {token}", ha="center", va="center", fontsize=8, color=ink)


def _size(gibibytes):
    """A size in words: 16 MiB, 1.25 GiB, 1,008 GiB."""
    if gibibytes < 0.5:
        return f"{1024 * gibibytes:.0f} MiB"
    return f"{gibibytes:,.0f} GiB" if gibibytes >= 100 else f"{gibibytes:.3g} GiB"


@styled
def cache_sizes(models, title="The key/value cache of one full text"):
    """Dots on a logarithmic scale: `models` maps a name to GiB (as published, if every head kept its own)."""
    high = 0.42 * len(models)
    figure = card(6.0, high + 1.9, title)
    ax = axes(figure, 1.45, 0.7, 2.75, high)
    names, told = list(models), []
    for k, (name, (own, every)) in enumerate(models.items()):
        ax.plot([own, every], [k, k], color="#9CA3AF", linewidth=1.5, zorder=1)
        ax.plot([every], [k], "o", color="white", markeredgecolor=GREY, markeredgewidth=1.5, markersize=9)
        ax.plot([own], [k], "o", color=PURPLE, markersize=9)
        label = _size(own) + ("" if own == every else f", not {_size(every)}")
        ax.text(1.03, k, label, va="center", fontsize=9, transform=ax.get_yaxis_transform())
        told.append(f"{name}: {label}")
    ax.set_xscale("log", base=2)
    ticks = [2.0**e for e in range(-6, 11, 4)]
    ax.set_xticks(ticks, [_size(tick) for tick in ticks], fontsize=8)
    ax.minorticks_off()
    ax.set(xlim=(2**-7, 2**11), ylim=(len(models) - 0.4, -0.6), xlabel="each line 16 times as much")
    ax.set_yticks(range(len(names)), names, fontsize=9.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", alpha=0.25, color=GREY)
    note = "filled: as published; hollow: unshared"
    figure.text(0.25 / 6.0, 1 - 0.7 / (high + 1.9), note, fontsize=9.5, color=GREY, va="center")
    return Picture(figure, f"{title}, on a logarithmic scale. " + "; ".join(told))


@styled
def price_of_sharing(counts, lines, guessing, title="What sharing costs a trained model"):
    """Shares of right answers over the number of key/value heads, from many to one; `lines` maps a name to
    shares between 0 and 1."""
    figure = card(6.0, 4.3, title)
    ax = axes(figure, 0.75, 1.4, 4.9, 2.25)
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
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(-0.05, -0.2), ncols=2, fontsize=9.5)
    told = "; ".join(
        f"{name}: {', '.join(f'{100 * share:.0f}' for share in shares)}" for name, shares in lines.items()
    )
    return Picture(
        figure, f"{title}: percent right with {', '.join(map(str, counts))} key/value heads. {told}"
    )


@styled
def groups_and_memory(n_heads, n_kv_heads, gibibytes, room, title):
    """Who shares with whom, and the cache as a bar beside the memory of a machine; the explorer's figure."""
    figure = card(6.0, 3.7, title)
    ax = canvas(figure, 0, 0, 6.0, 3.7)
    _groups(ax, 0.3, 5.4, 2.05, n_heads, n_kv_heads, 2.85)
    wide, top = 5.4, max(room * 1.25, 1)
    shown = min(gibibytes, top)
    fits = "fits" if gibibytes <= room else "does not fit"
    ax.text(0.3, 1.4, f"the cache, {gibibytes:,.2f} GiB: {fits}", fontweight="bold", va="center")
    colour = VERMILLION if gibibytes > room else PURPLE
    ax.add_patch(Rectangle((0.3, 0.75), wide * shown / top, 0.34, color=colour))
    limit = 0.3 + wide * room / top
    ax.plot([limit, limit], [0.6, 1.22], color=INK, linewidth=1.5)
    ax.text(limit, 0.4, f"room for {room:.0f} GiB", ha="center", va="center", fontsize=9.5)
    return Picture(
        figure,
        f"{title}. {n_heads} query heads share {n_kv_heads} key/value head(s), "
        f"{n_heads // n_kv_heads} each. The cache takes {gibibytes:.2f} GiB, which {fits} in {room:.0f} GiB.",
    )
