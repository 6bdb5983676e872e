"""hint("loops.softmax"): the next rung of an exercise's hint ladder."""

from autograder.errors import UserError
from autograder.exercises import find, find_by_name
from autograder.notebook.card import show_note

_given: dict[str, int] = {}


def hint(exercise="") -> None:
    """Shows the next hint: first where to look, then what to think of, last the shape of the solution.

    `exercise` is an id ("loops.softmax") or the answer itself (softmax). Asked again after the last hint,
    it begins anew.
    """
    if exercise == "":
        print('hint needs the name of an exercise, for instance hint("loops.softmax").')
        return
    try:
        asked = find_by_name(getattr(exercise, "__name__", "")) or find(str(exercise))
    except UserError as error:
        print(error)
        return
    number = _given.get(asked.id, 0) % len(asked.hints)
    _given[asked.id] = number + 1
    more = "Ask again for the next one." if number + 1 < len(asked.hints) else "This was the last one."
    show_note(f"Hint {number + 1} of {len(asked.hints)}", asked.hints[number], more)
