"""Describes how wrong numbers or masks differ from the right ones, for answers without a known mistake.

Each relation looks at the wrong pairs of all cases, and at all pairs. It is reported only if it holds in all
of them, so that it says something about the code and not about one input. Their order is that of RELATIONS
and its groups MASKS and WEIGHTS.
"""

from collections.abc import Mapping

from autograder.judge.relations.masks import MASKS
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
from autograder.judge.relations.pair import NOTHING, Pairs, Relation
from autograder.judge.relations.places import (
    axes,
    moved,
    not_from_input,
    order,
    places,
    same_rows,
    sizes,
    transposed,
)
from autograder.judge.relations.weights import WEIGHTS, already_shares, normalized

Named = tuple[str, str, str]  # observation, question, and the name of the relation
Relations = Mapping[str, "Relation | Relations"]  # by name; a group is a mapping itself


def _named(*relations: Relation) -> Relations:
    return {one.__name__.strip("_"): one for one in relations}


# The first that holds is reported; one that returns NOTHING ends its group without a message.
RELATIONS: Relations = {
    "masks": MASKS,
    **_named(order, rounded, added, normalized),
    "weights": WEIGHTS,
    **_named(
        already_shares,
        nearly,
        factor,
        transposed,
        shifted,
        same_rows,
        zeros,
        sign,
        never_negative,
        limited,
        axes,
        sizes,
        moved,
        not_from_input,
    ),
}
# These also hold for a missing infinity, which has nothing to do with rounding, sign or size.
OF_INFINITIES = _named(order, zeros, axes, sizes)


def relation(pairs: Pairs, trail: list[str]) -> Named | None:
    """Return the message and the name of the first relation that holds, or None. `trail` gets the names of
    those that were tried before.
    """
    finite = all(bool(pair.expected.isfinite().all()) for pair in pairs if pair.wrong)
    return _first(RELATIONS if finite else OF_INFINITIES, {}, pairs, trail)


def place(pairs: Pairs, trail: list[str]) -> Named | None:
    """Return the message and name, as `relation` does, of the relation that only says where results are wrong."""
    return _first(_named(places), {}, pairs, trail)


def _first(relations: Relations, with_infinities: Relations, pairs: Pairs, trail: list[str]) -> Named | None:
    wrong = [pair for pair in pairs if pair.wrong]
    if not wrong:
        return None
    finite = all(bool(pair.actual.isfinite().all()) for pair in wrong)
    asked: list[str] = []
    said = _said(relations if finite else with_infinities, wrong, pairs, asked)
    trail += [f"  nothing: {', '.join(asked)}"] if asked else []
    return said


def _said(
    relations: Relations, wrong: Pairs, pairs: Pairs, asked: list[str], group: str = ""
) -> Named | None:
    """Return the message and name of the first relation that holds; append the names of those that do not to
    `asked`.
    """
    for name, one in relations.items():
        path = f"{group}{name}"
        if isinstance(one, Mapping):
            if named := _said(one, wrong, pairs, asked, f"{path}/"):
                return named
        elif (words := one(wrong, pairs)) not in (None, NOTHING):
            return *words, path
        else:
            asked.append(path)
            if words == NOTHING:
                return None
    return None
