"""The running example: one short sentence, and four hand-made features for each word.

It is the same in every lesson, so that the numbers of one lesson reappear in the next. Four features make the
square root of d_k a whole number, split evenly over two heads, and fit on paper. A word that occurs twice has
the same embedding twice: embeddings hold no position yet.
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
    """Return the embeddings of N words of the example's vocabulary, (N, 4) float32, as a new tensor."""
    return torch.tensor([_EMBEDDING[token] for token in tokens])


def from_loops() -> Tensor:
    """Return the result of lesson 01's loops for the sentence, (5, 4), to four decimals."""
    return torch.tensor(_FROM_LOOPS)
