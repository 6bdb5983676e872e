"""Describes how wrong numbers or masks differ from the right ones, for answers without a known mistake.

A pair is an expected and an actual result (pair.py). A relation is a function of the wrong pairs and of all
pairs; a docstring such as "Match results whose rows are all the same" says for which results the relation
holds. A relation returns a message only if it holds in all cases, so that the message says something about
the code and not about one input. Relations are tried in the order of RELATIONS and its groups MASKS and
WEIGHTS.
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
# Only these are tried where an infinity is expected: rounding, sign or size do not explain why it is missing.
OF_INFINITIES = _named(order, zeros, axes, sizes)


def relation(pairs: Pairs, trail: list[str]) -> Named | None:
    """Return the message and the name of the first relation that holds, or None. `trail` gets the names of
    the relations that were tried and do not hold.
    """
    finite = all(bool(pair.expected.isfinite().all()) for pair in pairs if pair.wrong)
    return _first(RELATIONS if finite else OF_INFINITIES, {}, pairs, trail)


def place(pairs: Pairs, trail: list[str]) -> Named | None:
    """Return the message and the name of the relation `places`, which only says where results are wrong, or
    None if it does not hold.
    """
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
    """Return the message and name of the first relation that has something to say, or None. Append to `asked`
    the names of the others that were tried. A relation that returns NOTHING ends the search in its group.
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
