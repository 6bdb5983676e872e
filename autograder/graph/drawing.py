"""draw(module_or_function, *inputs): shows the computation as a picture and as text."""

import base64
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from html import escape

from torch import nn

from autograder.errors import UserError
from autograder.faults import entry_point
from autograder.graph.assemble import assembled
from autograder.graph.depth import shown
from autograder.graph.dot import dot_of, svg_of
from autograder.graph.model import Edges, Node, Nodes, arranged, plain_text, shape_text, sources_of
from autograder.graph.run import trace
from autograder.graph.torchview_engine import drawn_by_torchview


class Shown(ABC):
    """Base class of things that a notebook shows as a picture, or as text (`str()`) if pygraphviz is missing.

    subtle: JupyterLab shows image/svg+xml without an alternative text, and not at all in a notebook that is
    not trusted. An <img> in text/html is shown with its alternative text in every notebook and in nbconvert's
    pages, and our feedback pages, which remove unsafe HTML, keep it.
    """

    @property
    @abstractmethod
    def dot(self) -> str:
        """The graph in DOT."""

    @property
    @abstractmethod
    def alt(self) -> str:
        """A one-line description of the picture."""

    def svg(self) -> str:
        return svg_of(self.dot, self.alt, str(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.alt}>"

    @entry_point()
    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict, dict]:
        try:
            drawn = self.svg()
        except ImportError:  # without pygraphviz there is the text
            return {"text/plain": str(self)}, {}
        data = {"text/plain": str(self), "text/html": as_image(drawn, self.alt), "image/svg+xml": drawn}
        return data, {"image/svg+xml": {"alt": self.alt}}


def as_image(svg: str, alt: str) -> str:
    """Return the picture as one <img> element with alternative text. The element holds the image data, so
    nothing is fetched.
    """
    code = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt, quote=True)}" src="data:image/svg+xml;base64,{code}" style="max-width: 100%">'


class Drawing(Shown):
    """A drawn computation.

    `nodes` and `edges` are the graph as shown, as plain data (see autograder.graph.model); `whole` is the
    same graph with every part opened. `dot` is the graph in DOT, `svg()` returns the picture, and `str()`
    returns the text. `stopped` is a sentence that says where the computation failed or why steps are missing;
    otherwise it is empty.
    """

    def __init__(self, title: str, nodes: Nodes, edges: Edges, stopped: str = "", depth: int | None = None):
        self.title, self.stopped, self.depth = title, stopped, depth
        self.whole = list(nodes), list(edges)
        self.nodes, self.edges = arranged(*shown(*self.whole, depth))

    @property
    def dot(self) -> str:
        return dot_of(self.nodes, self.edges, (self.stopped,) if self.stopped else ())

    @property
    def alt(self) -> str:
        """A one-line description of the picture."""
        if self.stopped:
            return plain_text(f"Computation graph of {self.title}. {self.stopped}", 300)
        inputs = ", ".join(node.label for node in self.nodes if node.kind == "input") or "no input"
        steps = [
            node.label + (f" \u00d7 {node.times}" if node.times > 1 else "")
            for node in self.nodes
            if node.kind in ("operation", "part")
        ]
        said = ", ".join(steps[:12]) + (" and more" if len(steps) > 12 else "") or "no operation"
        return plain_text(f"Computation graph of {self.title}: from {inputs} by {said}.", 300)

    def __str__(self) -> str:
        """Return the title, one numbered line per node, and `stopped` if it is not empty. Each numbered line
        gives the numbers of the lines whose results the node takes.
        """
        takes = sources_of(self.edges)
        rows = [
            (
                _name(node),
                _from(node, [source + 1 for source in takes.get(node.id, ())]),
                shape_text(node.shape),
            )
            for node in self.nodes
        ]
        wide, second = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
        lines = [
            f"{number:>3}  {name:<{wide}}  {source:<{second}}  {shape}".rstrip()
            for number, (name, source, shape) in enumerate(rows, 1)
        ]
        return "\n".join([plain_text(self.title), *lines, *([self.stopped] if self.stopped else [])])


def _name(node: Node) -> str:
    name = f"{node.label} {node.detail}".strip() if node.kind in ("operation", "part") else node.label
    return name + (f", {node.times} times" if node.times > 1 else "")


def _from(node: Node, lines: list[int]) -> str:
    if node.kind in ("input", "parameter", "constant"):
        return node.kind + (", not used" if node.state == "unused" else "")
    mark = "stopped here, " if node.state == "failed" else ""
    return mark + ("from " + ", ".join(map(str, lines)) if lines else "")


@entry_point("draw(attention, q, k, v)")
def draw(
    module_or_function: Callable,
    *inputs: object,
    depth: int | None = None,
    engine: str = "trace",
    **named: object,
) -> Drawing:
    """Draw what a function or a module computes from these inputs.

    The code runs once, on copies: the model, the inputs and the random state stay as they are. If it fails,
    the drawing shows the steps up to that point, and the failed operation, with the shapes of its inputs.
    Steps that repeat, as in a loop, are folded into one box ("x 6").

    depth   how many levels of parts (submodules) are opened: 0 shows each part as one box. By default, as
            many levels are open as fit on a screen, or none with "torchview".
    engine  "trace" shows every operation; "torchview" draws a PyTorch module with the torchview package.

    Returns a `Drawing`, which a notebook shows as a picture and `print` as text; `.nodes`, `.edges` and
    `.dot` are its data. Raises `UserError` if an argument cannot be drawn, for example a class, or if
    torchview cannot draw the module.
    """
    must_be_callable("draw", module_or_function, inputs, named, depth)
    if engine == "torchview":
        return Drawing(*drawn_by_torchview(module_or_function, inputs, named, depth or 0))
    if engine != "trace":
        raise UserError(f'draw: engine must be "trace" or "torchview", not {engine!r:.40}.')
    done = trace(module_or_function, inputs, named)
    return Drawing(done.title, *assembled(done), done.stopped, depth)


def must_be_callable(name: str, target: object, inputs: tuple, named: dict, depth: object = None) -> None:
    """Raise `UserError` if these arguments of `draw` or `compare` (`name` says which) cannot work."""
    if depth is not None and (type(depth) is not int or depth < 0):
        takes = f"{name}: depth counts how many levels of parts are opened: 0, 1, 2 ..."
        raise UserError(f"{takes}; this is {depth!r:.40}.")
    if inspect.isclass(target):
        made = f"{name}({target.__name__}(...), x)"
        raise UserError(f"{name}: {target.__name__} is a class; make an instance of it first, as in {made}.")
    if not callable(target):
        takes = f"{name} takes a function or a module and its inputs, for instance {name}(attention, q, k, v)"
        raise UserError(f"{takes}; this is of type {type(target).__name__}.")
    if isinstance(target, nn.Module) and not inputs and not named:
        raise UserError(f"{name} needs the inputs too, for instance {name}(model, x).")
