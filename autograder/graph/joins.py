"""What differs where two masks are joined into one, in sentences (see differences.py)."""

from autograder.graph.model import shape_text

_JOINS = {"and", "or", "xor", "eq", "ne"}
_OTHER_WAYS = {"where", "masked_fill", "mul", "minimum", "maximum", "add", "lt", "gt", "le", "ge", "setitem"}


def differences(a, b):
    """(sentence, my steps, their steps); nothing where either side joins by more than one operation."""
    joins = [_join(graph) for graph in (a, b)]
    if None in joins:
        return
    mine, theirs = joins
    if mine.op != theirs.op:
        if not (_turned(a) or _turned(b)):
            yield f"Theirs joins the masks with {theirs.op}, yours with {mine.op}.", (mine.id,), (theirs.id,)
        return
    if len(_turned(a)) == 1 and not _turned(b):
        yield "Yours turns a mask round (not); theirs does not.", _turned(a), (theirs.id,)
        return
    yield from _axes(a, b, mine, theirs)


def _join(graph):
    """The one operation that joins two results, where there is no other way to join in the graph."""
    found = [n for n in graph.nodes.values() if n.op in _JOINS and len(graph.into[n.id]) == 2]
    others = [n for n in graph.nodes.values() if n.op in _OTHER_WAYS]
    return found[0] if len(found) == 1 and not others and found[0].times == 1 else None


def _turned(graph):
    return [node.id for node in graph.nodes.values() if node.op == "invert"]


def _axes(a, b, mine, theirs):
    """Each input comes in along the axes along which it does in theirs."""
    ways = [_ways(graph, join) for graph, join in ((a, mine), (b, theirs))]
    for name in ways[0].keys() & ways[1].keys():
        (shape, moved), (expected, reference) = ways[0][name], ways[1][name]
        if None in (shape, expected):
            continue
        pairs = list(zip(reversed(shape), reversed(expected)))
        lost = any(size == 1 and due != 1 for size, due in pairs)
        if lost and any(size != 1 and due == 1 for size, due in pairs):
            said = shape_text(expected), shape_text(shape)
            yield f"Theirs joins {name} as {said[0]}, yours as {said[1]}.", (mine.id,), (theirs.id,)
        elif _bare(shape) == _bare(expected) and moved.partition(":")[0] == reference.partition(":")[0] != "" and (
            moved != reference
        ):
            yield f"Yours puts the entries of {name} in other places than theirs.", (mine.id,), (theirs.id,)


def _bare(shape):
    """Without axes of size one in front."""
    sizes = list(shape)
    while sizes and sizes[0] == 1:
        sizes.pop(0)
    return sizes


def _ways(graph, join):
    """Input -> (the shape in which it comes in, how it was rearranged)."""
    found = {}
    for edge in graph.into[join.id]:
        end = graph.back(edge.source, {"layout"})
        while end is not None and graph.nodes[end].op == "invert":
            end = graph.main(end)
        end = edge.source if end is None else end
        inputs = [n for n in {end} | graph.above[end] if graph.nodes[n].kind == "input"]
        if len(inputs) == 1:
            found[graph.nodes[inputs[0]].label] = edge.shape, graph.nodes[edge.source].moved
    return found
