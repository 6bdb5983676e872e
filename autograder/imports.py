"""Imports of large libraries in less time."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NEVER = 2**30  # collections of middle age before one of old


@contextmanager
def quick_imports() -> Iterator[None]:
    """What the block imports stays until the program ends: no garbage is looked for in it, neither now, nor later, nor
    in forks. `grade` starts and ends in a second less.

    subtle: young garbage is still collected, else it would lie between what stays, and forks would copy more pages.
    And jsonschema, which nbformat imports, builds a grammar of international web addresses when it is imported, which
    takes more than all the rest; nothing here asks whether a text is such an address.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(young, middle, old)
