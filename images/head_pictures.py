"""The pictures of lesson 04, from the running sentence."""

from autograder.notebook import figures
from autograder.notebook.sentence import FEATURES, TOKENS, embed


def pictures():
    """Name -> picture."""
    return {
        "reshaping": figures.reshaping(embed(), TOKENS, FEATURES),
        "split_trap": figures.split_trap(TOKENS),
        "multihead_flow": figures.multihead_flow(),
        "packed_weights": figures.packed_weights(),
        "cross_flow": figures.cross_flow(),
    }
