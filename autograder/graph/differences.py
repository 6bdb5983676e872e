"""Describes in sentences how two computations differ. Their sequences of operations (sequence.py) are
aligned, and the aligned items are compared.

Only differences that are certain are reported. No error is caught here: a rule that fails must not be
mistaken for "no difference".
"""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from autograder.graph import scores
from autograder.graph.model import Edges, Node, Nodes, shape_text
from autograder.graph.sequence import Item, sequences
from autograder.graph.walk import Walk

_DOES = {
    "softmax": "applies softmax",
    "norm": "normalises",
    "activation": "applies {}",
    "residual": "adds an input back to what was computed from it",
    "product": "multiplies two results",
    "projection": "applies a learned projection",
}
_IS = {"product": "a product", "projection": "a learned projection", "residual": "the residual sum"}
_LINEAR = ("product", "projection")
# Where these select rows, the steps depend on the numbers and have too many correct forms to be compared.
_CHOOSES = {"topk", "sort", "argsort"}
Pairs = list[tuple[Item, Item]]  # mine and theirs
_TIMES = {0: "not at all", 1: "once", 2: "twice"}


class Difference(NamedTuple):
    text: str
    mine: tuple[int, ...] = ()  # the steps that the text is about
    theirs: tuple[int, ...] = ()


def found(mine: tuple[Nodes, Edges], theirs: tuple[Nodes, Edges]) -> list[Difference]:
    """Return the differences between two whole graphs, each given as (nodes, edges)."""
    a, b = Walk(*mine), Walk(*theirs)
    for who, walk in (("Yours", a), ("Theirs", b)):
        if any(node.kind == "note" for node in walk.nodes.values()):
            return [Difference(f"{who} has too many steps to be compared.")]
    if b.outputs() and not a.outputs():
        returned = next((node.label for node in a.nodes.values() if node.kind == "output"), "returns none")
        return [Difference(f"Theirs gives a tensor; yours {returned}.")]
    if any(node.op in _CHOOSES for walk in (a, b) for node in walk.nodes.values()):
        return list(_results(a, b))
    items = sequences(a, b)
    mine_kinds, their_kinds = ([item.kind for item in side] for side in items)
    blocks = SequenceMatcher(None, mine_kinds, their_kinds, autojunk=False).get_matching_blocks()
    places = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
    pairs = [(items[0][mine], items[1][theirs]) for mine, theirs in places]
    only = [
        sorted(set(range(len(side))) - {pair[which] for pair in places}) for which, side in enumerate(items)
    ]
    told = [
        *_counted(items, only),
        *_named(pairs),
        *(Difference(*item) for item in scores.differences(a, b, pairs)),
    ]
    # Differences that follow from those above are not repeated.
    told = told or [*_added_back(a, b, pairs), *_linear(items, only)]
    told = told or [*_results(a, b), *_unused(a, b), *_order(a, b)]
    return list({item.text: item for item in told}.values())


def _counted(items: list[list[Item]], only: list[list[int]]) -> Iterator[Difference]:
    """Yield a difference for each kind of operation that one side uses more often than the other, or that
    both use equally often but in different places.
    """
    for kind in [kind for kind in _DOES if kind not in _LINEAR]:
        places = [[n for n in numbers if side[n].kind == kind] for side, numbers in zip(items, only)]
        alone = [[side[place] for place in numbers] for side, numbers in zip(items, places)]
        if not (alone[0] or alone[1]):
            continue
        does = _DOES[kind].format((alone[1] or alone[0])[0].name)
        ids = [tuple(number for item in side for number in item.ids) for side in alone]
        if len(alone[0]) == len(alone[1]):
            mine, theirs = (_where(side, numbers[-1]) for side, numbers in zip(items, places))
            told = f"{mine}; theirs{theirs}" if mine != theirs else " in a different place from theirs"
            yield Difference(f"Yours {does}{told}.", *ids)
            continue
        counts = [sum(item.kind == kind for item in side) for side in items]
        most, least = [_TIMES.get(count, f"{count} times") for count in sorted(counts, reverse=True)]
        who, other = ("Yours", "theirs") if counts[0] > counts[1] else ("Theirs", "yours")
        yield Difference(f"{who} {does} {most}; {other} {least}.", *ids)


