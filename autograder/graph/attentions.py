"""What differs between one attention and another, in sentences (see differences.py)."""

from autograder.graph import patterns
from autograder.graph.attention import ADDING, blocked, from_pieces, width
from autograder.graph.operations import number_text

_TOO_SMALL = -1e5  # what is filled with more than this still counts
_MATRIX = ("matmul", "bmm")


def alike(graph, cores):
    """Are these, side by side, all the same?"""
    return len({_key(core) for core in cores}) == 1


def _key(core):
    factor = None if core.factor is None else round(core.factor, 5)
    return factor, core.product is None, core.masked, core.scaled_after, core.mix is None, bool(core.projected)


def differences(a, b, mine, theirs, swapped=False):
    """(sentence, my steps, their steps) for each difference."""
    if swapped:
        names = [_inputs(graph, core.keys) for graph, core in ((b, theirs), (a, mine))]
        text = f"Theirs attends to {names[0]} first, yours to {names[1]}."
        yield text, (mine.id,), (theirs.id,)
        return
    yield from _scale(mine, theirs)
    yield from _masks(a, b, mine, theirs)
    yield from _axis(a, b, mine, theirs)
    yield from _heads(a, b, mine, theirs)
    yield from _keys(mine, theirs)
    if not mine.masks_before:
        yield from _sources(a, b, mine, theirs)
    yield from _partly_normed(a, b, mine, theirs)
    yield from _arrangement(a, b, mine, theirs)
    if mine.turned_after and not theirs.turned and mine.ordered and _ends(a, mine) == _ends(b, theirs):
        text = "Yours lays the softmax weights on their side before it mixes the values; theirs does not."
        yield text, (mine.mix or mine.id,), (theirs.mix or theirs.id,)
    if theirs.mix is not None and mine.mix is None:
        yield "Theirs mixes the values with the softmax weights; yours stops before that.", (mine.id,), (theirs.mix,)
    elif theirs.projected and not mine.projected and _unknown(a, b, theirs) and len(a.learned()) < len(b.learned()):
        yield "Theirs puts a projection after the mixed values; yours does not.", (mine.mix,), theirs.projected
    elif mine.projected and not theirs.projected and len(a.learned()) > len(b.learned()):
        yield "Yours puts a projection after the mixed values; theirs does not.", mine.projected, (theirs.mix,)


def _unknown(a, b, theirs):
    """Does my side use none of the parameters of their projection?"""
    names = {b.owner(b.nodes[number]) for number in theirs.projected}
    used = {name.rpartition(".")[2] for name in _parameters(a)}
    return not any(name and (name in used or name.rpartition(".")[2] in used) for name in names)


def _scale(mine, theirs):
    if None in (mine.factor, theirs.factor):
        return
    if theirs.factor != 1 and mine.factor == 1 and mine.scaled_after:
        number = number_text(theirs.factor)
        text = f"Theirs scales the scores (\u00d7 {number}) before softmax; yours scales after it."
        yield text, (mine.id,), theirs.scales
        return
    yield from scales(mine.factor, mine.scales, theirs.factor, theirs.scales, "the scores", " before softmax")


def scales(mine, my_steps, theirs, their_steps, what, when=""):
    """Two factors that differ, as a sentence."""
    if abs(mine - theirs) <= 1e-3 * abs(theirs):
        return
    number, other = number_text(theirs), number_text(mine)
    if mine == -theirs:
        yield f"Yours turns the sign of {what}; theirs does not.", my_steps, their_steps
    elif mine == 1:
        yield f"Theirs scales {what} (\u00d7 {number}){when}; yours does not scale at all.", my_steps, their_steps
    elif theirs == 1:
        yield f"Yours scales {what} (\u00d7 {other}){when}; theirs does not scale at all.", my_steps, their_steps
    else:
        yield f"Theirs scales {what} by {number}, yours by {other}.", my_steps, their_steps


def _masks(a, b, mine, theirs):
    # A product that adds something at once may add the mask.
    if any(core.product is not None and g.nodes[core.product].op in ADDING for g, core in ((a, mine), (b, theirs))):
        return
    if mine.added_masks and theirs.masked and not mine.masked:
        text = "Yours adds the mask to the scores; theirs blocks with it."
        yield text, mine.added_masks, theirs.masks
        return
    if theirs.masked and not mine.masked:
        if mine.masks_after:
            text = "Theirs masks the scores before softmax; yours masks the weights after it."
            yield text, mine.masks_after, theirs.masks
        elif mine.masks_before and not theirs.masks_before:
            text = "Theirs masks the scores before softmax; yours masks what goes into their product."
            yield text, mine.masks_before, theirs.masks
        elif not (mine.looped or theirs.looped):
            yield "Theirs masks the scores before softmax; yours does not.", (mine.id,), theirs.masks
        return
    if mine.masked and not theirs.masked:
        if not (mine.looped or theirs.looped):
            yield "Yours masks the scores before softmax; theirs does not.", mine.masks, (theirs.id,)
        return
    yield from _fills(a, b, mine, theirs)
    yield from _patterns(a, b, mine, theirs)


