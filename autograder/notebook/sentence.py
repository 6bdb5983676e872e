"""The running example: one short sentence, and four hand-made features for each word.

The same in every lesson, so that the numbers of one lesson are found again in the next. Four features
make the square root of d_k a whole number, split evenly over two heads, and fit on paper. A word that
occurs twice has the same embedding twice: so far a word does not know where it stands.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

TOKENS = ("the", "dog", "saw", "the", "cat")
FEATURES = ("thing", "action", "pet", "small")

_EMBEDDING = {
    "the": (0.0, 0.0, 0.0, 1.0),
    "dog": (2.0, -1.0, 1.0, 0.0),
    "saw": (-1.0, 2.0, 0.0, 0.0),
    "cat": (2.0, -1.0, -1.0, 0.0),
}
_THE = (0.4764, 0.0, 0.0, 0.5236)
_FROM_LOOPS = (
    _THE,
    (1.8512, -0.9187, 0.4288, 0.0675),
    (-0.8054, 1.6671, 0.0, 0.1384),
    _THE,
    (1.8512, -0.9187, -0.4288, 0.0675),
)


def embed(tokens: Sequence[str] = TOKENS) -> Tensor:
    """(N,) words of the example's vocabulary -> (N, 4) float32 embeddings, fresh at every call."""
    return torch.tensor([_EMBEDDING[token] for token in tokens])


def from_loops() -> Tensor:
    """(5, 4): what lesson 01 computes for the sentence with its loops, to four decimals."""
    return torch.tensor(_FROM_LOOPS)
