"""Speeds up imports of large libraries."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NO_FULL_COLLECTION = 2**30  # third gc threshold: generation 2 is never collected


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Skip full garbage collections during the block, which imports large libraries. Such a collection would
    search everything imported before, such as PyTorch, and find nothing to free. Full collections would take
    a third of the running time of a notebook's first cell, not counting the import of PyTorch.

    subtle: generations 0 and 1 are still collected; otherwise dead objects would fragment the heap, and a
    grader that freezes and forks would have to copy more memory.
    """
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, NO_FULL_COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


@contextmanager
def quick_imports() -> Iterator[None]:
    """Skip full garbage collections during a grader's imports and then call gc.freeze(), so that neither this
    process nor its forks traverse what was imported. This saves `grade` a second at its start and end.

    subtle: nbformat imports jsonschema, which on import builds a grammar of international web addresses. That
    takes longer than the rest of nbformat's import, and nothing here uses it, so the module with the grammar
    is blocked.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    with no_full_collection():
        try:
            yield
        finally:
            gc.freeze()
