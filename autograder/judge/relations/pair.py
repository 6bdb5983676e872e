"""What is due and what came, side by side."""

from dataclasses import dataclass

import torch

from autograder.exercises.exercise import Case, Exercise
from autograder.judge import words
from autograder.judge.tolerance import excess

# What float32 loses in an ordinary sum is a hundredth of this; what a mistake changes is mostly far more.
SAME = 1e-3


@dataclass(frozen=True)
class Pair:
    """The result that is due and the one that came, both in float64, and where they differ."""

    case: Case
    sizes: dict
    want: torch.Tensor
    have: torch.Tensor
    far: torch.Tensor

    @property
    def wrong(self) -> bool:
        return bool(self.far.any())

    @property
    def whole(self) -> bool:
        """Whether rows and columns are more than one, so that parts of the table can be told apart."""
        return self.want.dim() >= 2 and min(self.want.shape[-2:]) > 1


def pairs_of(exercise: Exercise, cases, expected: list[dict], records: list[dict]) -> list[Pair]:
    """The pairs of all cases: tensors of one shape that hold real numbers."""
    found = []
    for case, due, record in zip(cases, expected, records, strict=True):
        want, have = (one.get("steps", {}).get("output", {}) for one in (due, record))
        for a, b in zip(_tensors(want), _tensors(have), strict=False):
            if a.shape == b.shape and a.dim() >= 1 and a.is_floating_point() and b.is_floating_point():
                far = excess(a, b, case.scale) > 0
                found.append(Pair(case, words.letters(exercise, case), a.double(), b.double(), far))
    return found


def _tensors(value) -> list[torch.Tensor]:
    if value.get("kind") == "tensor":
        return [value["data"]]
    return [item["data"] for item in value.get("items", ()) if item.get("kind") == "tensor"]


def nearly_equal(first, second) -> bool:
    """Whether every number is the same but for rounding."""
    return bool(((first - second).abs() <= SAME * (1 + first.abs())).all())
