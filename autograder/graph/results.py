"""What differs in the results themselves, in sentences (see differences.py)."""

from autograder.graph.attention import from_pieces
from autograder.graph.model import shape_text
from autograder.graph.origins import REDUCTIONS, comparable, rearranged
from autograder.graph.softmaxes import softmax_input
from autograder.graph.sublayers import ids


def _counts(a, b):
    """How many results there are."""
    mine, theirs = a.outputs(), b.outputs()
    if mine and theirs and len(mine) != len(theirs):
        said = ["several results" if n > 3 else f"{n} results" if n > 1 else "one" for n in map(len, (theirs, mine))]
        first = said[0].replace("one", "one result")
        yield f"Theirs gives {first}, yours {said[1]}.", ids(mine), ids(theirs)


def _shapes(a, b):
    """How large the results are."""
    for one, other in zip(a.outputs(), b.outputs()):
        if None not in (one.shape, other.shape) and one.shape != other.shape:
            said = [shape_text(node.shape) for node in (other, one)]
            yield f"Theirs gives {said[0]}, yours {said[1]}.", (one.id,), (other.id,)
            return


def _reductions(a, b):
    """One mean, sum or maximum: which it is, over which axis, and of which numbers."""
    found = [[n for n in graph.nodes.values() if n.op in REDUCTIONS] for graph in (a, b)]
    if len(found[1]) != 1 or _does_more(b):
        return
    theirs = found[1][0]
    if _only_arranges(a, {"layout", "scale"}):
        yield f"Theirs takes the {REDUCTIONS[theirs.op]}; yours only picks and rearranges.", (), (theirs.id,)
    elif len(found[0]) == 1 and not _does_more(a) and a.is_sure("div") and b.is_sure("div"):
        yield from _reduction(a, b, found[0][0], theirs)


def _does_more(graph):
    """Is there mathematics beside a mean, a sum or a maximum?"""
    return any(node.role in ("scale", "times", "product", "softmax") for node in graph.nodes.values())


def _reduction(a, b, mine, theirs):
    word = REDUCTIONS[mine.op]
    if mine.op != theirs.op:
        yield f"Theirs takes the {REDUCTIONS[theirs.op]}, yours the {word}.", (mine.id,), (theirs.id,)
        return
    ends = [graph.nodes[graph.main(graph.outputs()[0].id)] for graph in (a, b)]
    if all(end.moved for end in ends) and not rearranged(*ends):
        return
    before = [graph.nodes[graph.main(node.id)] for graph, node in ((a, mine), (b, theirs))]
    if None not in (mine.dim, theirs.dim) and before[0].shape == before[1].shape and mine.dim != theirs.dim:
        text = f"Theirs takes the {word} over axis {theirs.dim}, yours over axis {mine.dim}."
        yield text, (mine.id,), (theirs.id,)
    elif rearranged(*ends) or (mine.dim == theirs.dim and rearranged(*before)):
        yield f"Yours takes the {word} of other groups of numbers than theirs.", (mine.id,), (theirs.id,)


def _only_arranges(graph, roles=frozenset({"layout"})):
    steps = [n for n in graph.nodes.values() if n.kind == "operation"]
    return bool(steps) and all(n.role in roles and n.op != "tensor" for n in steps)  # that is a way by NumPy


def _places(a, b):
    """Two rearrangements and nothing else, to the same shape: does each number stand in the same place?"""
    if not (_only_arranges(a) and _only_arranges(b)):
        return
    for one, other in zip(a.outputs(), b.outputs()):
        numbers = a.main(one.id), b.main(other.id)
        if None in numbers:
            continue
        ends = a.nodes[numbers[0]], b.nodes[numbers[1]]
        if ends[0].shape == ends[1].shape and rearranged(*ends):
            yield "Yours puts the numbers in other places than theirs.", (ends[0].id,), (ends[1].id,)
            return


def _origins(a, b):
    """Several results: each comes from the same inputs on both sides."""
    pairs = list(zip(a.outputs(), b.outputs()))
    if len(pairs) < 2 or not comparable(a, b):
        return
    if any(from_pieces(graph, graph.main(end.id)) for graph in (a, b) for end in graph.outputs()):
        return
    for place, (one, other) in enumerate(pairs, 1):
        sources = [graph.sources(node.id) for graph, node in ((a, one), (b, other))]
        if sources[0] != sources[1] and all(inputs for inputs, _ in sources):
            said = [" and ".join(sorted(inputs | parameters)) for inputs, parameters in sources]
            yield f"Result {place} comes from {said[1]} in theirs, from {said[0]} in yours.", (one.id,), (other.id,)
            return


def _sums(a, b):
    """Products of entries that are written down one by one, where theirs adds them up."""
    for one, other in zip(a.outputs(), b.outputs()):
        ends = [graph.back(graph.main(end.id), {"layout", "scale"}) for graph, end in ((a, one), (b, other))]
        if None in ends or a.nodes[ends[0]].role != "times" or not b.is_product(ends[1]) or b.is_learned(ends[1]):
            continue
        factors = [a.back(side, {"layout", "scale"}) for side in a.loud(ends[0])]
        if None not in factors and all(a.nodes[n].kind == "input" or softmax_input(a, n) for n in factors):
            yield "Theirs adds up products; yours multiplies and never adds.", (ends[0],), (ends[1],)


def _unused(a, b):
    """An input that one side leaves aside."""
    both = {n.label for n in b.nodes.values() if n.kind == "input"}
    for name in sorted((a.unused() - b.unused()) & both):
        steps = [n.id for n in a.nodes.values() if n.kind == "input" and n.label == name]
        yield f"Theirs uses {name}; yours does not.", steps, ()


RULES = (_counts, _unused, _shapes, _reductions, _sums, _places, _origins)
