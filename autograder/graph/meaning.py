"""Reads attention, norms, activations and residuals out of a graph: what `compare` compares.

Everything here says None or nothing where it is not sure.
"""

from dataclasses import dataclass

_PASSING = {"layout", "scale", "mask", "bias"}
_UNCLEAR = {"plain", "times", "norm", "activation", "softmax"}
# A piece of a tensor is not the whole: behind these it is unknown which piece went where.
_PIECES = {"getitem", "chunk", "split", "unbind", "narrow", "select", "tensor_split", "split_with_sizes"}


@dataclass
class Core:
    """One attention: the softmax and what stands around it."""

    id: int
    factor: float | None = None        # what the scores are multiplied by in all; None = unknown
    scores: bool = False               # a product of two results goes in
    masked: bool | None = None
    scaled_after: bool = False
    masked_after: bool = False
    mixes: bool = False                # a product follows
    projected: bool = False            # and a learned product after that
    dim: int | None = None
    shape: tuple | None = None
    same_source: bool | None = None    # the values are the keys
    looped: bool = False


class Meaning:
    """A graph with its mathematics found."""

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
        self.softmaxes = [node.id for node in nodes if self._softmax_input(node.id) is not None]

    def levels(self):
        """The attentions, those that run side by side together: one list for each that follows another."""
        found = {}
        for softmax in self.softmaxes:
            depth = sum(1 for level in found for other in found[level][:1] if other in self.above[softmax])
            found.setdefault(depth, []).append(softmax)
        levels = [[self._core(softmax) for softmax in found[depth]] for depth in sorted(found)]
        for level in levels:
            for core in level:
                core.looped |= len(level) > 1
        return levels

    def having(self, role):
        return [node for node in self.nodes.values() if node.role == role]

    def residuals(self):
        """Sums in which one side was computed from the other."""
        return [node.id for node in self.having("add") if self._adds_back(node.id)]

    def _adds_back(self, number):
        loud = [edge.source for edge in self.into[number] if not edge.quiet]
        return len(loud) == 2 and (loud[0] in self.above[loud[1]] or loud[1] in self.above[loud[0]])

    def adds_back_norm(self, number):
        """Is what this residual adds back the result of a norm?"""
        loud = [edge.source for edge in self.into[number] if not edge.quiet]
        kept = loud[0] if loud[0] in self.above[loud[1]] else loud[1]
        kept = self.back(kept, {"layout"}, ())
        return kept is not None and self.nodes[kept].role == "norm"

    def norms_after_sum(self):
        """For each norm in order: is it put on a sum that goes nowhere else?"""
        sums, found = set(self.residuals()), []
        for norm in self.having("norm"):
            source = self.back(self._main(norm.id), {"layout"}, ())
            found.append(source in sums and len(self.out[source]) == 1)
        return found

    def activations(self):
        """(name, followed by a learned product) of each."""
        found = []
        for node in self.having("activation"):
            after = self.ahead(node.id, {"layout", "bias"})
            found.append((node.op, any(self.is_learned(number) for number in after)))
        return found

    def is_learned(self, number):
        """A product with a parameter (written on the box, or beside it)."""
        node = self.nodes[number]
        beside = any(self.nodes[edge.source].kind == "parameter" for edge in self.into[number])
        return node.role == "product" and (beside or node.op in ("linear", "addmm"))

    def is_sure(self, *plain):
        """No operation among these, out of which a norm or an activation could be made by hand."""
        return not any(node.op in plain for node in self.nodes.values())

    def _main(self, number):
        """The source of the first argument that is no mask, parameter or constant."""
        loud = [edge for edge in self.into[number] if not edge.quiet]
        loud.sort(key=lambda edge: min(edge.places, default="9"))
        return loud[0].source if loud else None

    def back(self, number, through, on_the_way):
        """From a node backwards through steps that pass their value on; collects them."""
        while number is not None and self._passes(number, through):
            if isinstance(on_the_way, list):
                on_the_way.append(self.nodes[number])
            number = self._main(number)
        return number

    def _passes(self, number, through):
        node = self.nodes[number]
        return node.role in through or node.op in ("dropout", "nan_to_num")

    def ahead(self, number, through, on_the_way=None):
        """The first nodes after this one that do more than pass the value on."""
        found, waiting, seen = [], [edge.target for edge in self.out[number]], set()
        while waiting:
            target = waiting.pop(0)
            if target in seen:
                continue
            seen.add(target)
            if self._passes(target, through):
                waiting += [edge.target for edge in self.out[target]]
                if on_the_way is not None:
                    on_the_way.append(self.nodes[target])
            else:
                found.append(target)
        return found

    def _softmax_input(self, number):
        """What goes into a softmax, also one by hand: exp(x) / sum(exp(x)), with or without the maximum."""
        node = self.nodes[number]
        if node.role == "softmax" and node.op == "softmax":
            return self._main(number)
        if node.op != "div" or node.role != "plain" or len(self.into[number]) != 2:
            return None
        ends = [self.back(edge.source, {"layout", "mask"}, ()) for edge in self.into[number]]
        for top, bottom in (ends, ends[::-1]):
            if top is None or bottom is None or self.nodes[top].op != "exp":
                continue
            if self.nodes[bottom].op not in ("sum", "add", "cumsum") or top not in self.above[bottom]:
                continue
            return self._without_maximum(self._main(top))
        return None

    def _without_maximum(self, number):
        node = self.nodes.get(number)
        if node is None or node.op != "sub":
            return number
        sources = [edge.source for edge in self.into[number] if "0" in edge.places]
        return sources[0] if sources else number

    def _core(self, number):
        node = self.nodes[number]
        core = Core(number, dim=node.dim, shape=node.shape, looped=node.times > 1)
        passed = []
        product = self.back(self._softmax_input(number), _PASSING, passed)
        core.scores = product is not None and self._is_product(product) and not self.is_learned(product)
        core.factor = self._factor(product, passed) if core.scores else None
        before = [self.above[other] for other in self.softmaxes if other in self.above[number]]
        earlier = set().union(*before)
        core.masked = any(mask.id in self.above[number] - earlier for mask in self.having("mask"))
        self._after(core)
        core.same_source = self._same_source(product, core)
        return core

    def _is_product(self, number):
        """A matrix product, or one by hand: entries multiplied and summed."""
        node = self.nodes[number]
        if node.role == "product":
            return True
        if node.op in ("sum", "add"):
            sources = [self.back(edge.source, {"layout"}, ()) for edge in self.into[number]]
            return any(source is not None and self.nodes[source].role == "times" for source in sources)
        return False

    def _factor(self, product, passed):
        """The product of the numbers that scores, queries and keys are multiplied by."""
        total = 1.0
        for edge in self.into[product]:
            end = self.back(edge.source, {"layout", "scale"}, passed)
            if end is not None and self.nodes[end].role in _UNCLEAR:
                return None
        for item in passed:
            if item.role == "scale":
                if item.number is None:
                    return None
                total *= item.number
        return total

    def _after(self, core):
        """What happens to the weights, and to what was mixed."""
        passed = []
        after = self.ahead(core.id, {"layout", "scale", "mask"}, passed)
        core.scaled_after = any(item.role == "scale" for item in passed)
        core.masked_after = any(item.role == "mask" for item in passed)
        mixes = [number for number in after if self.nodes[number].role in ("product", "times")]
        core.mixes = bool(mixes)
        for mix in mixes:
            core.projected |= any(self.is_learned(number) for number in self.ahead(mix, {"layout", "bias"}))

    def _same_source(self, product, core):
        """Are the values the keys? None where it cannot be told."""
        if not core.scores:
            return None
        keys = self._origin(product, last=True)
        mixes = [n for n in self.ahead(core.id, {"layout"}) if self.nodes[n].role == "product"]
        values = [self._origin(mix, last=True) for mix in mixes[:1]]
        if keys is None or not values or values[0] is None:
            return None
        return keys == values[0]

    def _origin(self, product, last):
        if self.nodes[product].op not in ("matmul", "bmm"):
            return None
        edges = [edge for edge in self.into[product] if "1" in edge.places]
        passed = []
        end = self.back(edges[0].source, {"layout", "scale"}, passed) if edges else None
        pieces = any(item.op in _PIECES for item in passed)
        return None if pieces else end
