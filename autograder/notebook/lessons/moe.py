"""The figure of lesson 14: how tokens are divided among experts while a model learns."""

from collections.abc import Mapping

from autograder.notebook.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import Matrix, rows, sentence

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, "#F0E442", GREY)


@styled
def expert_shares(runs: Mapping[str, Matrix], title: str, across: int = 3) -> Picture:
    """Draw each expert's share of the tokens over the steps, as stacked bands that fill the height, with
    `across` charts per row.

    runs: name -> (steps, experts); each row holds the shares of one step, which sum to 1
    """
    lines = -(-len(runs) // across)
    figure = card(6.0, 0.75 + 1.85 * lines, title)
    told = []
    for k, (name, values) in enumerate(runs.items()):
        shares = rows(values)
        wide = (6.0 - 0.75) / across
        ax = axes(figure, 0.6 + wide * (k % across), 0.5 + 1.85 * (lines - 1 - k // across), wide - 0.25, 1.2)
        ax.stackplot(
            range(len(shares)), *zip(*shares, strict=True), colors=COLOURS, linewidth=0.5, edgecolor="white"
        )
        ax.set(xlim=(0, len(shares) - 1), ylim=(0, 1), yticks=[0, 1] if k % across == 0 else [])
        ax.set_title(name, fontsize=9.5, pad=5)
        ax.tick_params(labelsize=8.5)
        if k // across == lines - 1:
            ax.set_xlabel("step", fontsize=9)
        told.append(f"{name}: at first {_spread(shares[0])}, at last {_spread(shares[-1])}")
    return Picture(figure, f"{sentence(title)} One band per expert, as high as its share. {'; '.join(told)}.")


def _spread(shares: list[float]) -> str:
    return f"between {min(shares):.0%} and {max(shares):.0%} per expert"
