"""Walks a graph: finds the ancestors of a result, and paths through steps that only pass a value on."""

from collections.abc import Collection

from autograder.graph.model import Edge, Edges, Node, Nodes
from autograder.graph.operations import SUMS

_PASSED_ON = {"dropout", "nan_to_num"}
_MORE_THAN_ARITHMETIC = {"product", "softmax", "norm", "activation", ""}  # roles


class Walk:
    """A graph with look-up by node id: `into` and `out` hold the edges into and out of each node, and `above`
    holds, for each node, the ids of all nodes that it is computed from.
    """

    def __init__(self, nodes: Nodes, edges: Edges):
        self.nodes = {node.id: node for node in nodes}
        self.into: dict[int, list[Edge]] = {node.id: [] for node in nodes}
        self.out: dict[int, list[Edge]] = {node.id: [] for node in nodes}
        for edge in edges:
            self.into[edge.target].append(edge)
            self.out[edge.source].append(edge)
        self.above: dict[int, set[int]] = {}
        for node in nodes:
            found = {edge.source for edge in self.into[node.id]}
            self.above[node.id] = found.union(*(self.above.get(source, set()) for source in found))

    def data_inputs(self, number: int) -> list[int]:
        """Return the node's inputs that are not masks, parameters or constants, in the order of the node's
        arguments.
        """
        edges = [edge for edge in self.into[number] if not edge.is_auxiliary]
        return [edge.source for edge in sorted(edges, key=lambda edge: min(edge.places, default="9"))]

    def main(self, number: int) -> int | None:
        """Return the node's first data input, or None."""
        return next(iter(self.data_inputs(number)), None)

    def _passes(self, number: int, through: Collection[str]) -> bool:
        return self.nodes[number].role in through or self.nodes[number].op in _PASSED_ON

    def back(
        self, number: int | None, through: Collection[str], passed: list[Node] | None = None
    ) -> int | None:
        """Go back along main inputs, starting at `number`, and return the first node that is not passed
        through, or None.

        A node is passed through if its role is in `through`, or if it is a dropout or nan_to_num. The nodes
        that are passed through are appended to `passed`.
        """
        while number is not None and self._passes(number, through):
            if passed is not None:
                passed.append(self.nodes[number])
            number = self.main(number)
        return number

    def ahead(self, number: int, through: Collection[str]) -> tuple[list[int], list[Node]]:
        """Return the first nodes after this one that are not passed through (see `back`), and the nodes
        passed through on the way.
        """
        found, waiting = {}, [edge.target for edge in self.out[number]]
        for target in waiting:
            if target not in found:
                found[target] = self._passes(target, through)
                waiting += [edge.target for edge in self.out[target]] if found[target] else []
        passed = [self.nodes[target] for target, passes in found.items() if passes]
        return [target for target, passes in found.items() if not passes], passed

    def outputs(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.kind == "output" and self.into[node.id]]

    def inputs(self, number: int) -> set[str]:
        """Return the names of the inputs that a result is computed from, except inputs used as masks."""
        reached = [self.nodes[other] for other in {number} | self.above[number]]
        data = [node for node in reached if not any(edge.is_auxiliary for edge in self.out[node.id])]
        return {node.label for node in data if node.kind == "input"}

    def of_parameters(self, number: int) -> bool:
        """Return whether the node is a parameter, or is computed from at least one parameter and from no
        input.
        """
        kinds = {self.nodes[other].kind for other in self.above[number] | {number}}
        return "parameter" in kinds and "input" not in kinds

    def is_learned(self, number: int) -> bool:
        """Return whether the node is a product with a parameter or with a tensor made from parameters. The
        parameter may have a node of its own or be named in this node's label.
        """
        node = self.nodes[number]
        beside = any(self.of_parameters(edge.source) for edge in self.into[number])
        return node.role == "product" and (beside or ": " in node.label)

    def is_product(self, number: int) -> bool:
        """Return whether the node is a product of two results, including a product written by hand as a sum
        of elementwise products.
        """
        node, edges = self.nodes[number], self.into[number]
        if node.op == "sum" or (node.op == "add" and node.times > 1):
            ends = [self.back(edge.source, {"layout"}) for edge in edges]
            return any(end is not None and self.nodes[end].role == "times" for end in ends)
        return node.role == "product" and sum(len(edge.places) for edge in edges if not edge.is_auxiliary) > 1

    def softmax_of(self, number: int) -> tuple[int | None, int | None] | None:
        """Return (input, axis) of a softmax, including one written by hand as exp(x) / sum(exp(x)); None for
        any other node.
        """
        node = self.nodes[number]
        if node.op == "softmax":
            return self.main(number), node.dim
        sides = self.data_inputs(number)
        if node.op != "div" or node.role != "plain" or len(sides) != 2:
            return None
        ends = [self.back(side, {"layout", "mask"}) for side in sides]
        top, total = (None if end is None else self.nodes[end] for end in ends)
        if top is None or top.op != "exp" or total is None or top.id not in self.above[total.id]:
            return None
        return (self.main(top.id), total.dim) if total.op in ("sum", "add", "cumsum") else None

    def is_silu(self, number: int) -> bool:
        """Return whether the node is the sigmoid in x * sigmoid(x), which is silu written by hand."""
        users = [edge.target for edge in self.out[number]]
        if self.nodes[number].op != "sigmoid" or len(users) != 1 or self.nodes[users[0]].role != "times":
            return False
        return set(self.data_inputs(users[0])) == {number, self.main(number)}

    def kept_by_sum(self, number: int) -> int | None:
        """Return the skip connection of a sum: the operand from which the other one was computed by more than
        arithmetic; None if there is none.

        In x + norm(x) the skip connection is x, even if the norm is written as x / sqrt(mean(x * x));
        x + 0.04 * x**3 has none.
        """
        sides = self.data_inputs(number) if self.nodes[number].role == "add" else []
        for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
            start = self.back(side, {"layout", "scale"})
            between = [self.nodes[n] for n in self.above[other] | {other} if start in self.above[n]]
            if any(node.role in _MORE_THAN_ARITHMETIC or node.op in SUMS for node in between):
                return side
        return None
