"""One style for every picture: cards, axes on them, and the class Picture, which a notebook can show.

Pictures stand on an opaque white card with round corners, so that they are legible on a dark page. Lengths
are in inches.
"""

import base64
import inspect
import io
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any

import matplotlib
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from autograder.errors import UserError, place_of
from autograder.faults import entry_point
from autograder.notebook.figures.palette import GREY, INK

DPI = 130  # in files and stored notebooks
SCREEN_DPI = 92  # in a cell: still sharp on high-resolution screens
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "text.color": INK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "attention-by-hand",
    "svg.fonttype": "path",
}


class Picture:
    """A finished figure with an alternative text."""

    def __init__(self, figure: Figure, alt: str):
        self.figure, self.alt = figure, alt

    def png(self, dpi: int = DPI, source: str = "") -> bytes:
        """Return the picture as PNG; `source` is stored in the file's metadata."""
        metadata = {"Software": None, "Description": self.alt} | ({"Source": source} if source else {})
        return self._written("png", dpi=dpi, metadata=metadata, pil_kwargs={"optimize": True})

    def svg(self) -> str:
        """Return the picture as SVG, as source that is identical on every run."""
        text = self._written("svg", metadata={"Date": None, "Creator": None}).decode()
        return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"

    def _written(self, kind: str, **options) -> bytes:
        buffer = io.BytesIO()
        with matplotlib.rc_context(STYLE):
            self.figure.savefig(buffer, format=kind, **options)
        return buffer.getvalue()

    def html(self) -> str:
        """Return the picture as one <img> element with its alternative text."""
        return as_image(self.png(), self.alt, self._width())

    def _width(self) -> int:
        return round(SCREEN_DPI * self.figure.get_size_inches()[0])

    @entry_point()
    def _repr_mimebundle_(self, include=None, exclude=None):
        data, metadata = shown(self.png(), self.alt, self._width())
        return data | {"text/plain": repr(self)}, metadata

    def __repr__(self):
        return f"<picture: {self.alt}>"


def shown(png: bytes, alt: str, width: int) -> tuple[dict, dict]:
    """Return (data, metadata) with which a notebook displays a picture.

    subtle: JupyterLab shows image/png without its alternative text. An <img> keeps it; where no HTML is
    shown, the PNG is used.
    """
    data = {"text/html": as_image(png, alt, width), "image/png": base64.b64encode(png).decode()}
    return data, {"image/png": {"alt": alt, "width": width}}


def as_image(png: bytes, alt: str, width: int) -> str:
    """Return the picture as an <img> element with its alternative text."""
    code = base64.b64encode(png).decode()
    return f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{code}" style="max-width: 100%">'


def styled(draw: Callable) -> Callable:
    """Make a drawing function use the course's style, and raise UserError with a short message if it cannot
    draw its input.
    """

    @entry_point()
    @wraps(draw)
    def drawn(*args, **kwargs):
        try:
            with matplotlib.rc_context(STYLE):
                return draw(*args, **kwargs)
        except UserError:
            raise
        except Exception as error:  # NumPy and matplotlib fail in many ways on a wrong argument
            raise UserError(_not_drawn(draw, args, kwargs, error)) from error

    return drawn


def _not_drawn(draw: Callable, args: tuple, kwargs: dict[str, Any], error: Exception) -> str:
    """Return an error message that shows the function's signature and the arguments given, without judging
    whose fault it is.
    """
    takes = inspect.signature(draw).parameters
    given = dict(zip(takes, args)) | kwargs
    told = "; ".join(f"{name}: {_form_of(value)}" for name, value in given.items())
    purpose = " ".join((draw.__doc__ or "").partition("\n\n")[0].split())
    return (
        f"{draw.__name__} cannot draw this ({place_of(error)}).\n"
        f"It takes {', '.join(takes)}, to {purpose[:1].lower()}{purpose[1:]}\nIt was given {told or 'nothing'}."
    )


def _form_of(value: object) -> str:
    """Return the type and the size of a value, in words."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    kind = type(value).__name__
    return f"{kind} of {len(value)}" if isinstance(value, (list, tuple, dict, str)) else kind


def card(width: float, height: float, title: str = "", note: str = "") -> Figure:
    """Return an empty figure on a white card of this size, with its title at the top left and a note below
    the title.
    """
    figure = Figure(figsize=(width, height), facecolor="none")
    figure.add_artist(
        FancyBboxPatch(
            (0.03, 0.03),
            width - 0.06,
            height - 0.06,
            boxstyle="round,pad=0,rounding_size=0.14",
            transform=figure.dpi_scale_trans,
            facecolor="white",
            edgecolor="#D1D5DB",
            linewidth=1,
            zorder=-10,
        )
    )
    if title:
        figure.text(0.25 / width, 1 - 0.36 / height, title, fontsize=12, fontweight="bold", va="center")
    if note:
        figure.text(0.25 / width, 1 - 0.66 / height, note, fontsize=9.5, color=GREY, va="center")
    return figure


def axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes to the card and return them; the size, and the position from the card's lower left corner, are
    in inches.
    """
    full_width, full_height = figure.get_size_inches()
    place = (left / full_width, bottom / full_height, width / full_width, height / full_height)
    return figure.add_axes(place, facecolor="none")


def canvas(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes without ticks or frame, with one unit per inch and the origin at the lower left, and return
    them.
    """
    ax = axes(figure, left, bottom, width, height)
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return ax
