"""draw(module_or_function, *inputs): the computation as a picture and as text."""

import base64
import inspect
from html import escape

from torch import nn

from autograder.errors import UserError
from autograder.graph import dot, picture, words
from autograder.graph.assemble import assembled
from autograder.graph.depth import shown
from autograder.graph.letters import consistent
from autograder.graph.model import Node, bounded, renumbered
from autograder.graph.run import trace


class BadUse(UserError):
    """draw or compare was called in a way that cannot work; a notebook shows the sentence alone."""

    def _render_traceback_(self):
        return [str(self)]


class Shown:
    """Something with `svg()`, `alt` and a text, as a notebook shows it.

    subtle: JupyterLab shows image/svg+xml as an image without a name, and not at all in a notebook that is not
    trusted; an <img> in text/html keeps its name in both, in nbconvert's pages and through our feedback's filter.
    """

    def _repr_svg_(self):
        try:
            return self.svg()
        except Exception:
            return None

    def _repr_mimebundle_(self, include=None, exclude=None):
        data, drawn = {"text/plain": str(self)}, self._repr_svg_()
        if drawn:
            data["text/html"] = as_image(drawn, self.alt)
            data["image/svg+xml"] = drawn
        return data, {"image/svg+xml": {"alt": self.alt}} if drawn else {}


def as_image(svg, alt):
    """The picture as one HTML element that carries its name; nothing in it is fetched from anywhere."""
    code = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt, quote=True)}" src="data:image/svg+xml;base64,{code}" style="max-width: 100%">'


class Drawing(Shown):
    """A drawn computation.

    `nodes` and `edges` are what is shown, as plain data (autograder.graph.model); `whole` is the same with every
    part opened and every layer. `dot` is the graph in DOT, `svg()` the picture, `str()` the text. `stopped` says in
    one sentence where the computation failed, and is empty otherwise.
    """

    def __init__(self, title, nodes, edges, stopped="", depth=None):
        self.title, self.stopped, self.depth = title, stopped, depth
        self.whole = list(nodes), list(edges)
        self.nodes, self.edges = renumbered(*consistent(*bounded(*shown(*self.whole, depth))))
        self.dot = dot.dot_text(self.nodes, self.edges)

    def svg(self) -> str:
        notes = [self.stopped] if self.stopped else []
        panel = picture.Panel(self.nodes, self.edges)
        return picture.svg([panel], self.alt, str(self), notes)

    @property
    def alt(self):
        return words.summary(self.title, self.nodes, self.stopped)

    def __str__(self):
        return words.listing(self.title, self.nodes, self.edges, self.stopped)

    def __repr__(self):
        return f"<drawing: {self.alt}>"


def draw(module_or_function, *inputs, depth=None, **named):
    """Draws what a function or a module computes from these inputs.

    The code runs once, on copies: the model, the inputs and the random state stay as they are. Where it
    fails, the drawing shows the steps up to there and the operation that failed with the shapes that met.
    Steps that repeat, as in a loop, are folded into one box ("x 6"), and so are layers that are alike.

    depth  how many levels of parts are opened: 0 shows each part as one box. As it stands, all are open as
           long as the picture fits on a screen.

    Returns a `Drawing`: a picture in a notebook, text with `print`, `.nodes`, `.edges` and `.dot` as data.
    Raises `UserError` where there is nothing to call.
    """
    must_be_callable("draw", module_or_function, inputs, named, depth)
    done = trace(module_or_function, inputs, named)
    stopped = words.stopped(done)
    try:
        nodes, edges = assembled(done)
    except Exception:
        nodes, edges = [Node(0, "note", "", "this computation could not be drawn")], []
    return Drawing(done.title, nodes, edges, stopped, depth)


def must_be_callable(name, target, inputs, named, depth=None):
    """One clear sentence where the call cannot work."""
    if depth is not None and (type(depth) is not int or depth < 0):
        raise BadUse(f"{name}: depth counts how many levels of parts are opened: 0, 1, 2 ...; this is {depth!r:.40}.")
    if inspect.isclass(target):
        raise BadUse(
            f"{name}: {target.__name__} is a class; make one first, for instance "
            f"{name}({target.__name__}(...), x)."
        )
    if not callable(target):
        raise BadUse(
            f"{name} takes a function or a module and its inputs, for instance {name}(attention, q, k, v); "
            f"this is of type {type(target).__name__}."
        )
    if (isinstance(target, nn.Module) and not inputs and not named) or (
        not (inputs or named) and _needs_inputs(target)
    ):
        raise BadUse(
            f"{name} needs the inputs too, for instance {name}({getattr(target, '__name__', 'model')}, x)."
        )


def _needs_inputs(target):
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
    )
