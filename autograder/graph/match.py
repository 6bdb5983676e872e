"""Which step of one computation is which step of the other: what carries the same number in two pictures.

Steps of the same kind are lined up in the order in which they are due, as two texts are: as many as possible are
matched, none crosses another. What only arranges numbers is not counted.
"""

from dataclasses import replace

from autograder.graph.meaning import Meaning
from autograder.graph.softmaxes import softmax_input

_COUNTED = {"product", "scale", "mask", "softmax", "norm", "activation", "add"}
MOST = 150


def numbered(mine, theirs, told):
    """Both graphs with the numbers of their matching steps, and the steps marked that the sentences speak of."""
    graphs = [Meaning(*side) for side in (mine, theirs)]
    orders = [_order(graph) for graph in graphs]
    lined_up = [] if max(map(len, orders)) > MOST else _lined_up(*orders)
    pairs = [(one[-1], other[-1]) for one, other in lined_up]
    marks = [set(), set()]
    for item in told:
        for side, steps in enumerate((item.mine, item.theirs)):
            partner = {pair[side] for pair in pairs if item.counts and pair[1 - side] in (item.theirs, item.mine)[side]}
            marks[side] |= set(steps) - partner
    # Numbered in my order, as it is read.
    pairs = sorted((one, other) for one, other in pairs if one not in marks[0] and other not in marks[1])
    result = []
    for side, (nodes, edges) in enumerate((mine, theirs)):
        numbers = {pair[side]: number for number, pair in enumerate(pairs, 1)}
        result.append(([_marked(node, numbers, marks[side]) for node in nodes], edges))
    return result


def _marked(node, numbers, marks):
    state = "differs" if node.id in marks and not node.state else node.state
    return replace(node, badge=numbers.get(node.id, 0), state=state)


def _order(graph):
    """(how deep, kind, name, id) of the steps that count, in order."""
    depth, found = {}, []
    for number, node in graph.nodes.items():
        before = max((depth.get(edge.source, 0) for edge in graph.into[number]), default=0)
        kind = _kind(graph, node)
        depth[number] = before + bool(kind)
        if kind:
            found.append((depth[number], kind, node.label, number))
    return sorted(found, key=lambda item: (item[0], item[1], item[2], item[3]))


def _kind(graph, node):
    if node.kind != "operation":
        return ""
    if softmax_input(graph, node.id) is not None:
        return "softmax"
    if graph.is_product(node.id):
        return "learned product" if graph.is_learned(node.id) else "product"
    return node.role if node.role in _COUNTED else ""


def _lined_up(one, other):
    """The best alignment: two for the same kind, one more for the same name."""
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], _fits(one[i], other[j]) + best[i + 1][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        fit = _fits(one[i], other[j])
        if fit and best[i][j] == fit + best[i + 1][j + 1]:
            pairs.append((one[i], other[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _fits(one, other):
    return (2 + (one[2] == other[2])) if one[1] == other[1] else 0
