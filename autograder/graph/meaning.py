"""Ways through a graph, and what stands in it as mathematics: residuals, norms, activations, where things come from.

Everything here says None, "" or nothing where it is not sure.
"""

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
                owner, box = self.owner(node), node.box
                inside = not box or box == owner or box.endswith("." + owner)
                parameters.add((box or owner) if inside else f"{box}.{owner}")
        return frozenset(inputs), frozenset(parameters)

    def owner(self, node):
        """The part whose parameters a step uses, "" where it is unclear."""
        if ": " in node.label:
            return node.label.split(": ")[0]
        beside = [self.nodes[edge.source] for edge in self.into[node.id]]
        names = {n.label.rpartition(".")[0] for n in beside if n.kind == "parameter"}
        return names.pop() if len(names) == 1 else ""

    def unused(self):
        return {n.label for n in self.nodes.values() if n.kind == "input" and n.state == "unused"}

    # Residuals, norms, activations

    def residuals(self):
        """Sums in which one side was computed from the other by more than arithmetic."""
        return [node.id for node in self.sums() if self.kept(node.id) is not None]

    def sums(self):
        """Where two results are added, also as the sum of a stack of both."""
        return [node for node in self.nodes.values() if node.role == "add" or self._adds_stacked(node.id)]

    def _adds_stacked(self, number):
        stack = self.nodes.get(self.main(number))
        return self.nodes[number].op == "sum" and stack is not None and stack.op == "stack"

    def added(self, number):
        """What such a sum adds."""
        return self.loud(self.main(number) if self._adds_stacked(number) else number)

    def kept(self, number):
        """Which side of a sum is what the other side was computed from."""
        sides = self.added(number)
        if len(sides) != 2:
            return None
        for side, other in (sides, sides[::-1]):
            start = self.back(self._without_mean(side), {"layout", "scale"})
            if start is not None and start in self.above[other] and self._works_between(start, other):
                return side
        return None

    def weight_of_kept(self, number):
        """What a residual multiplies by as it adds back; None where it is unclear."""
        passed, total = [], 1.0
        self.back(self.kept(number), {"layout", "scale"}, passed)
        for item in passed:
            if item.role == "scale":
                if item.number is None:
                    return None
                total *= item.number
        return total

    def _without_mean(self, number):
        node = self.nodes[number]
        return self.main(number) if node.op == "mean" and len(self.into[number]) == 1 else number

    def _works_between(self, start, end):
        """Is there a product, a softmax, a norm or an activation on the way?"""
        between = {n for n in self.above[end] | {end} if start in self.above[n]}
        return any(self.nodes[n].role in ("product", "softmax", "norm", "activation") for n in between)

    def adds_back_norm(self, number):
        """Is what this residual adds back the result of a norm that only its other side uses as well?"""
        kept = self.back(self.kept(number), {"layout"})
        return kept is not None and self.nodes[kept].role == "norm"

    def sums_before_residuals(self):
        """For each residual: how many of the others come before what it adds back."""
        sums, found = self.residuals(), []
        for number in sums:
            kept = self.kept(number)
            found.append(sum(other == kept or other in self.above[kept] for other in sums if other != number))
        return found

    def beside_attention(self):
        """Sums of which one side has been through a softmax and the other is a learned product that has not."""
        soft = {node.id for node in self.having("softmax")}
        found = []
        for node in self.sums():
            sides = self.added(node.id)
            if len(sides) != 2 or self.kept(node.id) is not None:
                continue
            ends = [self.back(side, {"layout", "scale", "bias"}) for side in sides]
            seen = [end is not None and bool(soft & (self.above[end] | {end})) for end in ends]
            other = ends[seen.index(False)] if sum(seen) == 1 else None
            if other is not None and self.is_learned(other):
                found.append(node.id)
        return found

    def norms(self):
        return self.having("norm")

    def norms_after_sum(self):
        """For each norm in order: is it put on a sum that goes nowhere else?"""
        sums, found = set(self.residuals()), []
        for norm in self.norms():
            source = self.back(self.main(norm.id), {"layout"})
            found.append(source in sums and self.ahead(source, {"layout"}) == [norm.id])
        return found

    def norms_on_branch(self):
        """Norms of which the result is only added to what their input was computed from."""
        found, residuals = [], self.residuals()
        for norm in self.norms():
            after = self.ahead(norm.id, {"layout"})
            sums = [number for number in after if number in residuals]
            kept = [self.back(self.kept(n), {"layout"}) for n in sums]
            if len(after) == len(sums) == 1 and kept[0] != norm.id:
                found.append(norm.id)
        return found

    def activations(self):
        """(node, followed by a learned product) of each."""
        found = []
        for node in self.having("activation"):
            after = self.ahead(node.id, {"layout", "bias"})
            found.append((node, any(self.is_learned(number) for number in after)))
        return found

    def outputs(self):
        return [node for node in self.nodes.values() if node.kind == "output" and self.into[node.id]]
