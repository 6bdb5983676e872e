"""The code that only lesson 19 needs: augmentation of images, and a figure of images with the weights of
their patches.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from matplotlib.axes import Axes
from torch import Tensor

from autograder.notebook.figures.palette import GREY, SEQUENTIAL
from autograder.notebook.figures.style import Picture, axes, card, styled
from autograder.notebook.figures.words import number, sentence

LEFT, GAP = 0.3, 0.16  # inches


@styled
def image_row(
    images: Sequence[Tensor],
    names: Sequence[str],
    title: str,
    *,
    patch: int | Sequence[int] = 0,
    shares: Sequence[Tensor] | None = None,
    note: str = "",
) -> Picture:
    """Draw images side by side with their names below.

    An image with one channel is drawn in shades of grey, and an image with three channels is drawn in colour.

    `images` holds tensors (C, H, W) with values from 0 to 1, where C = 1 or 3. `patch` is the size of the
    patches to outline, one for all images or one for each; 0 draws no lines. `shares` holds, for each image,
    a tensor (N,) with one number per patch; the numbers are drawn as colours below the image, darker for
    more.
    """
    patches = [patch] * len(images) if isinstance(patch, int) else patch
    size = min(2.2, (6.0 - LEFT - 0.2) / len(images) - GAP)
    height = 0.9 + (0.25 if note else 0) + (1 if shares is None else 2) * (size + GAP)
    wide = max(
        4.0, LEFT + 0.2 + len(images) * (size + GAP), 0.105 * len(title) + 0.8, 0.075 * len(note) + 0.6
    )
    figure = card(wide, height, title, note)
    told = []
    for k, (image, name) in enumerate(zip(images, names, strict=True)):
        left, bottom = LEFT + k * (size + GAP), 0.4
        if shares is not None:
            _heat(axes(figure, left, bottom, size, size), image, shares[k])
            told.append(
                f"{name}: most from patch {int(shares[k].argmax())} ({number(float(shares[k].max()))})"
            )
        top = bottom if shares is None else bottom + size + GAP
        _image(axes(figure, left, top, size, size), image, patches[k])
        figure.text((left + size / 2) / wide, 0.2 / height, name, ha="center", va="center", fontsize=9.5)
    alt = f"{sentence(title)} {note and sentence(note)} {'; '.join(told) or ', '.join(names)}."
    return Picture(figure, " ".join(alt.split()))


def _image(ax: Axes, image: Tensor, patch: int) -> None:
    ink: dict = {"cmap": "Greys", "vmin": 0, "vmax": 1.1} if len(image) == 1 else {}
    pixels = image[0] if len(image) == 1 else image.permute(1, 2, 0)
    ax.imshow(pixels.numpy(), interpolation="nearest", **ink)
    _frame(ax)
    for at in range(patch, image.shape[1], patch) if patch else ():
        ax.axhline(at - 0.5, color="#9CA3AF", linewidth=0.6)
    for at in range(patch, image.shape[2], patch) if patch else ():
        ax.axvline(at - 0.5, color="#9CA3AF", linewidth=0.6)


def _heat(ax: Axes, image: Tensor, share: Tensor) -> None:
    """Draw the shares as coloured squares, with the image in translucent black over them."""
    side = math.isqrt(len(share))
    height, width = image.shape[1:]
    place = (-0.5, width - 0.5, height - 0.5, -0.5)
    ax.imshow(
        share.reshape(side, side).numpy(), cmap=SEQUENTIAL, vmin=0, extent=place, interpolation="nearest"
    )
    ink = torch.zeros(height, width, 4)
    ink[..., 3] = 0.45 * image.mean(0)
    ax.imshow(ink.numpy(), interpolation="bilinear")
    _frame(ax)


def _frame(ax: Axes) -> None:
    ax.set(xticks=[], yticks=[])
    ax.spines[["top", "right"]].set_visible(True)
    ax.spines[:].set_color(GREY)


def jittered(
    images: Tensor, generator: torch.Generator, turn: float = 0.2, shift: float = 0.06, scale: float = 0.1
) -> Tensor:
    """Return (B, C, H, W) images, each rotated, shifted and scaled at random.

    turn: the largest rotation to either side, in radians
    shift: the largest shift, as a share of the height and of the width
    scale: the largest change of size, as a share of the size
    """
    limits = torch.tensor([turn, 2 * shift, 2 * shift, scale])
    angle, right, down, grown = limits[:, None] * (2 * torch.rand(4, len(images), generator=generator) - 1)
    cos, sin = (1 + grown) * angle.cos(), (1 + grown) * angle.sin()
    moves = torch.stack([cos, -sin, right, sin, cos, down], dim=1).unflatten(1, (2, 3))
    places = F.affine_grid(moves, list(images.shape), align_corners=False)
    return F.grid_sample(images, places, align_corners=False)