def _linear(items: list[list[Item]], only: list[list[int]]) -> Iterator[Difference]:
    """Yield, for each side, a difference for the first matrix product that the other side lacks."""
    for side, (who, other) in enumerate((("Yours", "theirs"), ("Theirs", "yours"))):
        for place in [place for place in only[side] if items[side][place].kind in _LINEAR][:1]:
            item = items[side][place]
            text = f"{who} {_DOES[item.kind]}{_where(items[side], place)}; {other} does not."
            yield Difference(text, *((), item.ids) if side else (item.ids, ()))


def _where(items: list[Item], place: int) -> str:
    if [item.kind for item in items[max(place - 2, 0) : place]] == ["softmax", "product"]:
        return " after the values are mixed"
    if len(items) == 1:
        return ""
    near = items[place - 1] if place else items[1]
    return f" {'after' if place else 'before'} {_IS.get(near.kind, near.name or near.kind)}"


def _named(pairs: Pairs) -> Iterator[Difference]:
    """Yield a difference for each pair of aligned activations or norms whose names differ."""
    for mine, theirs in pairs:
        if mine.name != theirs.name:
            verb, word = ("applies", "") if mine.kind == "activation" else ("normalises with", "with ")
            yield Difference(f"Theirs {verb} {theirs.name}, yours {word}{mine.name}.", mine.ids, theirs.ids)


def _added_back(a: Walk, b: Walk, pairs: Pairs) -> Iterator[Difference]:
    """Yield a difference for each residual connection that adds back the normalised input in mine, but the
    input itself in theirs.
    """
    for mine, theirs in pairs:
        if mine.kind == "residual" and _adds_a_norm(a, mine) and not _adds_a_norm(b, theirs):
            text = "Yours adds back the normalised input; theirs adds back the input itself."
            yield Difference(text, mine.ids, theirs.ids)


def _adds_a_norm(walk: Walk, item: Item) -> bool:
    kept = walk.back(walk.kept_by_sum(item.ids[0]), {"layout"})
    return kept is not None and walk.nodes[kept].role == "norm"


def _results(a: Walk, b: Walk) -> Iterator[Difference]:
    mine, theirs = a.outputs(), b.outputs()
    if len(mine) != len(theirs):
        said = ["one result" if count == 1 else f"{count} results" for count in (len(mine), len(theirs))]
        yield Difference(f"Theirs gives {said[1]}, yours {said[0]}.")
        return
    for one, other in zip(mine, theirs):
        if None not in (one.shape, other.shape) and one.shape != other.shape:
            text = f"Theirs gives {shape_text(other.shape)}, yours {shape_text(one.shape)}."
            yield Difference(text, (one.id,), (other.id,))


def _unused(a: Walk, b: Walk) -> Iterator[Difference]:
    """Yield a difference for each input that only `b` uses, and one for all the parts whose parameters only
    `b` uses.
    """
    idle = [{n.label: n.id for n in walk.nodes.values() if n.state == "unused"} for walk in (a, b)]
    for name, number in idle[0].items():
        if name not in idle[1] and any(node.label == name for node in b.nodes.values()):
            yield Difference(f"Theirs uses {name}; yours does not.", (number,))
    parts = [_parts(walk) for walk in (a, b)]
    if parts[0] and parts[0] < parts[1]:
        yield Difference(f"Theirs uses {' and '.join(sorted(parts[1] - parts[0]))}; yours does not.")


def _parts(walk: Walk) -> set[str]:
    """Return the names of the parts whose parameters are used, and of used parameters that belong to no part.
    A parameter may have a box of its own, or be named in the box of the step that uses it.
    """
    labels = [node.label for node in walk.nodes.values() if node.kind == "parameter"]
    beside = {label.rpartition(".")[0] or label for label in labels}
    return (beside | {n.label.partition(": ")[0] for n in walk.nodes.values() if ": " in n.label}) - {""}


def _order(a: Walk, b: Walk) -> Iterator[Difference]:
    """Yield a difference for the first pair of corresponding rearrangements, one on each side, that have the
    same shapes but put the entries in different positions.
    """
    ends = [[node for node in walk.nodes.values() if _ends_layout(walk, node)] for walk in (a, b)]
    for one, other in zip(*ends) if len(ends[0]) == len(ends[1]) else ():
        sizes = [node.order.partition(":")[0] for node in (one, other)]
        if sizes[0] == sizes[1] and one.order != other.order:
            yield Difference("Yours puts the entries in another order than theirs.", (one.id,), (other.id,))
            return


def _ends_layout(walk: Walk, node: Node) -> bool:
    """Return whether the node is the last of several consecutive rearrangements, or the only one."""
    return bool(node.order) and all(walk.nodes[edge.target].role != "layout" for edge in walk.out[node.id])
