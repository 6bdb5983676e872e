"""x + (a + f) and (x + a) + f are one sum: brings sums into the form in which they are compared.

A sum of several terms that contains another sum of the graph is told by that sum: where x + a is there too,
x + a + f becomes (x + a) + f, in whatever order it was added up.
"""

from collections import Counter
from dataclasses import replace


def regrouped(nodes, edges):
    """The same graph with such sums."""
    into, uses = {}, Counter(edge.source for edge in edges)
    for edge in edges:
        into.setdefault(edge.target, []).append(edge)
    plain = {node.id for node in nodes if node.role == "add" and node.times == 1 and _adds_two(into.get(node.id, ()))}
    inner = {edge.source for edge in edges if edge.source in plain and edge.target in plain and uses[edge.source] == 1}

    def terms(number):
        found = []
        for edge in into[number]:
            found += terms(edge.source) if edge.source in inner else [edge.source] * len(edge.places)
        return found

    sums = {number: Counter(terms(number)) for number in plain - inner}
    for number in sorted(number for number, found in sums.items() if found.total() > 2):
        rest = {other: sums[number] - part for other, part in sums.items() if other < number and part < sums[number]}
        found = next(((other, *left) for other, left in rest.items() if left.total() == 1), None)
        if found:
            edges = _rewired(edges, into[number][0], number, found)
    return _without_idle(nodes, edges)


def _adds_two(edges):
    return sum(len(edge.places) for edge in edges) == 2 and not any(edge.quiet for edge in edges)


def _rewired(edges, pattern, number, sources):
    """The sum takes these two from now on."""
    new = [replace(pattern, source=source, places=(str(place),)) for place, source in enumerate(sources)]
    return [edge for edge in edges if edge.target != number] + new


def _without_idle(nodes, edges):
    """Leaves out inner sums that nothing takes any more."""
    while True:
        used = {edge.source for edge in edges}
        idle = {node.id for node in nodes if node.role == "add" and node.id not in used}
        if not idle:
            return nodes, edges
        nodes = [node for node in nodes if node.id not in idle]
        edges = [edge for edge in edges if edge.target not in idle]