def _fills(a, b, mine, theirs):
    """A fill that is not far below every score blocks nothing."""
    fills = [[graph.nodes[n].fill for n in core.masks] for graph, core in ((a, mine), (b, theirs))]
    if not fills[0] or not fills[1] or None in fills[0] + fills[1] or mine.shared_again:
        return
    if a.nodes[mine.id].op != "softmax":
        return
    if max(fills[0]) > _TOO_SMALL and max(fills[1]) <= _TOO_SMALL:
        said = [number_text(max(part)).replace("-", "\u2212") for part in (fills[1], fills[0])]
        yield f"Theirs fills what is blocked with {said[0]}, yours with {said[1]}.", mine.masks, theirs.masks


def _patterns(a, b, mine, theirs):
    """What is blocked, on these inputs."""
    texts = blocked(a, mine.masks), blocked(b, theirs.masks)
    if mine.looped or theirs.looped or mine.turned or not all(texts) or mine.shape != theirs.shape:
        return
    if a.nodes[mine.id].op != "softmax" or mine.shared_again:
        return
    ours, reference = (patterns.read(text) for text in texts)
    try:
        spread = patterns.torch.broadcast_tensors(ours, reference)
    except RuntimeError:
        return
    if patterns.torch.equal(*spread):
        return
    yield _pattern_said(texts, *spread), mine.masks, theirs.masks


def _pattern_said(texts, ours, reference):
    names = [patterns.in_words(text) for text in texts]
    if bool((ours == ~reference).all()):
        return "Yours blocks exactly what theirs allows."
    if all(names):
        return f"Theirs blocks {names[1]}, yours {names[0]}."
    if bool((ours | ~reference).all()):
        return "Yours blocks all that theirs blocks, and more."
    if bool((reference | ~ours).all()):
        return "Yours blocks only a part of what theirs blocks."
    return "Yours blocks other positions than theirs."


def _axis(a, b, mine, theirs):
    if None in (mine.dim, theirs.dim) or mine.dim == theirs.dim or mine.shape != theirs.shape:
        return
    if mine.turned or theirs.turned or _crossed(a, b, mine, theirs):
        return
    other = "all axes" if mine.dim == "all" else f"axis {mine.dim}"
    yield f"Theirs applies softmax over axis {theirs.dim}, yours over {other}.", (mine.id,), (theirs.id,)


def _crossed(a, b, mine, theirs):
    """Do my queries come from where their keys come from? Then my table of scores may lie on its side."""
    sides = [_ends(graph, core) for graph, core in ((a, mine), (b, theirs))]
    if None in sides:
        return False
    return sides[0] == sides[1][::-1] and sides[0] != sides[1]


def _ends(graph, core):
    if core.queries is None:
        return None
    return graph.sources(core.queries), graph.sources(core.keys)


def _heads(a, b, mine, theirs):
    """Does each head compare its own features?"""
    sizes = [width(graph, core) for graph, core in ((a, mine), (b, theirs))]
    if None in sizes or mine.looped or theirs.looped or not sizes[1] or sizes[0] == sizes[1]:
        return
    rank = [len(core.shape or ()) for core in (mine, theirs)]
    if sizes[0] % sizes[1] == 0 and rank[0] < rank[1]:
        text = f"Theirs compares queries and keys head by head, {sizes[1]} features each; yours all {sizes[0]} at once."
        yield text, (mine.product,), (theirs.product,)


def _keys(mine, theirs):
    """With how many keys each query is compared."""
    if mine.looped or theirs.looped or mine.turned or theirs.turned or None in (mine.shape, theirs.shape):
        return
    if not (mine.ordered and theirs.ordered and mine.shape and theirs.shape and mine.dim == theirs.dim == -1):
        return
    count, due = mine.shape[-1], theirs.shape[-1]
    if count != due and type(count) is type(due) is int and count % due == 0:
        text = f"Theirs compares each query with {due} keys, yours with {count}."
        yield text, (mine.product,), (theirs.product,)


def _sources(a, b, mine, theirs):
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


def _partly_normed(a, b, mine, theirs):
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
    if only[0] and only[1] and parameters | learned <= _parameters(b):
        yield f"Theirs makes the {name} with {_listed(only[1])}, yours with {_listed(only[0])}."


def _parameters(graph):
    return frozenset().union(*(graph.sources(number)[1] for number in graph.nodes))


def _listed(names):
    return " and ".join(sorted(names))


def _inputs(graph, number):
    return _listed(graph.sources(number)[0])


def reads_other(a, b, mine, theirs):
    """Does my first attention read what their second one reads?"""
    first, second = theirs[0][0], theirs[1][0]
    if None in (mine.keys, first.keys, second.keys) or not comparable(a, b):
        return False
    ours, one, other = a.sources(mine.keys)[0], b.sources(first.keys)[0], b.sources(second.keys)[0]
    return ours != one and ours == other


def _arrangement(a, b, mine, theirs):
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
