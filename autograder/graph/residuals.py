"""What a layer is made of: sums that add an input back, norms and activations, and where they stand.

Everything here says None or nothing where it is not sure.
"""

from autograder.graph.curves import OWN
from autograder.graph.meaning import total_scale


def residuals(graph):
    """Sums in which one side was computed from the other by more than arithmetic."""
    return [node.id for node in sums(graph) if kept(graph, node.id) is not None]


def sums(graph):
    """Where two results are added, also as the sum of a stack of both."""
    return [node for node in graph.nodes.values() if node.role == "add" or _adds_stacked(graph, node.id)]


def _adds_stacked(graph, number):
    stack = graph.nodes.get(graph.main(number))
    return graph.nodes[number].op == "sum" and stack is not None and stack.op == "stack"


def added(graph, number):
    """What such a sum adds."""
    return graph.loud(graph.main(number) if _adds_stacked(graph, number) else number)


def kept(graph, number):
    """Which side of a sum is what the other side was computed from."""
    sides = added(graph, number)
    if len(sides) != 2:
        return None
    for side, other in (sides, sides[::-1]):
        start = graph.back(_without_mean(graph, side), {"layout", "scale"})
        if start is not None and start in graph.above[other] and _works_between(graph, start, other):
            return side
    return None


def weights(graph, number):
    """What a residual multiplies by: the input that it adds back, and what it adds to it. None where it is unclear."""
    side = kept(graph, number)
    other = next((end for end in added(graph, number) if end != side), None)
    return scale_before(graph, side), scale_before(graph, other)


def adds_norm_alone(graph, number):
    """Is what it adds to the input a norm of it and nothing more?"""
    side = kept(graph, number)
    other = next((end for end in added(graph, number) if end != side), None)
    end = graph.back(other, {"layout", "scale"})
    return end is not None and graph.nodes[end].role == "norm" and graph.main(end) == graph.back(side, {"layout"})


def scale_before(graph, number):
    """The numbers by which a result was multiplied last."""
    passed = []
    graph.back(number, {"layout", "scale"}, passed)
    return total_scale(passed)


def scale_of_result(graph):
    """By what the last sum is multiplied before it comes out; 1 where no sum comes last."""
    passed, ends = [], graph.outputs()
    end = graph.back(graph.main(ends[0].id), {"layout", "scale"}, passed) if len(ends) == 1 else None
    return total_scale(passed) if end in residuals(graph) else 1.0


def _without_mean(graph, number):
    node = graph.nodes[number]
    return graph.main(number) if node.op == "mean" and len(graph.into[number]) == 1 else number


def _works_between(graph, start, end):
    """Is there a product, a softmax, a norm or an activation on the way?"""
    between = {n for n in graph.above[end] | {end} if start in graph.above[n]}
    return any(graph.nodes[n].role in ("product", "softmax", "norm", "activation") for n in between)


def adds_back_norm(graph, number):
    """Is what this residual adds back the result of a norm that only its other side uses as well?"""
    start = graph.back(kept(graph, number), {"layout"})
    return start is not None and graph.nodes[start].role == "norm"


def sums_before_residuals(graph):
    """For each residual: how many of the others come before what it adds back."""
    numbers = residuals(graph)
    before = [{kept(graph, number)} | graph.above[kept(graph, number)] for number in numbers]
    return [len(found & set(numbers) - {number}) for number, found in zip(numbers, before)]


def beside_attention(graph):
    """Sums of which one side has been through a softmax and the other is a learned product that has not."""
    soft = {node.id for node in graph.having("softmax")}
    found = []
    for node in sums(graph):
        sides = added(graph, node.id)
        if len(sides) != 2 or kept(graph, node.id) is not None:
            continue
        ends = [graph.back(side, {"layout", "scale", "bias"}) for side in sides]
        seen = [end is not None and bool(soft & (graph.above[end] | {end})) for end in ends]
        other = ends[seen.index(False)] if sum(seen) == 1 else None
        if other is not None and graph.is_learned(other):
            found.append(node.id)
    return found


def norms(graph):
    return graph.having("norm")


def norms_after_sum(graph):
    """For each norm in order: is it put on a sum that goes nowhere else?"""
    ends, found = set(residuals(graph)), []
    for norm in norms(graph):
        source = graph.back(graph.main(norm.id), {"layout"})
        found.append(source in ends and graph.ahead(source, {"layout"}) == [norm.id])
    return found


def norms_on_branch(graph):
    """Norms of which the result is only added to what their input was computed from."""
    found, ends = [], set(residuals(graph))
    for norm in norms(graph):
        after = graph.ahead(norm.id, {"layout"})
        if len(after) == 1 and after[0] in ends and graph.back(kept(graph, after[0]), {"layout"}) != norm.id:
            found.append(norm.id)
    return found


def activations(graph):
    """(node, followed by a learned product) of each, also of those that are written out by hand."""
    made = [node for node in graph.nodes.values() if _is_made(graph, node)]
    parts = {number for node in made for number in _formula(graph, node.id)}
    found = []
    for node in graph.nodes.values():
        if node in made or (node.role == "activation" and node.id not in parts):
            after = graph.ahead(node.id, {"layout", "bias"})
            found.append((node, any(graph.is_learned(number) for number in after)))
    return found


def activation_name(node):
    """What it is called in a sentence."""
    if node.role == "activation" and node.does in ("", OWN, node.op):
        return f"{node.op} ({node.detail})" if node.detail else node.op
    return {OWN: "a function of its own", "gelu_tanh": "gelu (tanh form)"}.get(node.does, node.does)


def _is_made(graph, node):
    """The last step of a formula that is an activation; without a name, where an activation is due."""
    if not node.does or node.role == "activation" or any(graph.nodes[e.target].does for e in graph.out[node.id]):
        return False
    formula = _formula(graph, node.id)
    if node.does != OWN:
        return True
    starts = {edge.source for number in formula | {node.id} for edge in graph.into[number]} - formula
    named = any(graph.nodes[number].role == "activation" for number in formula)
    after = graph.ahead(node.id, {"layout"})
    return not named and all(map(graph.is_learned, [*starts, *after])) and bool(after)


def _formula(graph, number):
    """The steps before this one that treat every number by itself."""
    found, waiting = set(), [number]
    while waiting:
        for edge in graph.into[waiting.pop()]:
            node = graph.nodes[edge.source]
            if edge.source not in found and (node.does or node.role in ("scale", "plain")):
                found.add(edge.source)
                waiting.append(edge.source)
    return found


def gates(graph):
    """Activated results that are multiplied by another learned result, entry by entry."""
    found = []
    for node in graph.having("times"):
        ends = [graph.back(side, {"layout", "scale"}) for side in graph.loud(node.id)]
        if None in ends:
            continue
        activated = any(graph.nodes[end].role == "activation" for end in ends)
        if len(ends) == 2 and not node.does and activated and any(graph.is_learned(end) for end in ends):
            found.append(node.id)
    return found
