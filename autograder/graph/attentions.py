"""What differs between one attention and another, in sentences (see differences.py)."""

from dataclasses import replace

from autograder.graph import masked, origins
from autograder.graph.attention import width
from autograder.graph.operations import number_text


def alike(graph, cores):
    """Are these, side by side, all the same?"""
    return len({_key(core) for core in cores}) == 1


def _key(core):
    factor = None if core.factor is None else round(core.factor, 5)
    return factor, core.product is None, core.masked, core.scaled_after, core.mix is None, bool(core.projected)


def differences(a, b, mine, theirs, swapped=False):
    """(sentence, my steps, their steps) for each difference."""
    if swapped:
        names = [origins.inputs(graph, core.keys) for graph, core in ((b, theirs), (a, mine))]
        text = f"Theirs attends to {names[0]} first, yours to {names[1]}."
        yield text, (mine.id,), (theirs.id,)
        return
    mine = _uprighted(a, b, mine, theirs)
    yield from _scale(mine, theirs)
    yield from masked.differences(a, b, mine, theirs)
    yield from _axis(a, b, mine, theirs)
    yield from _bent(a, b, mine, theirs)
    yield from _heads(a, b, mine, theirs)
    yield from _keys(mine, theirs)
    if not mine.masks_before:
        yield from origins.differences(a, b, mine, theirs)
    yield from origins.partly_normed(a, b, mine, theirs)
    yield from _pooled(a, b, mine, theirs)
    yield from origins.arrangement(a, b, mine, theirs)
    if mine.turned_after and not theirs.turned and mine.ordered and _ends(a, mine) == _ends(b, theirs):
        text = "Yours lays the softmax weights on their side before it mixes the values; theirs does not."
        yield text, (mine.mix or mine.id,), (theirs.mix or theirs.id,)
    yield from _ends_differ(a, b, mine, theirs)


def _ends_differ(a, b, mine, theirs):
    """What comes after the softmax weights: the mix, and the projection of what was mixed."""
    if theirs.mix is not None and mine.mix is None and not _after(a, mine):
        yield "Theirs mixes the values with the softmax weights; yours stops before that.", (mine.id,), (theirs.mix,)
    elif theirs.projected and not mine.projected and _unknown(a, b, theirs) and len(a.learned()) < len(b.learned()):
        yield "Theirs puts a projection after the mixed values; yours does not.", (mine.mix,), theirs.projected
    elif mine.projected and not theirs.projected and len(a.learned()) > len(b.learned()):
        yield "Yours puts a projection after the mixed values; theirs does not.", mine.projected, (theirs.mix,)
    elif len(mine.projected) == len(theirs.projected) == 1:
        names = [graph.path(graph.nodes[core.projected[0]]) for graph, core in ((a, mine), (b, theirs))]
        if all(names) and names[0] != names[1] and {*names} <= origins.owners(b) and not _late(a, b, mine, theirs):
            text = f"Theirs projects the mixed values with {names[1]}, yours with {names[0]}."
            yield text, mine.projected, theirs.projected


def _late(a, b, mine, theirs):
    """A part that makes values on one side and is put after the mix on the other: weights @ x, and then v_proj."""
    if None in (mine.values, theirs.values):
        return False
    made = [graph.sources(core.values)[1] for graph, core in ((a, mine), (b, theirs))]
    names = [graph.path(graph.nodes[core.projected[0]]) for graph, core in ((a, mine), (b, theirs))]
    return names[0] in made[1] - made[0] or names[1] in made[0] - made[1]


def _pooled(a, b, mine, theirs):
    """A mean or a sum over scores or weights, where theirs has none and no softmax or norm is made by hand."""
    if mine.looped or theirs.looped or None in (mine.mix, theirs.mix):
        return
    if a.having("norm") or mine.shared_again or not a.is_sure("exp", "var", "sqrt"):
        return
    products = {node.id for node in a.having("product") if not a.is_learned(node.id)}
    steps = [n for n in a.above[mine.mix] if a.nodes[n].op in origins.REDUCTIONS and products & a.above[n]]
    due = [n for n in b.above[theirs.mix] if b.nodes[n].op in origins.REDUCTIONS]
    if steps and not due:
        word = origins.REDUCTIONS[a.nodes[steps[0]].op]
        what = "softmax weights" if mine.id in a.above[steps[0]] else "scores"
        yield f"Yours takes the {word} of {what}; theirs does not.", steps, (theirs.mix,)


def _unknown(a, b, theirs):
    """Does my side use none of the parameters of their projection?"""
    names = {b.owner(b.nodes[number]) for number in theirs.projected}
    used = {name.rpartition(".")[2] for name in origins.owners(a)}
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


def _axis(a, b, mine, theirs):
    if None in (mine.dim, theirs.dim) or mine.dim == theirs.dim or mine.shape != theirs.shape:
        return
    if mine.turned or theirs.turned:
        return
    other = "all axes" if mine.dim == "all" else f"axis {mine.dim}"
    yield f"Theirs applies softmax over axis {theirs.dim}, yours over {other}.", (mine.id,), (theirs.id,)


def _bent(a, b, mine, theirs):
    """A function that is applied to the softmax weights before they are used."""
    steps = _after(a, mine)
    if steps and not _after(b, theirs):
        yield f"Yours applies {a.nodes[steps[0]].op} to the softmax weights; theirs does not.", steps, (theirs.id,)


def _after(graph, core):
    """Steps right after the softmax that treat each weight by itself, and not as a mask or a scale does."""
    after = graph.ahead(core.id, {"layout", "scale", "mask"})
    return tuple(n for n in after if graph.nodes[n].does and graph.nodes[n].role in ("plain", "times"))


def _uprighted(a, b, mine, theirs):
    """keys @ queries.mT with softmax over axis -2: the same table of scores on its side, its names put right."""
    sides = [_ends(graph, core) for graph, core in ((a, mine), (b, theirs))]
    if None in sides or mine.dim == theirs.dim or sides[0] != sides[1][::-1] or sides[0] == sides[1]:
        return mine
    return replace(mine, turned=True, turned_after=False, queries=mine.keys, keys=mine.queries)


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
    sides = [(shape[0], shape[-1]) for shape in (mine.shape, theirs.shape)]
    if sides[0] == sides[1][::-1] and count != due and len(mine.shape) == len(theirs.shape) > 2:
        text = f"Theirs compares each token with the {due} tokens of its sample, yours with the {count} samples."
        yield text, (mine.product,), (theirs.product,)
        return
    if count != due and type(count) is type(due) is int and count % due == 0:
        text = f"Theirs compares each query with {due} keys, yours with {count}."
        yield text, (mine.product,), (theirs.product,)


def reads_other(a, b, mine, theirs):
    """Does my first attention read what their second one reads?"""
    first, second = theirs[0][0], theirs[1][0]
    if None in (mine.keys, first.keys, second.keys) or not origins.comparable(a, b):
        return False
    ours, one, other = a.sources(mine.keys)[0], b.sources(first.keys)[0], b.sources(second.keys)[0]
    return ours != one and ours == other
