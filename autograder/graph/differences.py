"""What differs between two computations, in sentences. Only what is certain and matters is told.

Each rule yields Difference(sentence, my steps, their steps); a comparison marks these steps in its picture.
"""

from typing import NamedTuple

from autograder.graph import attentions, joins
from autograder.graph.attention import levels
from autograder.graph.meaning import Meaning
from autograder.graph.model import shape_text
from autograder.graph.operations import number_text

_TIMES = {0: "not at all", 1: "once", 2: "twice"}
_MAKES_NORM = ("var", "std", "rsqrt", "var_mean", "norm", "sqrt", "normalize")
_MAKES_ACTIVATION = (
    "erf", "tanh", "exp", "clamp", "maximum", "pow", "sigmoid", "where", "max",
    "special_erf", "erfc", "special_ndtr", "ndtr", "minimum",
)  # fmt: skip
_DISTANCES = {"cosine_similarity", "cdist", "pairwise_distance", "norm"}
_REDUCTIONS = {"mean": "mean", "sum": "sum", "amax": "maximum", "max": "maximum", "median": "median"}


class Difference(NamedTuple):
    text: str
    mine: tuple = ()  # the steps it speaks of
    theirs: tuple = ()
    counts: bool = False  # it tells how many there are: only those without a partner differ


def found(mine, theirs):
    """The differences of two whole graphs, each given as (nodes, edges)."""
    a, b = Meaning(*mine), Meaning(*theirs)
    if a.cut or b.cut:
        return []
    told = []
    for rule in (_attention, _products, _distances, _order, _residuals, _norms, _activations):
        told += [Difference(*item) for item in rule(a, b)]
    # What follows from the above is not told again.
    for rule in (joins.differences, _counts, _unused, _shapes, _reductions, _places, _origins):
        told = told or [Difference(*item) for item in rule(a, b)]
    return list({item.text: item for item in told}.values())


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
        yield "Theirs applies softmax, yours log_softmax.", _ids(logarithm), _cores(theirs)
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
    if any(attentions.rearranged(sides[0][at], sides[1][at]) for at in sides[0].keys() & sides[1].keys()):
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
    total = 1.0
    for item in passed:
        if item.role == "scale":
            if item.number is None:
                return None
            total *= item.number
    return total, [item.id for item in passed if item.role == "scale"]


def _distances(a, b):
    """A similarity other than the dot product."""
    names = sorted({node.op for node in a.nodes.values()} & _DISTANCES)
    if names and b.is_sure(*_DISTANCES) and not b.having("norm") and a.is_sure("exp"):
        ids = [node.id for node in a.nodes.values() if node.op in _DISTANCES]
        yield f"Yours applies {names[0]}; theirs does not.", ids, ()


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


def _residuals(a, b):
    mine, theirs = a.residuals(), b.residuals()
    what = "adds an input back to what was computed from it"
    yield from counted(what, len(mine), len(theirs), mine, theirs)
    if len(mine) != len(theirs):
        return
    weights = [[graph.weight_of_kept(n) for n in graph.residuals()] for graph in (a, b)]
    if mine and set(weights[1]) == {1.0} and set(weights[0]) - {1.0, None}:
        number = next(weight for weight in weights[0] if weight not in (1.0, None))
        yield f"Yours multiplies an input by {number_text(number)} as it adds it back; theirs does not.", mine, theirs
        return
    normed = [[n for n in graph.residuals() if graph.adds_back_norm(n)] for graph in (a, b)]
    if len(normed[0]) > len(normed[1]) and a.norms_after_sum() == b.norms_after_sum():
        yield "Yours adds back the normalised input; theirs adds back the input itself.", normed[0], theirs


def _norms(a, b):
    if not (a.is_sure(*_MAKES_NORM) and b.is_sure(*_MAKES_NORM)):
        return
    mine, theirs = a.norms(), b.norms()
    if len(mine) != len(theirs):
        yield from counted("normalises", len(mine), len(theirs), _ids(mine), _ids(theirs))
        return
    places = a.norms_after_sum(), b.norms_after_sum()
    if len(a.residuals()) == len(b.residuals()) and sum(places[0]) != sum(places[1]):
        after, before = "normalises after the sum", "before"
        text = ("Yours {}, theirs {}" if sum(places[0]) > sum(places[1]) else "Theirs {}, yours {}") + (
            " the part that is added."
        )
        yield text.format(after, before), _ids(mine), _ids(theirs)
    elif len(a.norms_on_branch()) > len(b.norms_on_branch()):
        text = "Yours normalises the result of the part that is added; theirs does not."
        yield text, a.norms_on_branch(), _ids(theirs)
    yield from _other_norms(a, b, mine, theirs)


def _other_norms(a, b, mine, theirs):
    """The same number of norms, but other ones, or over other axes."""
    names = [[graph.owner(node) for node in side] for graph, side in ((a, mine), (b, theirs))]
    if all(names[1]) and len(set(names[1])) > 1:
        if all(names[0]) and names[0] != names[1] and set(names[0]) <= set(names[1]):
            said = [" and ".join(part) for part in (names[1], names[0])]
            yield f"Theirs normalises with {said[0]}, yours with {said[1]}.", _ids(mine), _ids(theirs)
        elif not any(names[0]) and not any(edge.quiet for node in mine for edge in a.into[node.id]):
            yield "Theirs normalises with a learned scale and shift, yours without.", _ids(mine), _ids(theirs)
    for one, other in zip(mine, theirs):
        if one.op == other.op and None not in (one.dim, other.dim) and one.dim != other.dim:
            axes = ["the last axis" if n.dim == -1 else f"the last {-n.dim} axes" for n in (other, one)]
            yield f"Theirs normalises over {axes[0]}, yours over {axes[1]}.", (one.id,), (other.id,)


