"""Shared by the drawings of several lessons: arrows, boxes, squares, cells with text."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from autograder.notebook.figures.palette import BLUE, GREY, PALE

Point = tuple[float, float]

# The names of heads, dark enough to be read.
NAMES = (BLUE, "#9A6700", "#00684C", "#8B3A66")


def arrow(
    ax: Axes,
    start: Point,
    end: Point,
    colour: str = GREY,
    width: float = 1.6,
    bend: float = 0.0,
    alpha: float = 1.0,
) -> None:
    """Draw an arrow from one point to another."""
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=12,
            color=colour,
            linewidth=width,
            connectionstyle=f"arc3,rad={bend}",
            alpha=alpha,
            shrinkA=0,
            shrinkB=0,
        )
    )


def box(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    shape: str = "",
    colour: str = BLUE,
    width: float = 1.25,
    height: float = 0.62,
) -> None:
    """Draw a named box with its centre at (x, y), its shape in small letters below the name."""
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            facecolor="white",
            edgecolor=colour,
            boxstyle="round,pad=0,rounding_size=0.08",
            linewidth=1.8,
        )
    )
    ax.text(x, y + (0.11 if shape else 0), text, ha="center", va="center", fontweight="bold")
    if shape:
        ax.text(x, y - 0.15, shape, ha="center", va="center", fontsize=9, color=GREY)


def squares(
    ax: Axes,
    x: float,
    y: float,
    n_rows: int,
    n_columns: int,
    size: float,
    colours: dict[tuple[int, int], str] | None = None,
    fill: str = PALE,
) -> None:
    """Draw an n_rows x n_columns grid with its upper left corner at (x, y); `colours` maps (i, j) to a
    colour.
    """
    for i in range(n_rows):
        for j in range(n_columns):
            colour = (colours or {}).get((i, j), fill)
            ax.add_patch(
                Rectangle(
                    (x + j * size, y - (i + 1) * size),
                    size,
                    size,
                    facecolor=colour,
                    edgecolor="white",
                    linewidth=1.5,
                )
            )


def cells(
    ax: Axes,
    x: float,
    y: float,
    lines: list[list[str]],
    colours: list[list[str]],
    width: float = 0.52,
    height: float = 0.4,
) -> None:
    """Draw a small table of texts, its upper left corner at (x, y); colours[i][j] fills a cell."""
    for i, line in enumerate(lines):
        for j, text in enumerate(line):
            corner = (x + j * width, y - (i + 1) * height)
            ax.add_patch(
                Rectangle(corner, width, height, facecolor=colours[i][j], edgecolor="white", linewidth=1.5)
            )
            middle = (x + (j + 0.5) * width, y - (i + 0.5) * height)
            ax.text(*middle, text, ha="center", va="center", fontsize=9.5)


def softmax(values: Sequence[float]) -> list[float]:
    """Return the softmax of plain numbers, computed in float64."""
    return torch.softmax(torch.tensor(values, dtype=torch.float64), dim=0).tolist()
