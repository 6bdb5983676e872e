"""Describes how wrong numbers or masks differ from the right ones, for answers without a known mistake.

Each relation looks at the wrong pairs of all cases, and at all pairs. It is reported only if it holds in all of them,
so that it says something about the code and not about one input.
"""

from collections.abc import Callable, Sequence

from autograder.judge.relations.masks import masks
from autograder.judge.relations.numbers import (
    added,
    factor,
    limited,
    nearly,
    never_negative,
    rounded,
    shifted,
    sign,
    zeros,
)
from autograder.judge.relations.pair import Pairs, Words
from autograder.judge.relations.places import (
    axes,
    families,
    moved,
    not_from_input,
    order,
    places,
    same_rows,
    sizes,
    transposed,
)
from autograder.judge.relations.weights import already_shares, normalized, weights

Named = tuple[str, str, str]  # observation, question, and the name of the relation
# The first that holds is reported.
RELATIONS: tuple[Callable[[Pairs, Pairs], Words | None], ...] = (
    masks, order, rounded, added, normalized, weights, already_shares, nearly, factor, transposed, shifted, same_rows,
    zeros, sign, never_negative, limited, axes, sizes, moved, not_from_input,
)
# Those that hold of a missing infinity, too: it is no matter of rounding, sign or size.
OF_INFINITIES = (order, zeros, axes, sizes)


def relation(pairs: Pairs) -> Named | None:
    """Observation and question of the first relation that holds, and its name; or None."""
    finite = all(bool(pair.expected.isfinite().all()) for pair in pairs if pair.wrong)
    return _first(RELATIONS if finite else OF_INFINITIES, (), pairs)


def place(pairs: Pairs) -> Named | None:
    """The same for the relations that only say where the numbers are wrong."""
    return _first((places, families), (families,), pairs)


def _first(relations: Sequence[Callable], with_infinities: Sequence[Callable], pairs: Pairs) -> Named | None:
    wrong = [pair for pair in pairs if pair.wrong]
    if not wrong:
        return None
    finite = all(bool(pair.actual.isfinite().all()) for pair in wrong)
    results = ((holds(wrong, pairs), holds.__name__) for holds in (relations if finite else with_infinities))
    return next(((*words, name) for words, name in results if words is not None), None)