def _activations(a, b):
    mine, theirs = a.activations(), b.activations()
    if len(mine) != len(theirs):
        if a.is_sure(*_MAKES_ACTIVATION) and b.is_sure(*_MAKES_ACTIVATION):
            more = theirs if len(theirs) > len(mine) else mine
            names = " and ".join(dict.fromkeys(node.op for node, _ in more))
            ids = [_ids([node for node, _ in side]) for side in (mine, theirs)]
            yield from counted(f"applies {names}", len(mine), len(theirs), *ids)
        return
    for (one, between), (other, expected) in zip(mine, theirs):
        names = [f"{node.op} ({node.detail})" if node.detail else node.op for node in (one, other)]
        if names[0] != names[1]:
            yield f"Theirs applies {names[1]}, yours {names[0]}.", (one.id,), (other.id,)
        elif expected and not between and not _works_after(a, one.id):
            text = f"Theirs applies {other.op} before its last linear step, yours after it."
            yield text, (one.id,), (other.id,)


def _works_after(graph, number):
    """Is there any product after this step, also one by hand?"""
    return any(number in graph.above[n.id] for n in graph.nodes.values() if n.role in ("product", "times"))


def _counts(a, b):
    """How many results there are."""
    mine, theirs = a.outputs(), b.outputs()
    if mine and theirs and len(mine) != len(theirs):
        said = ["several results" if n > 3 else f"{n} results" if n > 1 else "one" for n in map(len, (theirs, mine))]
        first = said[0].replace("one", "one result")
        yield f"Theirs gives {first}, yours {said[1]}.", _ids(mine), _ids(theirs)


def _shapes(a, b):
    """How large the results are."""
    for one, other in zip(a.outputs(), b.outputs()):
        if None not in (one.shape, other.shape) and one.shape != other.shape:
            said = [shape_text(node.shape) for node in (other, one)]
            yield f"Theirs gives {said[0]}, yours {said[1]}.", (one.id,), (other.id,)
            return


def _reductions(a, b):
    """One mean, sum or maximum: which it is, and over which axis."""
    found = [[n for n in graph.nodes.values() if n.op in _REDUCTIONS] for graph in (a, b)]
    others = [n for graph in (a, b) for n in graph.nodes.values() if n.role in ("scale", "times", "product", "softmax")]
    if [len(side) for side in found] != [1, 1] or others or not (a.is_sure("div") and b.is_sure("div")):
        return
    mine, theirs = found[0][0], found[1][0]
    if mine.op != theirs.op:
        yield f"Theirs takes the {_REDUCTIONS[theirs.op]}, yours the {_REDUCTIONS[mine.op]}.", (mine.id,), (theirs.id,)
        return
    before = [graph.nodes[graph.main(node.id)] for graph, node in ((a, mine), (b, theirs))]
    if None not in (mine.dim, theirs.dim) and before[0].shape == before[1].shape and mine.dim != theirs.dim:
        text = f"Theirs takes the {_REDUCTIONS[mine.op]} over axis {theirs.dim}, yours over axis {mine.dim}."
        yield text, (mine.id,), (theirs.id,)
    elif mine.dim == theirs.dim and attentions.rearranged(*before):
        text = f"Yours takes the {_REDUCTIONS[mine.op]} of other groups of numbers than theirs."
        yield text, (mine.id,), (theirs.id,)


def _places(a, b):
    """Two rearrangements and nothing else, to the same shape: does each number stand in the same place?"""
    if any(n.role != "layout" for graph in (a, b) for n in graph.nodes.values() if n.kind == "operation"):
        return
    for one, other in zip(a.outputs(), b.outputs()):
        numbers = a.main(one.id), b.main(other.id)
        if None in numbers:
            continue
        ends = a.nodes[numbers[0]], b.nodes[numbers[1]]
        if ends[0].shape == ends[1].shape and attentions.rearranged(*ends):
            yield "Yours puts the numbers in other places than theirs.", (ends[0].id,), (ends[1].id,)
            return


def _origins(a, b):
    """Several results: each comes from the same inputs on both sides."""
    pairs = list(zip(a.outputs(), b.outputs()))
    if len(pairs) < 2 or not attentions.comparable(a, b):
        return
    if any(attentions.from_pieces(graph, graph.main(end.id)) for graph in (a, b) for end in graph.outputs()):
        return
    for place, (one, other) in enumerate(pairs, 1):
        sources = [graph.sources(node.id) for graph, node in ((a, one), (b, other))]
        if sources[0] != sources[1] and all(inputs for inputs, _ in sources):
            said = [" and ".join(sorted(inputs | parameters)) for inputs, parameters in sources]
            yield f"Result {place} comes from {said[1]} in theirs, from {said[0]} in yours.", (one.id,), (other.id,)
            return


def _unused(a, b):
    """An input that one side leaves aside."""
    both = {n.label for n in b.nodes.values() if n.kind == "input"}
    for name in sorted((a.unused() - b.unused()) & both):
        ids = [n.id for n in a.nodes.values() if n.kind == "input" and n.label == name]
        yield f"Theirs uses {name}; yours does not.", ids, ()


def _ids(nodes):
    return tuple(node.id for node in nodes)


def counted(what, mine, theirs, my_steps=(), their_steps=()):
    """"Theirs adds ... twice; yours once." and the steps that do it."""
    if mine != theirs:
        who, other = ("Theirs", "yours") if theirs > mine else ("Yours", "theirs")
        fewer, more = (_TIMES.get(count, f"{count} times") for count in sorted((mine, theirs)))
        yield f"{who} {what} {more}; {other} {fewer}.", tuple(my_steps), tuple(their_steps), True
