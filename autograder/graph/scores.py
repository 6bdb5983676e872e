"""Compares aligned products and softmaxes: scale, mask, axis, and where the values come from."""

import math
from collections.abc import Iterator

from autograder.graph.model import Node
from autograder.graph.operations import number_text
from autograder.graph.walk import Walk

_PASSING = {"layout", "scale", "mask"}
_UNCLEAR = {"plain", "times", "add"}


def differences(a: Walk, b: Walk, pairs: list) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Yield (sentence, my steps, their steps) for each difference between two aligned items; only the first
    step of each item is compared.
    """
    rules = {"product": (_scales,), "softmax": (_masks, _axes, _values)}
    for mine, theirs in pairs:
        for rule in rules.get(mine.kind, ()):
            yield from ((text, mine.ids, theirs.ids) for text in rule(a, b, mine.ids[0], theirs.ids[0]))


def _scales(a: Walk, b: Walk, mine: int, theirs: int) -> Iterator[str]:
    """Yield a sentence if the overall factors of two products differ, wherever the factors are applied."""
    one, other = _factor(a, mine), _factor(b, theirs)
    if one is None or other is None or math.isclose(one, other, rel_tol=1e-3):
        return
    what, when = ("the scores", " before softmax") if _softmaxes_of(a, mine) else ("the product", "")
    if 1 in (one, other):
        who, factor, rest = ("Theirs", other, "yours") if one == 1 else ("Yours", one, "theirs")
        yield f"{who} scales {what} (\u00d7 {number_text(factor)}){when}; {rest} does not."
    else:
        yield f"Theirs scales {what} by {number_text(other)}, yours by {number_text(one)}."


def _factor(walk: Walk, number: int) -> float | None:
    """Return the overall factor by which a product is scaled, anywhere between its operands and the softmax
    or product that follows; None if it is unclear.

    For instance, the factor is 1/8 for `q / 8 @ k.T`, for `(q @ k.T) * 0.125`, and for `q / 2 @ (k / 4).T`.
    """
    ends, passed = walk.ahead(number, {"layout", "scale"})
    softmaxes = _softmaxes_of(walk, number)
    if softmaxes:
        passed = []
        walk.back(_softmax(walk, softmaxes[-1])[0], _PASSING, passed)
    elif any(walk.nodes[end].role in _UNCLEAR for end in ends):
        return None
    for source in [edge.source for edge in walk.into[number] for _ in edge.places if not edge.is_auxiliary]:
        on_the_way: list[Node] = []
        end = walk.back(source, _PASSING, on_the_way)
        if (
            end is None
            or (walk.nodes[end].role in _UNCLEAR and not walk.softmax_of(end))
            or _made_weight(walk, end)
        ):
            return None
        # A scale after a product is counted when that product is visited.
        passed += [] if walk.is_product(end) and not walk.is_learned(end) else on_the_way
    scales = [node.number for node in passed if node.role == "scale"]
    numbers = [scale for scale in scales if scale is not None]
    alpha = walk.nodes[number].op in ("addmm", "baddbmm", "addbmm")
    return None if alpha or len(numbers) < len(scales) else round(math.prod(numbers), 9)


def _made_weight(walk: Walk, number: int) -> bool:
    """Return whether an input of the step is computed from parameters, as in x @ (W * 2). The factor of such
    an input is unknown.
    """
    sources = [edge.source for edge in walk.into[number]]
    return any(walk.of_parameters(source) and walk.nodes[source].kind == "operation" for source in sources)


def _softmaxes_of(walk: Walk, product: int) -> list[int]:
    """Return the softmaxes that take this product as their scores."""
    found = {number: walk.softmax_of(number) for number in walk.nodes}
    return [number for number, made in found.items() if made and walk.back(made[0], _PASSING) == product]


def _softmax(walk: Walk, number: int) -> tuple[int | None, int | None]:
    """Return (input, axis) of a step that is known to be a softmax."""
    made = walk.softmax_of(number)
    assert made is not None
    return made


def _masks(a: Walk, b: Walk, mine: int, theirs: int) -> Iterator[str]:
    nodes = a.nodes[mine], b.nodes[theirs]
    keys = [None if node.shape is None or node.dim is None else node.shape[node.dim] for node in nodes]
    if None in keys or keys[0] != keys[1]:
        return  # one side may mask by leaving keys out
    masked = _is_masked(a, mine), _is_masked(b, theirs)
    if masked == (False, True):
        yield "Theirs masks the scores before softmax; yours does not."
    elif masked == (True, False) and nodes[0].blocked:
        yield "Yours masks the scores before softmax; theirs does not."
    elif all(masked) and nodes[0].shape == nodes[1].shape and nodes[0].blocked != nodes[1].blocked:
        yield "Yours blocks other positions than theirs."


def _is_masked(walk: Walk, softmax: int) -> bool:
    """Return whether there is a mask between this softmax and the one before it; the mask of an earlier layer
    does not count.
    """
    earlier = set().union(*(walk.above[other] for other in walk.above[softmax] if walk.softmax_of(other)))
    return any(walk.nodes[number].role == "mask" for number in walk.above[softmax] - earlier)


def _axes(a: Walk, b: Walk, mine: int, theirs: int) -> Iterator[str]:
    """Yield a sentence if only one of two softmaxes is taken over the keys."""
    right = _is_over_keys(a, mine), _is_over_keys(b, theirs)
    axes = _softmax(a, mine)[1], _softmax(b, theirs)[1]
    if None not in (*right, *axes) and right[0] != right[1] and a.nodes[mine].shape == b.nodes[theirs].shape:
        yield f"Theirs applies softmax over axis {axes[1]}, yours over axis {axes[0]}."


def _is_over_keys(walk: Walk, softmax: int) -> bool | None:
    """Return whether the softmax is taken over the keys, or None if that is unknown.

    In weights @ v, the keys are the last axis of the weights; in v.T @ weights, they are the last axis but
    one. If the weights are the output, the keys are their last axis.
    """
    mixes, passed = walk.ahead(softmax, _PASSING)
    weights = {softmax, *(node.id for node in passed)}
    places = [
        place for mix in mixes for edge in walk.into[mix] if edge.source in weights for place in edge.places
    ]
    turned = any(word in node.label for node in passed for word in ("transpose", "permute"))
    if mixes and not turned and all(walk.nodes[mix].kind == "output" for mix in mixes):
        places = ["0"]
    elif len(places) != 1 or turned or walk.nodes[mixes[0]].op not in ("matmul", "bmm", "mm"):
        return None
    return _softmax(walk, softmax)[1] == {"0": -1, "1": -2}.get(places[0])


def _values(a: Walk, b: Walk, mine: int, theirs: int) -> Iterator[str]:
    """Yield a sentence if the two sides compute the values from different inputs. In attention(q, k, v), for
    instance, the values come from "v".
    """
    names = [{node.label for node in walk.nodes.values() if node.kind == "input"} for walk in (a, b)]
    one, other = _values_of(a, mine), _values_of(b, theirs)
    if names[0] == names[1] and one and other and one != other:
        said = [" and ".join(sorted(side)) for side in (one, other)]
        yield f"Theirs takes the values from {said[1]}, yours from {said[0]}."


def _values_of(walk: Walk, softmax: int) -> set[str] | None:
    """Return the names of the inputs that the values are computed from; None unless the weights multiply
    exactly one tensor, which holds the values.
    """
    mixes = [number for number in walk.ahead(softmax, _PASSING)[0] if walk.is_product(number)]
    operands = {source for mix in mixes for source in walk.data_inputs(mix)}
    others = {number for number in operands if softmax not in walk.above[number] | {number}}
    return walk.inputs(others.pop()) if len(others) == 1 else None
