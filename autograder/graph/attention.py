"""Reads every attention out of a graph: the softmax, and what stands before and after it."""

from dataclasses import dataclass, field

from autograder.graph import patterns
from autograder.graph.meaning import total_scale
from autograder.graph.softmaxes import softmax_input

_PASSING = {"layout", "scale", "mask", "bias"}
_UNCLEAR = {"plain", "times", "norm", "activation", "softmax"}
_MATRIX = {"matmul", "bmm"}
ADDING = {"addmm", "baddbmm", "addbmm", "addmv"}
# A piece of a tensor is not the whole: behind these it is unknown which piece went where.
_PIECES = {"getitem", "chunk", "split", "unbind", "narrow", "select", "tensor_split", "split_with_sizes"}
_TURNS = {"transpose", "permute", "T", "mT"}


@dataclass
class Core:
    """One attention. None and "" mean unknown."""

    id: int
    product: int | None = None  # the product that gives the scores
    mix: int | None = None  # the product with the values
    factor: float | None = None  # what the scores are multiplied by in all
    scales: list = field(default_factory=list)
    masks: list = field(default_factory=list)  # between the product and the softmax
    masks_before: list = field(default_factory=list)  # on what goes into the product
    masks_after: list = field(default_factory=list)  # on the weights
    added_masks: list = field(default_factory=list)  # masks that are added as numbers
    scaled_after: bool = False
    shared_again: bool = False  # the weights are divided by their sum after a mask
    projected: list = field(default_factory=list)  # learned products after the mix
    dim: object = None  # the axis of the softmax
    turned: bool = False  # the scores or the weights lie on their side
    turned_after: bool = False  # the weights do, the scores do not
    queries: int | None = None
    keys: int | None = None
    values: int | None = None
    ordered: bool = False  # queries and keys can be told apart
    looped: bool = False
    shape: tuple | None = None

    @property
    def masked(self):
        return bool(self.masks) or (bool(self.masks_after) and self.shared_again)


def levels(graph):
    """The attentions, those that run side by side together: one list for each that follows another."""
    softmaxes = [node.id for node in graph.nodes.values() if softmax_input(graph, node.id) is not None]
    found = {}
    for softmax in softmaxes:
        depth = sum(1 for level in found for other in found[level][:1] if other in graph.above[softmax])
        found.setdefault(depth, []).append(softmax)
    result = [[_core(graph, softmax, softmaxes) for softmax in found[depth]] for depth in sorted(found)]
    for level in result:
        for core in level:
            core.looped |= len(level) > 1
    return result


def _core(graph, number, softmaxes):
    node = graph.nodes[number]
    start, dim = softmax_input(graph, number)
    core = Core(number, dim=dim, shape=node.shape, looped=node.times > 1)
    passed = []
    product = _scores(graph, start, passed, core)
    core.scales = [item.id for item in passed if item.role == "scale"]
    if product is not None and graph.is_product(product) and not graph.is_learned(product):
        core.product = product
        core.factor = _factor(graph, product, passed, core)
        _operands(graph, core)
    elif product is not None and graph.nodes[product].kind == "input":
        core.factor = _times(passed)
    core.masks = [item.id for item in passed if item.role == "mask"] + [
        n for n in graph.above[number] - {p.id for p in passed} if _weighs(graph, n, start, number)
    ]
    core.turned = any(item.op in _TURNS or "transpose" in item.label for item in passed)
    before = {n for other in softmaxes if other in graph.above[number] for n in graph.above[other] | {other}}
    if core.product is not None:
        masks = graph.above[core.product] - before
        core.masks_before = [n for n in masks if graph.nodes[n].role == "mask"]
    elif not core.masks:
        core.masks = [n.id for n in graph.having("mask") if n.id in graph.above[number] - before]
    _after(graph, core)
    return core


