"""The figures of lesson 05: the size of a cache, and how heads share it."""

from collections.abc import Mapping, Sequence

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import FancyBboxPatch, Rectangle

from autograder.notebook.figures.palette import GREY, HEADS, HEADS_DARK, INK, PURPLE, VERMILLION
from autograder.notebook.figures.style import Picture, axes, canvas, card, styled


@styled
def cache_sizes(
    models: Mapping[str, tuple[float, float]], title: str = "The key/value cache of one full text"
) -> Picture:
    """Draw the sizes of key/value caches as dots on a logarithmic scale, one line per model.

    models: name -> (GiB as published, GiB if every query head had separate keys and values)
    """
    high = 0.42 * len(models)
    figure = card(6.0, high + 1.9, title, "filled: as published; hollow: unshared")
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
    return Picture(figure, f"{title}, on a logarithmic scale. " + "; ".join(told))


@styled
def groups_and_memory(n_heads: int, n_kv_heads: int, gibibytes: float, room: float, title: str) -> Picture:
    """Draw the groups of query heads that share a key/value head, and the cache as a bar with a line at
    `room`, the memory of a machine.
    """
    figure = card(6.0, 3.7, title)
    ax = canvas(figure, 0, 0, 6.0, 3.7)
    draw_groups(ax, 0.3, 5.4, 2.05, n_heads, n_kv_heads, 2.85)
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


def chips(
    ax: Axes,
    xs: Sequence[float],
    y: float,
    colours: Sequence[str],
    texts: Sequence[str] | None = None,
    width: float = 0.24,
    height: float = 0.3,
) -> None:
    """Draw small rounded boxes, one per head, centred at the positions `xs`."""
    for k, x in enumerate(xs):
        box = FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            facecolor=colours[k],
            edgecolor="none",
            boxstyle="round,pad=0,rounding_size=0.05",
        )
        ax.add_patch(box)
        if texts:
            ax.text(x, y, texts[k], ha="center", va="center", fontsize=9, color=INK)


def draw_groups(
    ax: Axes, left: float, wide: float, y: float, n_heads: int, n_kv_heads: int, heads_y: float
) -> None:
    """Draw query heads above, key/value heads below, and a line from each query head to the key/value head
    that it uses.

    Heads of the same colour form one group. If no heads share, everything is grey.
    """
    group = n_heads // n_kv_heads
    pale, dark = _colours_of_groups(n_kv_heads, shared=group > 1)
    xs = [left + wide * (h + 0.5) / n_heads for h in range(n_heads)]
    kv = [sum(xs[g * group : (g + 1) * group]) / group for g in range(n_kv_heads)]
    chip = min(0.24, 0.8 * wide / n_heads)
    for h, x in enumerate(xs):
        ax.plot([x, kv[h // group]], [heads_y - 0.15, y + 0.17], color=dark[h // group], linewidth=1.2)
    chips(ax, xs, heads_y, [pale[h // group] for h in range(n_heads)], width=chip)
    for low in (0.02, -0.16):  # a key and a value
        chips(ax, kv, y + low, dark, width=chip, height=0.15)


def _colours_of_groups(count: int, shared: bool) -> tuple[list[str], list[str]]:
    """Return two lists, pale and dark, with one colour per group; all colours are grey if no heads share."""
    if not shared:
        return ["#E5E7EB"] * count, [GREY] * count
    if count <= len(HEADS):
        return list(HEADS[:count]), list(HEADS_DARK[:count])
    dark = [to_hex(colormaps["turbo"](0.06 + 0.88 * g / (count - 1))) for g in range(count)]
    return [_pale(colour) for colour in dark], dark


def _pale(colour: str) -> str:
    """Return the colour mixed with a lot of white."""
    red, green, blue = (0.72 + 0.28 * part for part in to_rgb(colour))
    return to_hex((red, green, blue))


def _size(gibibytes: float) -> str:
    """Return a size as text, with its unit: 16 MiB, 1.25 GiB, 1,008 GiB."""
    if gibibytes < 0.5:
        return f"{1024 * gibibytes:.0f} MiB"
    return f"{gibibytes:,.0f} GiB" if gibibytes >= 100 else f"{gibibytes:.3g} GiB"
