"""compare(mine, theirs, *inputs): both computations side by side, and in words what differs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import nn

from autograder.graph import differences
from autograder.graph.dot import dot_of_pair, words_of
from autograder.graph.drawing import Drawing, Shown, draw
from autograder.graph.model import plain_text
from autograder.graph.run import must_be_callable
from autograder.graph.svg import svg_of


class Comparison(Shown):
    """Two drawings and the sentences that tell them apart.

    `differences` is empty if the structures agree; if they could not be compared, it says so. Only differences that
    are certain and that matter are told: a reshape against a view, a loop against a matrix product, one packed
    projection against three, a fill against an added mask are none. In the picture, the steps that a sentence speaks of
    are marked.
    """

    def __init__(self, mine: Drawing, theirs: Drawing, told: list[differences.Difference]):
        self.mine, self.theirs = mine, theirs
        self.differences = [item.text for item in told]

    @property
    def dot(self) -> str:
        sides = [
            (_titled(who, side), side.nodes, side.edges)
            for who, side in (("yours", self.mine), ("theirs", self.theirs))
        ]
        return dot_of_pair(sides, self._sentences())

    def svg(self) -> str:
        sides = ("m", self.mine), ("t", self.theirs)
        said = {f"{letter}{node.id}": words_of(node) for letter, side in sides for node in side.nodes}
        return svg_of(self.dot, self.alt, str(self), said)

    @property
    def alt(self) -> str:
        return f"{self.mine.title} beside {self.theirs.title}. " + " ".join(self._sentences())

    def _sentences(self):
        return self.differences or ["No difference in structure was found."]

    def __str__(self):
        return "\n".join([*self._sentences(), "", f"yours: {self.mine}", "", f"theirs: {self.theirs}"])


def compare(
    mine: Callable, theirs: Callable, *inputs: object, depth: int | None = None, **named: Any
) -> Comparison:
    """Draws both on the same inputs and says what differs in the mathematics.

    depth  how many levels of parts are opened in the picture, as in `draw`; what is compared is always all of it.
    `nn.MultiheadAttention` takes one input as queries, keys and values, two as queries and context.
    Raises `UserError` if there is nothing to call; a computation that fails is told as a difference.
    """
    for target in (mine, theirs):
        must_be_callable("compare", target, inputs, named, depth)
    one, other = (draw(_as_taken(target, len(inputs)), *inputs, **named) for target in (mine, theirs))
    return compared(one, other, depth)


def compared(mine: Drawing, theirs: Drawing, depth: int | None = None) -> Comparison:
    """The same for two drawings that are there already."""
    theirs = _with_my_names(mine, theirs)
    told = _told(mine, theirs)
    marks = [{number for item in told for number in steps(item)} for steps in (lambda i: i.mine, lambda i: i.theirs)]
    drawn = []
    for side, marked in zip((mine, theirs), marks):
        nodes, edges = side.whole
        nodes = [replace(n, state="differs") if n.id in marked and not n.state else n for n in nodes]
        drawn.append(Drawing(side.title, nodes, edges, side.stopped, depth))
    return Comparison(drawn[0], drawn[1], told)


def _titled(who, side):
    return who if side.title == "lambda" else f"{who}: {plain_text(side.title, 40)}"


def _told(mine, theirs):
    """The differences; the first side that stopped is all there is to say."""
    for name, side in (("Yours", mine), ("Theirs", theirs)):
        if side.stopped:
            return [differences.Difference(f"{name} could not be compared. {side.stopped}")]
    return differences.found(mine.whole, theirs.whole)


def _with_my_names(mine, theirs):
    """Both get the same inputs in the same order, so each has one name on both sides: mine."""
    names = [node.label for node in mine.whole[0] if node.kind == "input"]
    nodes, edges = theirs.whole
    inputs = [node for node in nodes if node.kind == "input"]
    if len(names) != len(inputs) or names == [node.label for node in inputs]:
        return theirs
    said = dict(zip((node.id for node in inputs), names))
    nodes = [replace(node, label=said.get(node.id, node.label)) for node in nodes]
    return Drawing(theirs.title, nodes, edges, theirs.stopped, theirs.depth)


def _as_taken(target, count):
    """`nn.MultiheadAttention` as the course calls a module: x, or x and context; its output alone."""
    own = getattr(type(target), "forward", None) is nn.MultiheadAttention.forward
    if not own or count not in (1, 2):
        return target

    def of_self(x):
        return target(x, x, x)[0]

    def of_both(x, context):
        return target(x, context, context)[0]

    found = of_self if count == 1 else of_both
    found.__qualname__ = "MultiheadAttention"
    return found
