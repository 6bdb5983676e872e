"""The pictures of lesson 05."""

from autograder.notebook import figures
from autograder.notebook.sentence import TOKENS


def pictures():
    """Name -> picture."""
    return {
        "writing": figures.writing(TOKENS),
        "kv_sharing": figures.kv_sharing(),
        "sharing_order": figures.sharing_order(),
        "cache_block": figures.cache_block(TOKENS),
        "pooled_heads": figures.pooled_heads(),
    }
