"""compare(mine, theirs, *inputs): both computations side by side, and in words what differs."""

from dataclasses import replace

from torch import nn

from autograder.graph import picture
from autograder.graph.differences import Difference, found
from autograder.graph.drawing import Drawing, Shown, draw, must_be_callable
from autograder.graph.match import numbered
from autograder.graph.model import plain_text


class Comparison(Shown):
    """Two drawings and the sentences that tell them apart.

    `differences` is empty where the structures agree. Only differences that are certain and that
    matter are told: a reshape against a view, a loop against a matrix product, one fused projection against
    three, a fill against an added mask are none. In the picture steps that match carry the same number, and steps
    that a sentence speaks of are marked.
    """

    def __init__(self, mine: Drawing, theirs: Drawing, differences):
        self.mine, self.theirs = mine, theirs
        self.differences = [item.text for item in differences]

    def svg(self) -> str:
        panels = [picture.Panel(side.nodes, side.edges) for side in (self.mine, self.theirs)]
        names = [plain_text(side.title, 40) for side in (self.mine, self.theirs)]
        titles = [who if name == "lambda" else f"{who}: {name}" for who, name in zip(("yours", "theirs"), names)]
        return picture.svg(panels, self.alt, str(self), self._sentences(), titles)

    @property
    def alt(self):
        return f"{self.mine.title} beside {self.theirs.title}. " + " ".join(self._sentences())

    def _sentences(self):
        return self.differences or ["No difference in structure was found."]

    def __str__(self):
        return "\n".join([*self._sentences(), "", f"yours: {self.mine}", "", f"theirs: {self.theirs}"])

    def __repr__(self):
        return f"<comparison: {self.alt}>"


def compare(mine, theirs, *inputs, depth=None, **named):
    """Draws both on the same inputs and says what differs in the mathematics.

    depth  how many levels of parts are opened in the picture, as in `draw`; what is compared is always all of it.
    `nn.MultiheadAttention` takes one input as queries, keys and values, two as queries and context.
    Raises `UserError` where there is nothing to call; a computation that fails is told as a difference.
    """
    for target in (mine, theirs):
        must_be_callable("compare", target, inputs, named, depth)
    drawings = [draw(_as_taken(target, len(inputs)), *inputs, **named) for target in (mine, theirs)]
    return compared(*drawings, depth)


def compared(mine, theirs, depth=None):
    """The same for two drawings that are there already."""
    theirs = _with_my_names(mine, theirs)
    told = differences(mine, theirs)
    try:
        sides = numbered(mine.whole, theirs.whole, told)
    except Exception:
        sides = mine.whole, theirs.whole
    drawn = [Drawing(old.title, *side, old.stopped, depth) for old, side in zip((mine, theirs), sides)]
    return Comparison(*drawn, told)


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


def differences(mine, theirs):
    """What differs between two drawings; the first that stopped is all there is to say."""
    for name, side in (("Yours", mine), ("Theirs", theirs)):
        if side.stopped:
            return [Difference(f"{name} could not be compared. {side.stopped}")]
    try:
        return found(mine.whole, theirs.whole, careful=True)
    except Exception:
        return []
