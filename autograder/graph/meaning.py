"""A graph that can be walked: ways through it, its products, and where things come from.

Everything here says None, "" or nothing where it is not sure.
"""

import math

_PASSED_ON = {"dropout", "nan_to_num"}
# A softmax can be written with one of each.
_POWERS = {"exp", "exp2", "expm1", "pow", "rpow", "logsumexp", "log_softmax"}
_SHARES = {"normalize", "reciprocal", "log", "logsumexp", "log_softmax", "rpow", "solve", "softplus"}


class Meaning:
    """A graph that can be walked."""

    def __init__(self, nodes, edges):
        self.nodes = {node.id: node for node in nodes}
        self.into = {node.id: [] for node in nodes}
        self.out = {node.id: [] for node in nodes}
        for edge in edges:
            self.into[edge.target].append(edge)
            self.out[edge.source].append(edge)
        self.above = {}
        for node in nodes:
            found = {edge.source for edge in self.into[node.id]}
            self.above[node.id] = found.union(*(self.above.get(source, set()) for source in found))
        self.cut = any(node.kind == "note" for node in nodes)

    def having(self, role):
        return [node for node in self.nodes.values() if node.role == role]

    def is_sure(self, *plain):
        """No operation among these, out of which a norm or an activation could be made by hand."""
        return not any(node.op in plain for node in self.nodes.values())

    def may_hide_softmax(self):
        """Could a softmax by hand be in here, in a form that is not read?"""
        ops = {node.op for node in self.nodes.values() if node.role != "scale"}
        divides = any(node.op == "div" and node.role == "plain" for node in self.nodes.values())
        return bool(ops & _POWERS) and (divides or bool(ops & _SHARES))

    # Walking

    def main(self, number):
        """The source of the first argument that is no mask, parameter or constant."""
        loud = [edge for edge in self.into[number] if not edge.quiet]
        loud.sort(key=lambda edge: min(edge.places, default="9"))
        return loud[0].source if loud else None

    def loud(self, number):
        return [edge.source for edge in self.into[number] if not edge.quiet]

    def passes(self, number, through):
        node = self.nodes[number]
        return node.role in through or node.op in _PASSED_ON

    def back(self, number, through, on_the_way=None):
        """From a node backwards through steps that pass their value on; collects them."""
        while number is not None and self.passes(number, through):
            if on_the_way is not None:
                on_the_way.append(self.nodes[number])
            number = self.main(number)
        return number

    def ahead(self, number, through, on_the_way=None):
        """The first nodes after this one that do more than pass the value on."""
        found, waiting, seen = [], [edge.target for edge in self.out[number]], set()
        while waiting:
            target = waiting.pop(0)
            if target in seen:
                continue
            seen.add(target)
            if self.passes(target, through):
                waiting += [edge.target for edge in self.out[target]]
                if on_the_way is not None:
                    on_the_way.append(self.nodes[target])
            else:
                found.append(target)
        return found

    # Products

    def is_learned(self, number):
        """A product with a parameter (written on the box, or beside it)."""
        node = self.nodes[number]
        beside = any(self.nodes[edge.source].kind == "parameter" for edge in self.into[number])
        return node.role == "product" and (beside or ": " in node.label or node.op in ("linear", "addmm"))

    def is_product(self, number):
        """A matrix product, or one by hand: entries multiplied and summed."""
        node = self.nodes[number]
        if node.role == "product":
            return True
        if node.op in ("sum", "add"):
            sources = [self.back(edge.source, {"layout"}) for edge in self.into[number]]
            return any(source is not None and self.nodes[source].role == "times" for source in sources)
        return False

    def learned(self):
        return [node for node in self.nodes.values() if self.is_learned(node.id)]

    def sources(self, number):
        """(inputs, owners of parameters) by name that a result comes from; masks are left out."""
        inputs, parameters = set(), set()
        for other in {number} | self.above[number]:
            node = self.nodes[other]
            if node.kind == "input" and not any(edge.quiet for edge in self.out[other]):
                inputs.add(node.label)
            elif node.kind == "parameter":
                parameters.add(node.label.removesuffix(".weight").removesuffix(".bias"))
            elif self.owner(node) and self.is_learned(other):
                parameters.add(self.path(node))
        return frozenset(inputs), frozenset(parameters)

    def path(self, node):
        """The full name of the part whose parameters a step uses, "" where it is unclear."""
        owner, box = self.owner(node), node.box
        if ": " not in node.label or not box:
            return owner
        return box if box == owner or box.endswith("." + owner) else f"{box}.{owner}"

    def owner(self, node):
        """The part whose parameters a step uses, "" where it is unclear."""
        if ": " in node.label:
            return node.label.split(": ")[0]
        beside = [self.nodes[edge.source] for edge in self.into[node.id]]
        names = {n.label.rpartition(".")[0] for n in beside if n.kind == "parameter"}
        return names.pop() if len(names) == 1 else ""

    def unused(self):
        return {n.label for n in self.nodes.values() if n.kind == "input" and n.state == "unused"}

    def outputs(self):
        return [node for node in self.nodes.values() if node.kind == "output" and self.into[node.id]]


def total_scale(passed):
    """What the steps on a way multiply by together; None where one of them is unclear."""
    numbers = [node.number for node in passed if node.role == "scale"]
    return None if None in numbers else math.prod(numbers)
