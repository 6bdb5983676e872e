"""The figure of lesson 13: the cache entry of one token, in several kinds of attention."""

from collections.abc import Mapping

from autograder.notebook.figures.palette import BLUE, INK, ORANGE, PURPLE, SKY
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import sentence

COLOURS = (BLUE, SKY, ORANGE, PURPLE)


@styled
def cache_bars(kibibytes: Mapping[str, float], title: str, note: str = "") -> Picture:
    """Draw one bar per kind of attention, labelled with its size and, from the second bar on, with that size
    relative to the first bar's.

    kibibytes: name -> KiB per token; all others are compared with the first one. `note` is a line below the
    title
    """
    high = 0.42 * len(kibibytes)
    figure = card(6.0, high + 1.2, title, note)
    ax = axes(figure, 1.5, 0.3, 2.7, high)
    first, told = next(iter(kibibytes.values())), []
    for k, (name, size) in enumerate(kibibytes.items()):
        ax.barh([k], [size], color=COLOURS[k % len(COLOURS)], height=0.62)
        label = f"{size:,.4g} KiB" if k == 0 else f"{size:,.4g} KiB, {share(size, first)}"
        ax.text(size + 0.02 * max(kibibytes.values()), k, label, va="center", fontsize=9.5, color=INK)
        told.append(f"{name}: {label}")
    ax.set(xlim=(0, max(kibibytes.values())), ylim=(len(kibibytes) - 0.5, -0.5), xticks=[])
    ax.set_yticks(range(len(kibibytes)), list(kibibytes), fontsize=9.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["bottom"].set_visible(False)
    return Picture(figure, f"{sentence(title)} {'; '.join(told)}.")


def share(size: float, whole: float) -> str:
    """Return a size relative to `whole`, in words: "1 part in 57" or "1.2 times as much"."""
    times = whole / size
    if times > 1:
        return f"1 part in {times:.0f}" if times >= 10 else f"1 part in {times:.2g}"
    return f"{1 / times:.3g} times as much"
