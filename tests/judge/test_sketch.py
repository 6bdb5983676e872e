"""Tests sketches of gradients: equal gradients have equal sketches, and a difference in a single entry
changes the sketch.
"""

import pytest
import torch

from autograder.judge.sketch import sketch
from autograder.values.compare import same_value
from autograder.values.encode import encode

G = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))


def of(**gradients):
    return sketch(encode(gradients))


def test_the_same_numbers_with_rounding_have_the_same_sketch():
    assert same_value(of(q=G, k=None), of(q=G + 1e-7 * G, k=None))


@pytest.mark.parametrize("entry", range(35))
def test_one_other_entry_is_seen(entry):
    other = G.clone()
    other.view(-1)[entry] += 0.01
    assert not same_value(of(q=G), of(q=other))


@pytest.mark.parametrize(
    "other",
    [G.T, -G, G * 1.01, G + 0.01, G.flip(0), G.flip(1), G.double(), None, G.clone().fill_(float("nan"))],
    ids=["turned", "sign", "factor", "shift", "rows", "columns", "type", "none", "NaN"],
)
def test_other_gradients_have_another_sketch(other):
    assert not same_value(of(q=G), of(q=other))


def test_what_is_not_finite_is_counted_and_the_rest_compared():
    one, two = G.clone(), G.clone()
    one[0, 0] = two[0, 0] = torch.inf
    assert same_value(of(q=one), of(q=two))
    two[4, 4] += 1
    assert not same_value(of(q=one), of(q=two))