def _scores(graph, number, passed, core):
    """Backwards from the softmax to the product; a mask that is added as numbers is noted and passed."""
    while number is not None:
        number = graph.back(number, _PASSING, passed)
        if number is None:
            return None
        node = graph.nodes[number]
        quiet = [edge for edge in graph.into[number] if edge.quiet]
        if node.role != "add" or len(graph.loud(number)) != 1 or not quiet:
            return number
        core.added_masks.append(number)
        number = graph.main(number)
    return None


def _weighs(graph, number, start, softmax):
    """A mask on the powers of a softmax by hand: between its exp and its result."""
    return graph.nodes[number].role == "mask" and start in graph.above[number] and softmax != number


def _times(passed):
    return None if any(item.role in _UNCLEAR for item in passed) else total_scale(passed)


def _factor(graph, product, passed, core):
    """The product of the numbers that scores, queries and keys are multiplied by."""
    total = None if graph.nodes[product].op in ADDING else _times(passed)
    for edge in graph.into[product]:
        on_the_way = []
        end = graph.back(edge.source, {"layout", "scale"}, on_the_way)
        part = _times(on_the_way)
        if total is None or part is None or end is None:
            return None
        if graph.nodes[end].role in _UNCLEAR - {"norm", "activation"} or _weight_is_made(graph, end):
            return None
        core.scales += [item.id for item in on_the_way if item.role == "scale"]
        total *= part
    return total


def _weight_is_made(graph, number):
    """A product with something made of parameters alone: what was done to that is not seen here."""
    if graph.nodes[number].role != "product":
        return False
    made = [e.source for e in graph.into[number] if graph.nodes[e.source].kind == "operation"]
    return any(not graph.sources(source)[0] for source in made)


def _operands(graph, core):
    """Queries and keys; which is which is told by a matrix product only."""
    node = graph.nodes[core.product]
    edges = sorted(graph.into[core.product], key=lambda edge: edge.places)
    if len(edges) == 1 and set(edges[0].places) >= {"0", "1"}:
        edges *= 2
    if len(edges) != 2:
        return
    core.queries, core.keys = (edge.source for edge in edges)
    flat = any(edge.shape is None or len(edge.shape) < 2 for edge in edges)
    core.ordered = node.op in _MATRIX and not flat


def _after(graph, core):
    """What happens to the weights, and to what was mixed."""
    passed = []
    after = graph.ahead(core.id, {"layout", "scale", "mask"}, passed)
    core.scaled_after = any(item.role == "scale" for item in passed)
    core.masks_after = [item.id for item in passed if item.role == "mask"]
    core.shared_again = any(graph.nodes[n].op in ("div", "normalize") for n in after)
    for number in list(after):
        if graph.nodes[number].op in ("div", "normalize"):
            after += graph.ahead(number, {"layout", "scale", "mask"}, passed)
    after_turned = any(item.op in _TURNS or "transpose" in item.label for item in passed)
    core.turned_after = after_turned and not core.turned
    core.turned |= after_turned
    mixes = [number for number in after if graph.nodes[number].role in ("product", "times")]
    for mix in mixes:
        core.mix = core.mix or mix
        core.projected += [n for n in graph.ahead(mix, {"layout", "bias"}) if graph.is_learned(n)]
    if core.mix is not None:
        others = [e.source for e in graph.into[core.mix] if core.id not in graph.above[e.source] | {e.source}]
        core.values = others[0] if len(others) == 1 else None


def blocked(graph, masks):
    """What these masks forbid together, "" where that cannot be told."""
    texts = [graph.nodes[number].blocked for number in masks]
    return patterns.union(texts) if texts and all(texts) else ""


def from_pieces(graph, number):
    """Was it cut out of a larger tensor?"""
    passed = []
    graph.back(number, {"layout", "scale"}, passed)
    return any(item.op in _PIECES for item in passed)


def width(graph, core):
    """How many features are compared at once."""
    if core.product is None or not core.ordered:
        return None
    first = next((e for e in graph.into[core.product] if e.source == core.queries and "0" in e.places), None)
    size = first.shape[-1] if first and first.shape else None
    return size if isinstance(size, int) else None
