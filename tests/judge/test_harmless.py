"""Tries every operation that rules of form call harmless, and asserts that none of them can multiply two
tensors.

If the inputs move along a straight line, an operation that only moves, selects, adds or scales numbers gives
results along a straight line, too; with a product of two inputs, the results curve. An operation that cannot
be tried counts as one that multiplies.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from autograder.judge.rules import HARMLESS, READ_NOTHING

# subtle: the entries are further apart than any step moves them, so max and sort always see the same order.
_START = torch.tensor([[1.0, 9.0, 4.0], [16.0, 2.5, 25.0], [6.0, 12.0, 36.0]], dtype=torch.float64)
_WAY = torch.tensor([[0.11, -0.2, 0.17], [0.07, 0.19, -0.13], [-0.05, 0.23, 0.14]], dtype=torch.float64)
_ROUNDING = 1e-9
_INDEX, _MASK = torch.tensor([[2, 0, 1]] * 3), torch.eye(3, dtype=torch.bool)


def _arguments(x: torch.Tensor) -> list[tuple]:
    """Return argument lists of the kinds that operations take. Each begins with x, which is 3 by 3, or with a
    tensor made from it.
    """
    y, row = x.flip(0).contiguous(), _INDEX[0]
    one, two = x[0], y[0]
    single = [
        (x,),
        (one,),
        (x, 0),
        (x, -1),
        (x, 0, 1),
        (x, [0]),
        (x, (0,)),
        (x, (0, 1)),
        (x, (9,)),
        (x, (3, 3)),
    ]
    several = [([x, y],), ([x, y], 0), (x, y), (one, two), (x, one, two), (x, y, one), (x, x, y), (x, y, 0.5)]
    chosen = [(x, 0, row), (x, 0, _INDEX), (x, _INDEX), (x, _INDEX, 0), (x, (row,)), (x, [row]), (x, row, 0)]
    chosen += [(x, 0, _INDEX, y), (x, 0, row, y), (x, (row,), y), (x, [row], y)]
    masked = [
        (x, _MASK),
        (x, _MASK, 0.0),
        (x, _MASK, y),
        (_MASK, x, y),
        (x, torch.float64),
        (x, 2, 0),
        (x, 0.0),
    ]
    return single + several + chosen + masked


def can_multiply(name: str) -> bool:
    """Return whether the function of this name can multiply two tensors; True if it cannot be tried."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        tried = [curved for function in _functions(name) for curved in _curves(function)]
    return any(tried) or not tried


def _functions(name: str) -> Iterator[Callable]:
    for place in (torch, torch.Tensor):
        function = getattr(place, "to" if name == "_to_copy" else name, None)
        if callable(function) and not isinstance(function, type):
            yield function


def _curves(function: Callable) -> Iterator[bool]:
    """Yield, for each argument list that the function accepts, whether the function's results are nonlinear."""
    for number in range(len(_arguments(_START))):
        try:
            before, here, after = (_result(function, number, step) for step in (-1, 0, 1))
        except Exception:
            continue
        if len(here):
            size = 1 + here.abs().max()
            yield not bool(((before - 2 * here + after).abs() <= _ROUNDING * size).all())


def _result(function: Callable, number: int, step: int) -> torch.Tensor:
    made = function(*_arguments(_START + step * _WAY)[number])
    return torch.cat([torch.zeros(0, dtype=torch.float64), *_floats(made)])


def _floats(made: Any) -> Iterator[torch.Tensor]:
    if isinstance(made, torch.Tensor):
        if made.is_floating_point():
            yield made.double().flatten()
    elif isinstance(made, (list, tuple)):
        for one in made:
            yield from _floats(one)


@pytest.mark.parametrize("name", sorted(HARMLESS - READ_NOTHING))
def test_no_harmless_operation_multiplies(name):
    assert not can_multiply(name)


PRODUCTS = (
    "mul mm matmul dot outer prod cumprod norm softmax logsumexp cdist div pow cross kron var floor_divide"
)


@pytest.mark.parametrize("name", PRODUCTS.split())
def test_a_product_would_be_found(name):
    assert can_multiply(name)
