"""Tests that text in pictures has the contrast that WCAG 2 requires at level AA; axe cannot check pictures."""

import pytest

from autograder.graph import dot

BOXES = sorted({fill for _, fill in dot.STYLES.values()} | {"#FFFFFF"})


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("fill", BOXES)
@pytest.mark.parametrize("text", [dot.INK, dot.GREY], ids=["names", "shapes"])
def test_words_in_graphs_can_be_read_on_every_box(text, fill):
    assert contrast(text, fill) >= 4.5
