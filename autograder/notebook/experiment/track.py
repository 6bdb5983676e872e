"""A progress bar over the steps of a loop: `for step in track(range(600)):`."""

import time
from collections.abc import Iterable, Iterator
from operator import length_hint
from typing import TypeVar

from autograder.notebook.running import running_notebook

T = TypeVar("T")

EVERY = 0.2  # seconds between two drawings: often enough for the eye, too rarely to cost anything


def track(items: Iterable[T], total: int | None = None) -> Iterator[T]:
    """Yield the items one by one. In a notebook, a bar shows how many of them are done; it disappears when
    the loop ends.

    total: the number of items; if it is None and `items` has no length (a generator, for instance), the bar
    only counts the steps
    """
    total = total if total is not None else length_hint(items) or None
    bar, shown = _bar(total), 0.0
    try:
        for done, item in enumerate(items):
            if bar is not None and time.monotonic() - shown > EVERY:
                shown = time.monotonic()
                bar.update(_drawn(done, total))
            yield item
    finally:
        if bar is not None:
            bar.update(_html(""))


def _bar(total: int | None):
    """Return the display of the bar; None outside of a notebook, where no bar is shown."""
    if running_notebook() is None:
        return None
    from IPython.display import display

    return display(_drawn(0, total), display_id=True)


def _drawn(done: int, total: int | None):
    if total is None:
        return _html(f"<progress></progress> step {done}")
    return _html(f'<progress max="{total}" value="{done}"></progress> step {done} of {total}')


def _html(text: str):
    from IPython.display import HTML

    return HTML(text)
