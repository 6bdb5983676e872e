"""Finds a softmax, also one that is written out: exp(x) / sum(exp(x)), with or without a maximum taken off."""


def softmax_input(graph, number):
    """(what goes into a softmax, its axis), also one by hand: exp(x) / sum(exp(x)); None where it is none."""
    node = graph.nodes[number]
    if node.role == "softmax" and node.op == "softmax":
        return graph.main(number), node.dim
    if node.op != "div" or node.role != "plain" or len(graph.into[number]) != 2:
        return None
    ends = [graph.back(edge.source, {"layout", "mask"}) for edge in graph.into[number]]
    for top, bottom in (ends, ends[::-1]):
        if top is None or bottom is None or graph.nodes[top].op != "exp":
            continue
        bottom = _without_epsilon(graph, bottom)
        total = graph.nodes[bottom]
        if total.op in ("sum", "add", "cumsum") and top in graph.above[bottom]:
            dim = "all" if total.detail == "all" else total.dim
            return _without_maximum(graph, graph.main(top)), dim
    return None


def _without_epsilon(graph, number):
    node = graph.nodes[number]
    small = node.op in ("add", "clamp") and len(graph.into[number]) == 1 and node.times == 1
    return graph.back(graph.main(number), {"layout"}) if small else number


def _without_maximum(graph, number):
    node = graph.nodes.get(number)
    if node is None or node.op != "sub":
        return number
    sources = [edge.source for edge in graph.into[number] if "0" in edge.places]
    return sources[0] if sources else number
