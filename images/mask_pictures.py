"""The pictures of lesson 03, from the running sentence."""

import torch

from autograder.notebook import figures
from autograder.notebook.sentence import TOKENS, embed


def pictures():
    """Name -> picture."""
    x, place = embed(), torch.arange(5)
    causal = place[:, None] >= place
    padding = place < torch.tensor([[5], [3]])
    patterns = {
        "none": (causal | True, "all see all"),
        "causal": (causal, "not ahead"),
        "padding": (padding[1].expand(5, 5), "not at fillers"),
        "window": (causal & (place[:, None] - place < 2), "not far back"),
        "prefix": (causal | (place < 3), "three are given"),
    }
    sentences = [list(TOKENS), ["the", "cat", "saw"]]
    return {
        "causal_mask": figures.mask(causal, TOKENS, title="A causal mask: nobody looks ahead"),
        "mask_patterns": figures.mask_patterns(patterns, TOKENS),
        "mask_conventions": figures.mask_conventions(causal[:4, :4], TOKENS[:4]),
        "mask_before_or_after": figures.mask_before_or_after(x[1] @ x.T / 2, causal[1], TOKENS, "dog"),
        "padded_batch": figures.padded_batch(sentences),
        "mask_broadcasting": figures.mask_broadcasting(causal, padding, ("sentence 0", "sentence 1")),
    }
