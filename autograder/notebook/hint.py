"""hint("loops.softmax"): shows the next hint for an exercise."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle

from autograder.errors import UserError
from autograder.exercises import find, find_by_name
from autograder.faults import entry_point
from autograder.notebook.show import show_note
from autograder.notebook.slips import meant


@entry_point('hint("loops.softmax")')
def hint(exercise: str | Callable) -> None:
    """Show the next hint: first where to look, then which operation, axis or function to use, finally an
    outline.

    `exercise` is an id ("loops.softmax") or the answer itself (softmax). After the last hint, the first one
    is shown again.
    """
    name = exercise if isinstance(exercise, str) else getattr(exercise, "__name__", type(exercise).__name__)
    try:
        found = find_by_name(name) or find(name)
    except UserError:
        names = sys._getframe(2).f_globals  # of the caller; entry_point is in between
        print(f"There is no exercise {name!r}. {meant(name.rpartition('.')[2], names)}")
        return
    number, text = next(_ladder(found.id))
    count = len(found.hints)
    more = "Call hint again for the next one." if number < count else "That was the last one."
    show_note(f"Hint {number} of {count}", text, more)


@cache
def _ladder(exercise_id: str) -> Iterator[tuple[int, str]]:
    """Return an endless iterator over the numbered hints. Each exercise has one iterator per session, so that
    each call of `hint` shows the next hint.
    """
    return cycle(enumerate(find(exercise_id).hints, start=1))
