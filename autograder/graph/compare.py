"""compare(mine, theirs, *inputs): both computations side by side, and in words what differs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from autograder.faults import entry_point
from autograder.graph import differences
from autograder.graph.dot import dot_of_pair
from autograder.graph.drawing import Drawing, Shown, draw, must_be_callable
from autograder.graph.model import plain_text


class Comparison(Shown):
    """Two drawings and the sentences that tell them apart.

    `differences` is empty if the structures agree; if they could not be compared, it says so. Only differences that
    are certain and that matter are told: a reshape against a view, a loop against a matrix product, one packed
    projection against three, a fill against an added mask are none. In the picture, the steps that a sentence speaks of
    are marked.
    """

    def __init__(self, mine: Drawing, theirs: Drawing, sentences: list[str]):
        self.mine, self.theirs, self.differences = mine, theirs, sentences

    @property
    def dot(self) -> str:
        sides = ("yours", self.mine), ("theirs", self.theirs)
        titles = [
            who if side.title == "lambda" else f"{who}: {plain_text(side.title, 40)}" for who, side in sides
        ]
        graphs = [(title, side.nodes, side.edges) for title, (_, side) in zip(titles, sides)]
        return dot_of_pair(graphs, self._sentences())

    @property
    def alt(self) -> str:
        return f"{self.mine.title} beside {self.theirs.title}. " + " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        return self.differences or ["No difference in structure was found."]

    def __str__(self) -> str:
        return "\n".join([*self._sentences(), "", f"yours: {self.mine}", "", f"theirs: {self.theirs}"])


@entry_point("compare(mine, theirs, x)")
def compare(
    mine: Callable, theirs: Callable, *inputs: object, depth: int | None = None, **named: Any
) -> Comparison:
    """Draw both on the same inputs and says what differs in the mathematics.

    depth  how many levels of parts are opened in the picture, as in `draw`; what is compared is always all of it.
    `nn.MultiheadAttention` takes one input as queries, keys and values, two as queries and context.
    Raises `UserError` if there is nothing to call; a computation that fails is told as a difference.
    """
    for target in (mine, theirs):
        must_be_callable("compare", target, inputs, named, depth)
    one, other = (draw(_as_taken(target, len(inputs)), *inputs, **named) for target in (mine, theirs))
    return compared(one, other, depth)


def compared(mine: Drawing, theirs: Drawing, depth: int | None = None) -> Comparison:
    """Return the same for two drawings that are there already."""
    theirs = _with_my_names(mine, theirs)
    stopped = [(who, side.stopped) for who, side in (("Yours", mine), ("Theirs", theirs)) if side.stopped]
    # The first side that stopped is all there is to say.
    told = [differences.Difference(f"{who} could not be compared. {why}") for who, why in stopped[:1]]
    told = told or differences.found(mine.whole, theirs.whole)
    mine, theirs = (
        _marked(side, set().union(*ids), depth)
        for side, ids in ((mine, [item.mine for item in told]), (theirs, [item.theirs for item in told]))
    )
    return Comparison(mine, theirs, [item.text for item in told])


def _marked(side: Drawing, steps: set[int], depth: int | None) -> Drawing:
    nodes, edges = side.whole
    nodes = [replace(n, state="differs") if n.id in steps and not n.state else n for n in nodes]
    return Drawing(side.title, nodes, edges, side.stopped, depth)


def _with_my_names(mine: Drawing, theirs: Drawing) -> Drawing:
    """Return both get the same inputs in the same order, so each has one name on both sides: mine."""
    nodes, edges = theirs.whole
    names = [node.label for node in mine.whole[0] if node.kind == "input"]
    inputs = [node.id for node in nodes if node.kind == "input"]
    said = dict(zip(inputs, names)) if len(inputs) == len(names) else {}
    nodes = [replace(node, label=said.get(node.id, node.label)) for node in nodes]
    return Drawing(theirs.title, nodes, edges, theirs.stopped, theirs.depth)


def _as_taken(target: Callable, count: int) -> Callable:
    """`nn.MultiheadAttention` as the course calls a module: x, or x and context; its output alone."""
    own = getattr(type(target), "forward", None) is nn.MultiheadAttention.forward
    if not own or count not in (1, 2):
        return target

    def called(x: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
        context = x if context is None else context
        return target(x, context, context)[0]

    called.__qualname__ = "MultiheadAttention"
    return called
