"""Defines pairs of an expected and an actual result, and the type of the relations that describe them."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from autograder.judge import formatting
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.schema.twice import TWICE
from autograder.values import Encoded, Record
from autograder.values.compare import excess
from autograder.values.encode import items_of

# float32 loses a hundredth of this in an ordinary sum; most mistakes change far more.
SAME = 1e-3


@dataclass(frozen=True)
class Pair:
    """The expected and the actual result of a case, either numbers in float64 or masks, and where they
    differ.

    number   the position of the result among those that the call returns
    attends  whether the exercise has queries and keys, so that a message can mention them
    """

    case: Case
    sizes: dict[str, int]
    expected: torch.Tensor
    actual: torch.Tensor
    differs: torch.Tensor
    number: int = 0
    attends: bool = False

    @property
    def wrong(self) -> bool:
        return bool(self.differs.any())

    @property
    def is_table(self) -> bool:
        """True if the result has several rows and several columns, so that parts of it can be told apart."""
        return self.expected.dim() >= 2 and min(self.expected.shape[-2:]) > 1


Pairs = list[Pair]
Words = tuple[str, str]  # observation and question
# (wrong pairs, all pairs) -> message, or None if the relation does not hold
Relation = Callable[[Pairs, Pairs], Words | None]
NOTHING: Words = ("", "")  # sentinel: ends a group of relations without a message


def pairs_of(exercise: Exercise, cases: list[Case], expected: list[Record], records: list[Record]) -> Pairs:
    """Return the pairs of all cases: floating-point tensors of the same shape or, if there are none, masks of
    the same shape. The case with two consecutive calls is left out, and so is any case in which an integer
    that is returned with the tensors is wrong.
    """
    numbers: Pairs = []
    masks: Pairs = []
    for case, right, record in zip(cases, expected, records, strict=True):
        if case.family == TWICE:
            continue  # This case shows how one call affects the next, and repeats the numbers of other cases.
        sizes = formatting.sizes_of_axes(exercise, case)
        outputs = [one.get("steps", {}).get("output", {}) for one in (right, record)]
        if _ints(outputs[0]) != _ints(outputs[1]):
            # If an integer returned with them differs, such as the count of accepted tokens, comparing
            # tensors is meaningless.
            continue
        attends = _attends(exercise, case)
        for number, (a, b) in enumerate(zip(*map(_tensors, outputs), strict=False)):
            if a.shape != b.shape or a.dim() == 0:
                continue
            if a.is_floating_point() and b.is_floating_point():
                differs = excess(a, b, case.scale) > 0
                numbers.append(Pair(case, sizes, a.double(), b.double(), differs, number, attends))
            elif a.dtype == b.dtype == torch.bool:
                masks.append(Pair(case, sizes, a, b, a ^ b))
    return numbers or masks


def _attends(exercise: Exercise, case: Case) -> bool:
    """Return whether the exercise takes `q`, `keys` or `scores`, or has a query projection."""
    return bool({"q", "keys", "scores"} & {*exercise.parameters}) or any(
        "q_proj" in name for name in case.weights
    )


def _tensors(value: Encoded) -> list[torch.Tensor]:
    if value.get("kind") == "tensor":
        return [value["data"]]
    return [item["data"] for item in items_of(value) if item.get("kind") == "tensor"]


def _ints(value: Encoded) -> list[int]:
    return [item["value"] for item in items_of(value) if item.get("kind") == "int"]


def nearly_equal(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Return whether all numbers agree up to rounding; an infinity agrees only with itself."""
    near = (first - second).abs() <= SAME * (1 + first.abs())
    return bool(((first == second) | near & first.isfinite()).all())
