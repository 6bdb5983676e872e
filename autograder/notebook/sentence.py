"""The running example: one short sentence, and four hand-made features for each word.

The same in every lesson, so that the numbers of one lesson are found again in the next. Four features
make the square root of d_k a whole number, split evenly over two heads, and fit on paper. A word that
occurs twice has the same embedding twice: so far a word does not know where it stands.
"""

TOKENS = ("the", "dog", "saw", "the", "cat")
FEATURES = ("thing", "action", "pet", "small")

_EMBEDDING = {
    "the": (0.0, 0.0, 0.0, 1.0),
    "dog": (2.0, -1.0, 1.0, 0.0),
    "saw": (-1.0, 2.0, 0.0, 0.0),
    "cat": (2.0, -1.0, -1.0, 0.0),
}


def embed(tokens=TOKENS):
    """(N,) words of the example's vocabulary -> (N, 4) float32 embeddings, fresh at every call."""
    import torch

    return torch.tensor([_EMBEDDING[token] for token in tokens])
