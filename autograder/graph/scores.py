"""What differs between aligned products and softmaxes: scale, mask, axis, and what they are computed from."""

import math
from collections.abc import Iterator

from autograder.graph.operations import number_text
from autograder.graph.walk import Walk

_PASSING = {"layout", "scale", "mask"}
_UNCLEAR = {"plain", "times", "add"}


def differences(a: Walk, b: Walk, pairs: list) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """(sentence, my steps, their steps) for all pairs of aligned items."""
    yield from _scales(a, b, [pair for pair in pairs if pair[0].kind == "product"])
    for mine, theirs in pairs:
        if mine.kind == "softmax":
            for rule in (_masks, _axes, _origins):
                yield from ((text, mine.ids, theirs.ids) for text in rule(a, b, mine.ids[0], theirs.ids[0]))


def _scales(a, b, pairs):
    """The number that a product is multiplied by in all, wherever that is done."""
    for mine, theirs in pairs:
        one, other = _factor(a, mine), _factor(b, theirs)
        if None in (one, other) or math.isclose(one, other, rel_tol=1e-3):
            continue
        softmaxes = _softmaxes_of(a, mine.ids)
        after = [node.role for softmax in softmaxes for node in a.ahead(softmax, {"layout", "scale"})[1]]
        late = one == 1 and "scale" in after
        what, when = ("the scores", " before softmax") if softmaxes else ("the product", "")
        if late:
            text = f"Theirs scales the scores (\u00d7 {number_text(other)}) before softmax; yours scales after it."
        elif one == -other:
            text = f"Yours flips the sign of {what}; theirs does not."
        elif 1 in (one, other):
            who, factor, rest = ("Theirs", other, "yours") if one == 1 else ("Yours", one, "theirs")
            text = f"{who} scales {what} (\u00d7 {number_text(factor)}){when}; {rest} does not scale at all."
        else:
            text = f"Theirs scales {what} by {number_text(other)}, yours by {number_text(one)}."
        yield text, mine.ids, theirs.ids
        if late:
            return  # the product with the values is scaled by it too


def _factor(walk, item):
    """None if it is unclear, or if products side by side are scaled differently."""
    factors = {_factor_of(walk, number) for number in item.ids}
    return factors.pop() if len(factors) == 1 else None


def _factor_of(walk, number):
    """What is done to its operands and to its result, up to the next operation that counts."""
    ends, passed = walk.ahead(number, {"layout", "scale"})
    softmaxes = _softmaxes_of(walk, (number,))
    if softmaxes:
        passed = []
        walk.back(walk.softmax_of(softmaxes[-1])[0], _PASSING, passed)
    elif any(walk.nodes[end].role in _UNCLEAR for end in ends):
        return None
    for source in [edge.source for edge in walk.into[number] for _ in edge.places if not edge.quiet]:
        on_the_way = []
        end = walk.back(source, _PASSING, on_the_way)
        if end is None or (walk.nodes[end].role in _UNCLEAR and not walk.softmax_of(end)) or _made_weight(walk, end):
            return None
        # What follows a product is counted there.
        passed += [] if walk.is_product(end) and not walk.is_learned(end) else on_the_way
    numbers = [node.number for node in passed if node.role == "scale"]
    alpha = walk.nodes[number].op in ("addmm", "baddbmm", "addbmm")
    return None if alpha or None in numbers else round(math.prod(numbers), 9)


def _made_weight(walk, number):
    """Is it a product with something made of parameters? What was done to these is not seen here."""
    sources = [edge.source for edge in walk.into[number]]
    return any(walk.of_parameters(source) and walk.nodes[source].kind == "operation" for source in sources)


def _softmaxes_of(walk, products):
    """The softmaxes of which these products are the scores."""
    found = {number: walk.softmax_of(number) for number in walk.nodes}
    return [number for number, made in found.items() if made and walk.back(made[0], _PASSING) in products]


