"""Imports of large libraries in less time."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NO_FULL_COLLECTION = 2**30  # third gc threshold: generation 2 is never collected


@contextmanager
def no_full_collection() -> Iterator[None]:
    """Skip full garbage collections during the imports. What was imported before them, such as PyTorch, is
    much to search and nothing to find: without this a third of the time of a notebook's first cell beyond
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
    """The same for a grader, which then calls gc.freeze(), so that neither this process nor its forks traverse what was
    imported. `grade` starts and ends in a second less.

    subtle: jsonschema, which nbformat imports, builds a grammar of international web addresses on import, which takes
    more than all the rest; nothing here asks whether a text is such an address.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    with no_full_collection():
        try:
            yield
        finally:
            gc.freeze()
