"""Where queries, keys and values come from, and in which places their numbers stand, in sentences."""

from autograder.graph.attention import from_pieces

_MATRIX = ("matmul", "bmm")


def differences(a, b, mine, theirs):
    """Where queries, keys and values come from."""
    if mine.turned or theirs.turned or not comparable(a, b):
        return
    told = False
    if mine.ordered and theirs.ordered and not mine.looped and not theirs.looped:
        for name in ("queries", "keys"):
            steps = getattr(mine, name), getattr(theirs, name)
            for text in _source_said(a, b, name, *steps):
                told = True
                yield text, (mine.product,), (theirs.product,)
    if told or None in (mine.values, theirs.values) or None in (mine.mix, theirs.mix):
        return
    for text in _source_said(a, b, "values", mine.values, theirs.values):
        yield text, (mine.mix,), (theirs.mix,)


def partly_normed(a, b, mine, theirs):
    """Some of queries, keys and values are made of the normalised input, others are not."""
    parts = ("queries", "keys", "values")
    flags = [
        [_from_norm(graph, getattr(core, part)) for part in parts] for graph, core in ((a, mine), (b, theirs))
    ]
    if None in flags[0] + flags[1] or not all(flags[1]) or all(flags[0]) or not any(flags[0]):
        return
    told = " and ".join(part for part, flag in zip(parts, flags[0]) if not flag)
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


def _source_said(a, b, name, mine, theirs):
    if None in (mine, theirs) or from_pieces(a, mine) or from_pieces(b, theirs):
        return
    (inputs, parameters), (expected, learned) = a.sources(mine), b.sources(theirs)
    if inputs != expected and inputs and expected:
        yield f"Theirs takes the {name} from {_listed(expected)}, yours from {_listed(inputs)}."
        return
    only = parameters - learned, learned - parameters
    # subtle: more parameters may be a product of two of them, which is the same mathematics.
    if only[0] and only[1] and parameters | learned <= owners(b):
        yield f"Theirs makes the {name} with {_listed(only[1])}, yours with {_listed(only[0])}."


def owners(graph):
    return frozenset().union(*(graph.sources(number)[1] for number in graph.nodes))


def _listed(names):
    return " and ".join(sorted(names))


def inputs(graph, number):
    return _listed(graph.sources(number)[0])


def arrangement(a, b, mine, theirs):
    """The same sizes, but other numbers in the places."""
    if mine.looped or theirs.looped:
        return
    pairs = []
    if mine.ordered and theirs.ordered:
        pairs += [("queries", mine.queries, theirs.queries, False), ("keys", mine.keys, theirs.keys, False)]
    if None not in (mine.mix, theirs.mix, mine.values, theirs.values):
        matrices = a.nodes[mine.mix].op in _MATRIX and b.nodes[theirs.mix].op in _MATRIX
        pairs += [("values", mine.values, theirs.values, False)] if matrices else []
    told = [name for name, one, other, _ in pairs if rearranged(a.nodes[one], b.nodes[other])]
    if told:
        text = f"Yours puts the numbers of the {' and '.join(told)} in other places than theirs."
        yield text, (mine.product,), (theirs.product,)
    elif mine.projected and theirs.projected:
        ends = [graph.main(core.projected[0]) for graph, core in ((a, mine), (b, theirs))]
        if None not in ends and rearranged(a.nodes[ends[0]], b.nodes[ends[1]]):
            text = "Yours puts the mixed values of the heads together in another order than theirs."
            yield text, (ends[0],), (ends[1],)


def rearranged(one, other):
    """Two rearrangements from the same sizes to the same sizes that are not the same."""
    if not (one.moved and other.moved) or one.times != other.times:
        return False
    sizes, _, prints = one.moved.partition(":")
    expected, _, theirs = other.moved.partition(":")
    return sizes == expected and prints != theirs