def _masks(a, b, mine, theirs):
    nodes = a.nodes[mine], b.nodes[theirs]
    keys = [None if None in (node.shape, node.dim) else node.shape[node.dim] for node in nodes]
    if None in keys or keys[0] != keys[1]:
        return  # to leave keys out may be the mask
    (before, after), (due, late) = _masks_of(a, mine), _masks_of(b, theirs)
    if due and not before:
        if not after:
            yield "Theirs masks the scores before softmax; yours does not."
        # The weights may be divided by their sum once more.
        elif not any(a.nodes[number].op in ("div", "normalize") for number in a.ahead(mine, _PASSING)[0]):
            yield "Theirs masks the scores before softmax; yours masks the weights after it."
    elif before and not due and not late and a.nodes[mine].blocked:
        yield "Yours masks the scores before softmax; theirs does not."
    elif due and _blocks_other(a.nodes[mine], b.nodes[theirs]):
        yield "Yours blocks other positions than theirs."


def _masks_of(walk, softmax):
    """Is there a mask before a softmax, and after the softmax before that; and one on its weights?"""
    earlier = set().union(*(walk.above[other] for other in walk.above[softmax] if walk.softmax_of(other)))
    _, passed = walk.ahead(softmax, _PASSING)
    before = any(walk.nodes[number].role == "mask" for number in walk.above[softmax] - earlier)
    return before, any(node.role == "mask" for node in passed)


def _blocks_other(mine, theirs):
    """Two softmaxes of PyTorch, over the same axis and of the same sizes, with zeros in different places."""
    comparable = mine.op == theirs.op == "softmax" and mine.dim == theirs.dim and mine.times == theirs.times
    return comparable and mine.shape == theirs.shape and mine.blocked != theirs.blocked


def _axes(a, b, mine, theirs):
    """Is it the axis over which the weights are summed with the values, as it should be?"""
    right = _is_over_keys(a, mine), _is_over_keys(b, theirs)
    axes = a.softmax_of(mine)[1], b.softmax_of(theirs)[1]
    if None in right:
        differ = _comes_last(a, mine) and _comes_last(b, theirs) and axes[0] != axes[1]
    else:
        differ = right[0] != right[1]
    if differ and None not in axes and a.nodes[mine].shape == b.nodes[theirs].shape:
        yield f"Theirs applies softmax over axis {axes[1]}, yours over axis {axes[0]}."


def _comes_last(walk, softmax):
    return all(walk.nodes[end].kind == "output" for end in walk.ahead(softmax, {"layout"})[0])


def _is_over_keys(walk, softmax):
    """None if that cannot be told."""
    mixes, passed = walk.ahead(softmax, _PASSING)
    weights = {softmax, *(node.id for node in passed)}
    places = [place for mix in mixes for edge in walk.into[mix] if edge.source in weights for place in edge.places]
    turned = any(word in node.label for node in passed for word in ("transpose", "permute"))
    if len(places) != 1 or turned or walk.nodes[mixes[0]].op not in ("matmul", "bmm", "mm"):
        return None
    return walk.softmax_of(softmax)[1] == {"0": -1, "1": -2}.get(places[0])


def _origins(a, b, mine, theirs):
    """The inputs that the values come from, and those that the scores compare."""
    names = [{node.label for node in walk.nodes.values() if node.kind == "input"} for walk in (a, b)]
    values = _values(a, mine), _values(b, theirs)
    scores = _compared(a, mine), _compared(b, theirs)
    if names[0] != names[1]:
        return
    if all(values) and values[0] != values[1]:
        said = [" and ".join(sorted(side)) for side in values]
        yield f"Theirs takes the values from {said[1]}, yours from {said[0]}."
    elif all(scores) and scores[0] != scores[1]:
        said = [" with ".join(" and ".join(names) for names in side) for side in scores]
        yield f"Theirs compares {said[1]}, yours {said[0]}."


def _values(walk, softmax):
    mixes = [number for number in walk.ahead(softmax, _PASSING)[0] if walk.is_product(number)]
    operands = {source for mix in mixes for source in walk.loud(mix)}
    others = {number for number in operands if softmax not in walk.above[number] | {number}}
    return walk.inputs(others.pop()) if len(others) == 1 else None


def _compared(walk, softmax):
    """What is on both sides of the product, in no order; None if that is unclear."""
    product = walk.back(walk.softmax_of(softmax)[0], _PASSING)
    if product is None or walk.nodes[product].role != "product":
        return None
    found = [sorted(walk.inputs(edge.source)) for edge in walk.into[product] for _ in edge.places]
    return sorted(found) if len(found) == 2 and all(found) else None
