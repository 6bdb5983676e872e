"""Wrong answers that people really give, by lesson, each of which runs.

They give the feedback, and they prove the judge: where no case tells one from the reference, a case is missing.
The words of a mistake stand once, in `words.py`; the wrong answers in the module of their lesson.
"""

from collections.abc import Callable, Mapping

from autograder.exercises.exercise import Mistake
from autograder.exercises.mistakes.words import WORDS


def known(mistake_id: str, answer: Callable, changes: Mapping | None = None) -> Mistake:
    """The mistake of that id with its words, made by `answer`."""
    title, sees, asks = WORDS[mistake_id]
    return Mistake(mistake_id, title, sees, asks, answer, changes)


def from_variants(variant: Callable, changes_by_id: Mapping[str, Mapping]) -> tuple[Mistake, ...]:
    """Mistakes that are each a change of one step of `variant`, so that two at once can be recognised."""
    return tuple(
        known(mistake_id, variant(**changes), changes) for mistake_id, changes in changes_by_id.items()
    )
