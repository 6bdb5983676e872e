"""Turns numbers into plain lists and into text, for pictures and their alternative texts."""

import math
from collections.abc import Sequence

import torch

Vector = torch.Tensor | Sequence[float]
Matrix = torch.Tensor | Sequence[Sequence[float]]


def rows(values: Matrix) -> list[list]:
    """Return a matrix as plain nested lists."""
    return values.detach().tolist() if isinstance(values, torch.Tensor) else [row(line) for line in values]


def row(values: Vector) -> list:
    """Return a vector as a plain list."""
    return values.detach().tolist() if isinstance(values, torch.Tensor) else list(values)


def listed(values: Sequence[float]) -> str:
    """Return numbers as one text, separated by commas, for an alternative text."""
    return ", ".join(number(value) for value in values)


def sentence(text: str) -> str:
    """Return the text, with a full stop added unless it ends with a full stop, a question mark or an
    exclamation mark.
    """
    return text if text.endswith((".", "?", "!")) else f"{text}."


def number(value: float, digits: int = 2) -> str:
    """Return a number as it appears in a picture: whole numbers without a decimal point, negative ones with a
    true minus sign.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "\u221e" if value > 0 else "\u2212\u221e"
    if abs(value - round(value)) < 1e-6 and (round(value) or value == 0):
        digits = 0
    text = f"{value:.{digits}f}"
    return (text[1:] if text.startswith("-") and float(text) == 0 else text).replace("-", "\u2212")
