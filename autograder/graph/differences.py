"""What differs between two computations, in sentences. Only what is certain and matters is told.

Each rule yields Difference(sentence, my steps, their steps); a comparison marks these steps in its picture.
"""

from typing import NamedTuple

from autograder.graph import attentions, joins, parts, results, sublayers
from autograder.graph.attention import levels
from autograder.graph.meaning import Meaning, total_scale
from autograder.graph.origins import rearranged
from autograder.graph.sublayers import counted, ids
from autograder.graph.sums import regrouped

_DISTANCES = {"cosine_similarity", "cdist", "pairwise_distance", "norm"}


class Difference(NamedTuple):
    text: str
    mine: tuple = ()  # the steps it speaks of
    theirs: tuple = ()
    counts: bool = False  # it tells how many there are: only those without a partner differ


def found(mine, theirs, careful=False):
    """The differences of two whole graphs, each given as (nodes, edges); `careful` leaves out a rule that fails."""
    a, b = Meaning(*regrouped(*mine)), Meaning(*regrouped(*theirs))
    if a.cut or b.cut:
        return []
    if b.outputs() and not a.outputs():
        return [Difference(f"Theirs gives a tensor; yours {_returned(a)}.")]
    told = []
    for rule in (_attention, _products, _distances, _order, *sublayers.RULES, *parts.RULES):
        told += _told(rule, a, b, careful)
    # What follows from the above is not told again.
    for rule in (joins.differences, *results.RULES, *parts.LAST):
        told = told or _told(rule, a, b, careful)
    return list({item.text: item for item in told}.values())


def _told(rule, a, b, careful):
    try:
        return [Difference(*item) for item in rule(a, b)]
    except Exception:
        if not careful:
            raise
        return []


def _returned(graph):
    """What stands where a result is due: "returns None"."""
    return next((node.label for node in graph.nodes.values() if node.kind == "output"), "gives none")


def _attention(a, b):
    mine, theirs = levels(a), levels(b)
    if len(mine) != len(theirs):
        yield from _other_softmax(a, b, mine, theirs)
        return
    for place, (ours, reference) in enumerate(zip(mine, theirs)):
        # Attentions side by side are heads, or rows of a loop: told only where they are all alike.
        if attentions.alike(a, ours) and attentions.alike(b, reference):
            swapped = place == 0 and len(theirs) == 2 and attentions.reads_other(a, b, ours[0], theirs)
            yield from attentions.differences(a, b, ours[0], reference[0], swapped)
            if swapped:
                return


def _other_softmax(a, b, mine, theirs):
    logarithm = [n for n in a.having("softmax") if n.op == "log_softmax"]
    if len(mine) < len(theirs) and logarithm and a.is_sure("exp"):
        yield "Theirs applies softmax, yours log_softmax.", ids(logarithm), _cores(theirs)
    elif not (a if len(mine) < len(theirs) else b).may_hide_softmax():
        yield from counted("applies softmax", len(mine), len(theirs), _cores(mine), _cores(theirs))


def _cores(found):
    return tuple(core.id for level in found for core in level)


def _products(a, b):
    """Where there is no attention on either side: the product itself and its scale."""
    if levels(a) or levels(b) or len(a.outputs()) != len(b.outputs()):
        return
    for mine, theirs in zip(a.outputs(), b.outputs()):
        factors = [_scale_of_result(graph, end.id) for graph, end in ((a, mine), (b, theirs))]
        if None not in factors:
            yield from attentions.scales(*factors[0], *factors[1], "the product")
            yield from _factors(a, b, mine.id, theirs.id)


def _factors(a, b, mine, theirs):
    """What goes into the last product: are its numbers in the same places?"""
    ends = [graph.back(graph.main(end), {"layout", "scale"}) for graph, end in ((a, mine), (b, theirs))]
    if any(graph.nodes[end].op not in ("matmul", "bmm") for graph, end in zip((a, b), ends)):
        return
    sides = [{edge.places: graph.nodes[edge.source] for edge in graph.into[end]} for graph, end in zip((a, b), ends)]
    if any(rearranged(sides[0][at], sides[1][at]) for at in sides[0].keys() & sides[1].keys()):
        yield "Yours puts numbers in other places than theirs before the product.", (ends[0],), (ends[1],)


def _scale_of_result(graph, output):
    """(what the last product is multiplied by, the steps that do it); None where there is none or it is unclear."""
    passed = []
    end = graph.back(graph.main(output), {"layout", "scale"}, passed)
    if end is None or not graph.is_product(end) or graph.nodes[end].op == "addmm":
        return None
    factors = graph.into[end]
    if graph.nodes[end].role != "product":
        sources = [graph.back(edge.source, {"layout"}) for edge in factors]
        factors = [edge for source in sources for edge in graph.into[source]]
    for edge in factors:
        graph.back(edge.source, {"layout", "scale"}, passed)
    # A number in the formula of an activation is no scale of the product.
    total = None if any(item.does for item in passed) else total_scale(passed)
    return None if total is None else (total, [item.id for item in passed if item.role == "scale"])


def _distances(a, b):
    """A similarity other than the dot product."""
    if b.having("norm") or not (b.is_sure("sub", *_DISTANCES) and a.is_sure("exp")):
        return
    names = sorted({node.op for node in a.nodes.values()} & _DISTANCES)
    if names:
        steps = [node.id for node in a.nodes.values() if node.op in _DISTANCES]
        yield f"Yours applies {names[0]}; theirs does not.", steps, ()
    elif b.having("product") and not (a.having("product") or a.having("times") or a.having("add")):
        steps = [node.id for node in a.nodes.values() if node.op == "sub" and len(a.loud(node.id)) == 2]
        if steps:
            yield "Yours takes the differences of vectors; theirs multiplies them.", steps, ()


def _order(a, b):
    """Which comes first: the attention or the network with its activation?"""
    orders = []
    for graph in (a, b):
        cores, steps = levels(graph), graph.having("activation")
        if len(cores) != 1 or len(steps) != 1 or not graph.learned():
            return
        core, step = cores[0][0].id, steps[0].id
        above = graph.above
        orders.append((core in above[step]) - (step in above[core]))
    if orders[0] == -orders[1] and orders[0]:
        first, second = ("the attention", "the feed-forward network")[:: orders[1]]
        yield f"Theirs has {first} first and then {second}; yours has them the other way round.", (), ()
