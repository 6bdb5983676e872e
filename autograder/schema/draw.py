"""Random inputs of cases: seeded, of both signs, the same on every machine.

A visible check draws from a public seed, a hidden one from a secret of the course. All cases of an exercise
draw from one stream, so adding a case changes the inputs of those after it.
"""

import hashlib

import numpy as np
import torch

PUBLIC_SEED = "public"
PARTS_OF_ONE = 2**23  # sums of multiples of 1/2**23 up to 1 are exact in float32, in any order


class Draw:
    """Draws the inputs of one exercise's cases from `seed`.

    `hidden` is True for the hidden check, in which an exercise may yield additional cases.
    """

    def __init__(self, exercise_id: str, seed: str = PUBLIC_SEED, hidden: bool = False):
        self.exercise_id, self.seed, self.hidden = exercise_id, seed, hidden
        self._sizes: list[list[int]] = []  # the sizes returned so far
        self._known: list[list[int]] = []  # the sizes to return first
        digest = hashlib.sha256(f"{seed}/{exercise_id}/{hidden}".encode()).digest()
        self._random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))

    def of_the_same_sizes(self) -> "Draw":
        """Return a Draw that yields the sizes that this one has yielded so far, but different numbers."""
        other = Draw(self.exercise_id, f"{self.seed}/again", self.hidden)
        other._known = list(self._sizes)
        return other

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return standard normal numbers times `scale`, as float32 by default. They are drawn in float32 even
        for float64, so that both types represent the same numbers.
        """
        drawn = self._random.standard_normal(shape).astype(np.float32)
        return (torch.from_numpy(np.asarray(drawn)) * scale).to(dtype)

    def eighths(self, *shape: int, limit: int = 16, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return random multiples of 1/8 between -limit/8 and limit/8. Their products and short sums are
        exact in float32, so that, even with large scores, two right answers differ only by the rounding in
        the division by sqrt(d).
        """
        drawn = self._random.integers(-limit, limit + 1, size=shape)
        return torch.from_numpy(np.asarray(drawn)).to(dtype) / 8

    def weights(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return random rows of positive weights, each row with a sum of exactly one in float32 and in
        float64.
        """
        parts = (torch.softmax(self.normal(*shape), dim=-1) * PARTS_OF_ONE).round().clamp(min=1)
        remainder = PARTS_OF_ONE - parts.sum(dim=-1, keepdim=True)
        parts = parts.scatter_add(-1, parts.argmax(dim=-1, keepdim=True), remainder)
        return (parts / PARTS_OF_ONE).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Return random integers from low to high inclusive."""
        return torch.from_numpy(np.asarray(self._random.integers(low, high + 1, size=shape)))

    def sizes(self, count: int, low: int = 2, high: int = 9) -> list[int]:
        """Return `count` random sizes from low to high inclusive, all different. A Draw made by
        `of_the_same_sizes` first returns the sizes of the original.
        """
        drawn = [int(n) for n in self._random.permutation(np.arange(low, high + 1))[:count]]
        self._sizes.append(self._known.pop(0) if self._known else drawn)
        return self._sizes[-1]
