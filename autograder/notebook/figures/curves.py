"""What the experiments measured."""

from autograder.notebook.figures.style import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    Picture,
    axes,
    card,
    styled,
)


def _line(ax, xs, ys, colour, name, marker, style="-"):
    ax.plot(xs, ys, style, color=colour, marker=marker, markersize=5, linewidth=2, label=name)


def _finish(ax, title, xlabel, ticks):
    ax.set_title(title, fontsize=10.5, pad=8)
    ax.set_xlabel(xlabel)
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.grid(alpha=0.25, color=GREY)


@styled
def saturation(rows, title="Long vectors, with and without the scale"):
    """Three panels over one d_k: variance of the scores, the largest weight, the gradient that gets through.

    rows: one dictionary per width, with keys d_k and, for "raw" and "scaled", variance_, largest_, gradient_.
    """
    widths = [line["d_k"] for line in rows]
    figure = card(5.6, 6.6, title)
    panels = (
        ("variance", "variance of the scores", True),
        ("largest", "largest weight of 16", False),
        ("gradient", "gradient through softmax", False),
    )
    for k, (key, name, logarithmic) in enumerate(panels):
        ax = axes(figure, 0.85, 0.65 + 1.85 * (2 - k), 4.35, 1.3)
        _line(ax, widths, [line[f"{key}_raw"] for line in rows], VERMILLION, "raw", "o")
        _line(ax, widths, [line[f"{key}_scaled"] for line in rows], BLUE, r"divided by $\sqrt{d_k}$", "s", "--")
        _finish(ax, name, "$d_k$" if k == 2 else "", widths)
        if logarithmic:
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter("{x:g}")
            ax.yaxis.set_minor_locator(_no_ticks())
        else:
            ax.set_ylim(0, 1.12 * max(max(line[f"{key}_raw"], line[f"{key}_scaled"]) for line in rows))
        if k == 0:
            ax.legend(frameon=False, fontsize=9)
    first, last = rows[0], rows[-1]
    return Picture(
        figure,
        (
            f"Three line charts over d_k from {first['d_k']} to {last['d_k']}. Without the scale the "
            f"variance of the "
            f"scores grows from {first['variance_raw']:.0f} to {last['variance_raw']:.0f}, the largest "
            f"weight approaches 1 "
            f"and the gradient falls to {last['gradient_raw']:.3f}; divided by the root of d_k, all "
            f"three stay level."
        ),
    )


def _no_ticks():
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _short(value):
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


@styled
def timing(sizes, seconds, title="The same table of scores, three ways", counted="number of tokens n"):
    """Time over what is counted, both axes logarithmic; `seconds` maps a name to its times."""
    figure = card(6.0, 4.0, title)
    ax = axes(figure, 0.8, 0.7, 3.5, 2.6)
    looks = ((VERMILLION, "o", "-"), (ORANGE, "^", "-"), (BLUE, "s", "-"))
    for (name, times), (colour, marker, style) in zip(seconds.items(), looks, strict=True):
        milliseconds = [1000 * value for value in times]
        _line(ax, sizes[: len(times)], milliseconds, colour, name, marker, style)
        ax.annotate(
            f"{name}\n{_short(milliseconds[-1])} ms",
            (sizes[len(times) - 1], milliseconds[-1]),
            (10, 0),
            textcoords="offset points",
            va="center",
            fontsize=9.5,
            fontweight="bold",
        )
    _finish(ax, "", counted, sizes)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(_no_ticks())
    ax.set_ylabel("milliseconds")
    told = "; ".join(
        f"{name}: {_short(1000 * times[-1])} ms at {sizes[len(times) - 1]}"
        for name, times in seconds.items()
    )
    return Picture(figure, f"{title}: milliseconds over the {counted}, both axes logarithmic. {told}")


@styled
def learning(losses, title="Learning what to ask"):
    """A loss over the steps of training."""
    figure = card(5.4, 3.1, title)
    ax = axes(figure, 0.8, 0.65, 4.2, 1.75)
    ax.plot(range(len(losses)), losses, color=PURPLE, linewidth=2)
    ax.set(xlabel="step", ylabel="loss", ylim=(0, None))
    ax.grid(alpha=0.25, color=GREY)
    return Picture(
        figure, f"{title}: the loss falls from {losses[0]:.2f} to {losses[-1]:.2f} in {len(losses)} steps."
    )
