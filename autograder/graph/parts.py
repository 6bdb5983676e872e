"""What differs in the learned parts, where both sides give them the same names, in sentences (see differences.py)."""

import re

from autograder.graph.attention import levels
from autograder.graph.origins import owners
from autograder.graph.sublayers import ids, listed, spoken_count

_RANDOM = {"rand", "randn", "rand_like", "randn_like", "normal"}


def _uses(graph):
    """Name of a part -> the learned products that use it."""
    found = {}
    for node in graph.learned():
        found.setdefault(graph.path(node), []).append(node)
    return found


def _same_names(a, b):
    """(uses of mine, uses of theirs) where every learned product has a name and theirs knows all of mine."""
    mine, theirs = _uses(a), _uses(b)
    return (mine, theirs) if "" not in mine.keys() | theirs.keys() and mine.keys() <= theirs.keys() else ({}, {})


def _in_a_row(a, b):
    """A part that is applied to its own result, or to what was made of it."""
    mine, theirs = _same_names(a, b)
    for name, steps in mine.items():
        counts = _longest(a, steps), _longest(b, theirs[name])
        if counts[0] != counts[1]:
            said = [spoken_count(count) for count in counts]
            text = f"Theirs applies {name} {said[1]} on the way, yours {said[0]}."
            yield text, ids(steps), ids(theirs[name])


def _longest(graph, steps):
    """How many of these steps follow each other at most."""
    count = {}
    for node in steps:
        count[node.id] = 1 + max((count[n] for n in count if n in graph.above[node.id]), default=0)
    return max(count.values())


def _sideways(a, b):
    """A weight that lies on its side: the same part sums over the other axis of it."""
    mine, theirs = _same_names(a, b)
    for name, steps in mine.items():
        sides = [{node.side for node in part} for part in (steps, theirs[name])]
        if {*sides[0], *sides[1]} == {"0", "1"} and len(sides[0]) == len(sides[1]) == 1:
            yield f"Yours uses the weight of {name} on its side; theirs does not.", ids(steps), ids(theirs[name])


def _biases(a, b):
    """Parts of which one side adds the bias and the other does not."""
    mine, theirs = _same_names(a, b)
    names = {True: [], False: []}
    for name in [name for name in mine if name not in _of_keys(b)]:
        added = [_adds_bias(graph, name, part) for graph, part in ((a, mine[name]), (b, theirs[name]))]
        if added[0] != added[1]:
            names[added[1]].append(name)
    for due, who, other in ((True, "Theirs adds", "yours"), (False, "Yours adds", "theirs")):
        if names[due]:
            steps = [ids(node for name in names[due] for node in part[name]) for part in (mine, theirs)]
            word = "biases" if len(names[due]) > 1 else "bias"
            yield f"{who} the {word} of {listed(names[due])}; {other} does not.", *steps


def _of_keys(graph):
    """The parts that make keys: their bias adds the same to each score of a query, and softmax takes it away again."""
    keys = [core.keys for level in levels(graph) for core in level if core.keys is not None]
    ends = [graph.back(number, {"layout", "scale", "bias"}) for number in keys]
    return {graph.path(graph.nodes[end]) for end in ends if end is not None}


def _adds_bias(graph, name, steps):
    label = name + ".bias"
    beside = any(node.kind == "parameter" and node.label == label for node in graph.nodes.values())
    named = any(graph.path(node) == name and "bias" in _parameters(node) for node in graph.nodes.values())
    return beside or named or any("bias" in _parameters(node) for node in steps)


def _parameters(node):
    """Names of the parameters that are written on a box: "weight (8, 8), bias (8,)"."""
    return re.findall(r"(\w+) \(", node.detail)


def _no_parameters(a, b):
    """Numbers in products that belong to no part: made anew, or kept where the model does not know them."""
    mine, theirs = (_products_with_strangers(graph) for graph in (a, b))
    if mine and not theirs and owners(a) - {"parameter"} < owners(b):
        text = "Yours multiplies by numbers that are no parameters of the model; theirs by its parameters."
        yield text, mine, ids(b.learned())


def _products_with_strangers(graph):
    strangers = {node.id for node in graph.nodes.values() if _is_stranger(graph, node)}
    return [node.id for node in graph.having("product") if any(e.source in strangers for e in graph.into[node.id])]


def _is_stranger(graph, node):
    """A parameter without a name, also one that is filled here, or a constant that is no mask."""
    if node.kind == "operation":
        sources = [graph.nodes[edge.source] for edge in graph.into[node.id]]
        return bool(sources) and all(source.kind == "parameter" and _is_stranger(graph, source) for source in sources)
    return node.label in ("parameter", "constant") or (node.kind == "constant" and node.label in _RANDOM)


def _unused(a, b):
    """Parts that one side leaves aside."""
    mine, theirs = _same_names(a, b)
    names = [name for name in theirs if name not in _mentioned(a)]
    if mine and names:
        yield f"Theirs uses {listed(names)}; yours does not.", (), ids(n for name in names for n in theirs[name])


def _mentioned(graph):
    """All parts of which anything is used in any way."""
    beside = {n.label.rpartition(".")[0] for n in graph.nodes.values() if n.kind == "parameter"}
    return beside | {graph.path(node) for node in graph.nodes.values()}


RULES = (_in_a_row, _sideways, _biases, _no_parameters)
LAST = (_unused,)
