"""Speeds up imports of large libraries."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NO_FULL_COLLECTION = 2**30  # third gc threshold: generation 2 is never collected


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Skip full garbage collections during the imports. A collection would search everything imported before,
    such as PyTorch, and find nothing: that takes a third of the time of a notebook's first cell beyond
    PyTorch's own.

    subtle: generations 0 and 1 are still collected; otherwise dead objects fragment the heap, which costs
    copy-on-write where it is frozen and forked.
    """
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, NO_FULL_COLLECTION)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


@contextmanager
def quick_imports() -> Iterator[None]:
    """Skip collections for a grader, which then calls gc.freeze(), so that neither this process nor its forks
    traverse what was imported. `grade` starts and ends a second faster.

    subtle: jsonschema, which nbformat imports, builds a grammar of international web addresses on import,
    which takes longer than everything else; nothing here needs it.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    with no_full_collection():
        try:
            yield
        finally:
            gc.freeze()
