"""compare(mine, theirs, *inputs): draws both computations side by side and says how they differ."""

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
    """Two drawings, and sentences on how they differ.

    `differences` holds the sentences. It is empty if the structures agree; if they could not be compared, its
    only sentence says so. Only differences that are certain and that matter are reported. For example, a
    reshape in place of a view, a loop in place of a matrix product, one packed projection in place of three,
    or a fill in place of an added mask is not reported. The steps that a sentence is about are marked in the
    picture.
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
    """Draw both computations on the same inputs and describe how they differ mathematically.

    depth  how many levels of parts are opened in the picture, as in `draw`; the comparison always covers
           everything.

    With one input, `nn.MultiheadAttention` uses it as queries, keys and values; with two, the first gives the
    queries and the second, the context, gives the keys and values.

    Raises `UserError` if an argument cannot be drawn, for example a class. A computation that fails is
    reported as a difference.
    """
    for target in (mine, theirs):
        must_be_callable("compare", target, inputs, named, depth)
    one, other = (draw(_as_taken(target, len(inputs)), *inputs, **named) for target in (mine, theirs))
    return compared(one, other, depth)


def compared(mine: Drawing, theirs: Drawing, depth: int | None = None) -> Comparison:
    """Compare two existing drawings in the same way as `compare`."""
    theirs = _with_my_names(mine, theirs)
    stopped = [(who, side.stopped) for who, side in (("Yours", mine), ("Theirs", theirs)) if side.stopped]
    # If a side stopped, report only that; if both did, report only mine.
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
    """Return `theirs` with its inputs named as in `mine`, because both take the same inputs in the same
    order. If the numbers of inputs differ, the names stay as they are.
    """
    nodes, edges = theirs.whole
    names = [node.label for node in mine.whole[0] if node.kind == "input"]
    inputs = [node.id for node in nodes if node.kind == "input"]
    said = dict(zip(inputs, names)) if len(inputs) == len(names) else {}
    nodes = [replace(node, label=said.get(node.id, node.label)) for node in nodes]
    return Drawing(theirs.title, nodes, edges, theirs.stopped, theirs.depth)


def _as_taken(target: Callable, count: int) -> Callable:
    """Wrap `nn.MultiheadAttention` so that it takes x, or x and a context, and returns only its output, like
    the modules of the course. Return the target unchanged if it is anything else, or if `count`, the number
    of inputs, is not 1 or 2.
    """
    own = getattr(type(target), "forward", None) is nn.MultiheadAttention.forward
    if not own or count not in (1, 2):
        return target

    def called(x: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
        context = x if context is None else context
        return target(x, context, context)[0]

    called.__qualname__ = "MultiheadAttention"
    return called
