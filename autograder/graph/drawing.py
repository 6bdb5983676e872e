"""draw(module_or_function, *inputs): the computation as a picture and as text."""

import base64
from collections.abc import Callable
from html import escape

from autograder.graph import words
from autograder.graph.assemble import assembled
from autograder.graph.depth import shown
from autograder.graph.dot import dot_of, words_of
from autograder.graph.model import Edges, Nodes, bounded, renumbered
from autograder.graph.run import BadUse, must_be_callable, trace
from autograder.graph.svg import svg_of
from autograder.graph.torchview_engine import drawn_by_torchview


class Shown:
    """Something with `svg()`, `alt` and a text, as a notebook shows it.

    subtle: JupyterLab shows image/svg+xml as an image without a name, and not at all in a notebook that is not
    trusted; an <img> in text/html keeps its name in both, in nbconvert's pages and through our feedback's filter.
    """

    def __repr__(self):
        return f"<{type(self).__name__}: {self.alt}>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        try:
            drawn = self.svg()
        except ImportError:  # without pygraphviz there is the text
            return {"text/plain": str(self)}, {}
        data = {"text/plain": str(self), "text/html": as_image(drawn, self.alt), "image/svg+xml": drawn}
        return data, {"image/svg+xml": {"alt": self.alt}}


def as_image(svg: str, alt: str) -> str:
    """The picture as one HTML element that carries its name; nothing in it is fetched from anywhere."""
    code = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt, quote=True)}" src="data:image/svg+xml;base64,{code}" style="max-width: 100%">'


class Drawing(Shown):
    """A drawn computation.

    `nodes` and `edges` are what is shown, as plain data (autograder.graph.model); `whole` is the same with every
    part opened. `dot` is the graph in DOT, `svg()` the picture, `str()` the text. `stopped` says in one sentence where
    the computation failed, and is empty otherwise.
    """

    def __init__(self, title: str, nodes: Nodes, edges: Edges, stopped: str = "", depth: int | None = None):
        self.title, self.stopped, self.depth = title, stopped, depth
        self.whole = list(nodes), list(edges)
        self.nodes, self.edges = renumbered(*bounded(*shown(*self.whole, depth)))

    @property
    def dot(self) -> str:
        return dot_of(self.nodes, self.edges, (self.stopped,) if self.stopped else ())

    def svg(self) -> str:
        return svg_of(self.dot, self.alt, str(self), {f"n{node.id}": words_of(node) for node in self.nodes})

    @property
    def alt(self) -> str:
        return words.summary(self.title, self.nodes, self.stopped)

    def __str__(self):
        return words.listing(self.title, self.nodes, self.edges, self.stopped)


def draw(
    module_or_function: Callable, *inputs: object, depth: int | None = None, engine: str = "trace", **named: object
) -> Drawing:
    """Draws what a function or a module computes from these inputs.

    The code runs once, on copies: the model, the inputs and the random state stay as they are. If it fails, the
    drawing shows the steps up to there and the operation that failed with the shapes that met. Steps that repeat, as
    in a loop, are folded into one box ("x 6").

    depth   how many levels of parts are opened: 0 shows each part as one box. By default, all are open as long as
            the picture fits on a screen.
    engine  "trace" shows every operation; "torchview" shows a module of PyTorch as the torchview package sees it.

    Returns a `Drawing`: a picture in a notebook, text with `print`, `.nodes`, `.edges` and `.dot` as data.
    Raises `UserError` if there is nothing to call, and if torchview cannot draw the module.
    """
    must_be_callable("draw", module_or_function, inputs, named, depth)
    if engine == "torchview":
        return Drawing(*drawn_by_torchview(module_or_function, inputs, named, depth or 0))
    if engine != "trace":
        raise BadUse(f'draw: engine is "trace" or "torchview"; this is {engine!r:.40}.')
    done = trace(module_or_function, inputs, named)
    return Drawing(done.title, *assembled(done), words.stopped(done), depth)
