"""Where queries, keys and values come from, and in which places their numbers stand, in sentences."""

from autograder.graph.attention import from_pieces
from autograder.graph.sublayers import listed

_MATRIX = ("matmul", "bmm")
REDUCTIONS = {"mean": "mean", "sum": "sum", "amax": "maximum", "max": "maximum", "median": "median"}


def differences(a, b, mine, theirs):
    """Where queries, keys and values come from."""
    if mine.turned or theirs.turned or not comparable(a, b):
        return
    told = False
    if mine.ordered and theirs.ordered and not mine.looped and not theirs.looped:
        for name in ("queries", "keys"):
            steps = getattr(mine, name), getattr(theirs, name)
            for text in _source_said(a, b, name, *steps, theirs.values):
                told = True
                yield text, (mine.product,), (theirs.product,)
    if told or None in (mine.values, theirs.values) or None in (mine.mix, theirs.mix):
        return
    for text in _source_said(a, b, "values", mine.values, theirs.values, theirs.keys):
        yield text, (mine.mix,), (theirs.mix,)


def partly_normed(a, b, mine, theirs):
    """Some of queries, keys and values are made of the normalised input, others are not."""
    parts = ("queries", "keys", "values")
    flags = [
        [_from_norm(graph, getattr(core, part)) for part in parts] for graph, core in ((a, mine), (b, theirs))
    ]
    if None in flags[0] + flags[1] or not all(flags[1]) or all(flags[0]) or not any(flags[0]):
        return
    told = listed([part for part, flag in zip(parts, flags[0]) if not flag])
    text = f"Theirs makes queries, keys and values of the normalised input; yours not the {told}."
    yield text, (mine.product,), (theirs.product,)


def _from_norm(graph, number):
    """Is it projected from the result of a norm? None where it is not projected."""
    end = None if number is None else graph.back(number, {"layout", "scale", "bias"})
    if end is None or not graph.is_learned(end):
        return None
    source = graph.back(graph.main(end), {"layout"})
    return source is not None and graph.nodes[source].role == "norm"


def comparable(a, b):
    """The same inputs by name on both sides."""
    names = [{n.label for n in graph.nodes.values() if n.kind == "input"} for graph in (a, b)]
    return names[0] == names[1]


def _source_said(a, b, name, mine, theirs, elsewhere):
    if None in (mine, theirs) or from_pieces(a, mine) or from_pieces(b, theirs):
        return
    (inputs, parameters), (expected, learned) = a.sources(mine), b.sources(theirs)
    if inputs != expected and inputs and expected:
        yield f"Theirs takes the {name} from {listed(sorted(expected))}, yours from {listed(sorted(inputs))}."
        return
    only = parameters - learned, learned - parameters
    # subtle: more parameters may be a product of two of them, which is the same mathematics.
    if parameters | learned <= owners(b) and only[0] and (only[1] or only[0] & _alone(b, elsewhere, theirs)):
        only = only if only[1] else (parameters, learned)
        yield f"Theirs makes the {name} with {listed(sorted(only[1]))}, yours with {listed(sorted(only[0]))}."


def _alone(graph, number, other):
    """The parts that make one of two results and not the other."""
    return graph.sources(number)[1] - graph.sources(other)[1] if number is not None else frozenset()


def owners(graph):
    return frozenset().union(*(graph.sources(number)[1] for number in graph.nodes))


def inputs(graph, number):
    return listed(sorted(graph.sources(number)[0]))


def arrangement(a, b, mine, theirs):
    """The same sizes, but other numbers in the places."""
    if mine.looped or theirs.looped:
        return
    pairs = []
    if mine.ordered and theirs.ordered:
        pairs += [("queries", mine.queries, theirs.queries), ("keys", mine.keys, theirs.keys)]
    matrices = _mixes_once(a, mine) and _mixes_once(b, theirs)
    if matrices and None not in (mine.values, theirs.values):
        pairs += [("values", mine.values, theirs.values)]
    told = [(name, one) for name, one, other in pairs if rearranged(a.nodes[one], b.nodes[other])]
    if told:
        names, blended = listed([name for name, _ in told]), {_blended(a, one) for _, one in told}
        text = f"Yours puts the numbers of the {names} in other places than theirs."
        if len(blended) == 1 and blended != {""}:
            text = f"Yours takes the {blended.pop()} of several heads as {names}; theirs does not."
        yield text, (mine.product,), (theirs.product,)
    elif matrices:
        yield from _put_together(a, b, mine, theirs)


def _mixes_once(graph, core):
    node = None if core.mix is None else graph.nodes[core.mix]
    return node is not None and node.op in _MATRIX and node.times == 1


def _put_together(a, b, mine, theirs):
    """How the heads become one again, after the mix."""
    blends = [
        [number for number in graph.ahead(core.mix, {"layout"}) if graph.nodes[number].op in REDUCTIONS]
        for graph, core in ((a, mine), (b, theirs))
    ]
    # subtle: mixed in blocks of keys, the sum of the blocks is due; then the mix has an axis more.
    ranks = [len(graph.nodes[core.mix].shape or ()) for graph, core in ((a, mine), (b, theirs))]
    if blends[0] and not blends[1]:
        if ranks[0] == ranks[1]:
            word = REDUCTIONS[a.nodes[blends[0][0]].op]
            text = f"Yours takes the {word} of the mixed values of the heads; theirs does not."
            yield text, blends[0], (theirs.mix,)
    elif mine.projected and theirs.projected:
        ends = [graph.main(core.projected[0]) for graph, core in ((a, mine), (b, theirs))]
        if None not in ends and rearranged(a.nodes[ends[0]], b.nodes[ends[1]]):
            text = "Yours puts the mixed values of the heads together in another order than theirs."
            yield text, (ends[0],), (ends[1],)


def _blended(graph, number):
    """The mean, sum or maximum that stands before a rearrangement; "" without one."""
    while number is not None and graph.nodes[number].role == "layout":
        number = graph.main(number)
    return REDUCTIONS.get(graph.nodes[number].op, "") if number is not None else ""


def rearranged(one, other):
    """Two rearrangements from the same sizes to the same sizes that are not the same."""
    if not (one.moved and other.moved) or one.times != other.times:
        return False
    sizes, _, prints = one.moved.partition(":")
    expected, _, theirs = other.moved.partition(":")
    return sizes == expected and prints != theirs
