"""What kind of other numbers are they? One sentence about all wrong results of an answer without a known mistake.

Each relation looks at every case at once: at the pairs that are wrong, and at all pairs. It is told only where it
holds in all of them, so that it says something about the code and not about one input.
"""

from autograder.exercises.exercise import Exercise
from autograder.judge.relations.numbers import (
    added,
    factor,
    limited,
    nearly,
    never_negative,
    shifted,
    sign,
    zeros,
)
from autograder.judge.relations.pair import pairs_of
from autograder.judge.relations.places import (
    alike,
    axes,
    families,
    foreign,
    moved,
    order,
    places,
    sizes,
    turned,
)
from autograder.judge.relations.weights import normed, shares_already, weights

LADDER = (
    order, added, normed, weights, shares_already, nearly, factor, turned, shifted, alike,
    zeros, sign, never_negative, limited, axes, sizes, moved, foreign,
)  # fmt: skip


def relation(exercise: Exercise, cases, expected: list[dict], records: list[dict]) -> tuple[str, str] | None:
    """(what is seen, the question to ask) of the first relation that holds, or None."""
    return _first_of(LADDER, (), pairs_of(exercise, cases, expected, records))


def place(exercise: Exercise, cases, expected: list[dict], records: list[dict]) -> tuple[str, str] | None:
    """The same of those that say no more than where the numbers are wrong."""
    return _first_of((places, families), (families,), pairs_of(exercise, cases, expected, records))


def _first_of(ladder, with_infinities, pairs):
    wrong = [pair for pair in pairs if pair.wrong]
    finite = all(bool(pair.have.isfinite().all()) for pair in wrong)
    looks = (look(wrong, pairs) for look in (ladder if finite else with_infinities) if wrong)
    return next((seen for seen in looks if seen is not None), None)
