"""What differs in residuals, norms and activations, in sentences (see differences.py)."""

from autograder.graph import residuals
from autograder.graph.attention import levels
from autograder.graph.operations import number_text

_TIMES = {0: "not at all", 1: "once", 2: "twice"}
_MAKES_NORM = ("var", "std", "rsqrt", "var_mean", "norm", "sqrt")
_OTHER_NORMS = ("batch_norm", "rms_norm", "normalize")  # a layer_norm is none of these
_MAKES_ACTIVATION = (
    "erf", "tanh", "exp", "clamp", "maximum", "pow", "sigmoid", "where", "max",
    "special_erf", "erfc", "special_ndtr", "ndtr", "minimum",
)  # fmt: skip


def _residuals(a, b):
    mine, theirs = residuals.residuals(a), residuals.residuals(b)
    what = "adds an input back to what was computed from it"
    yield from counted(what, len(mine), len(theirs), mine, theirs)
    if len(mine) != len(theirs):
        return
    scaled = list(_scaled(a, b, mine, theirs))
    if scaled:
        yield from scaled
        return
    normed = [[n for n in residuals.residuals(graph) if residuals.adds_back_norm(graph, n)] for graph in (a, b)]
    if len(normed[0]) > len(normed[1]) and residuals.norms_after_sum(a) == residuals.norms_after_sum(b):
        yield "Yours adds back the normalised input; theirs adds back the input itself.", normed[0], theirs
        return
    alone = [[n for n in side if residuals.adds_norm_alone(g, n)] for g, side in ((a, mine), (b, theirs))]
    if len(alone[0]) > len(alone[1]):
        yield "Yours adds a norm of the input to the input itself; theirs does not.", alone[0], theirs
        return
    depths = [residuals.sums_before_residuals(graph) for graph in (a, b)]
    late = [number for number, one, other in zip(mine, *depths) if one < other]
    if late:
        yield "Yours adds back what came before an earlier sum; theirs adds back that sum.", late, theirs


def _scaled(a, b, mine, theirs):
    """Numbers that the sums are multiplied by, where theirs are not."""
    weights = [[residuals.weights(graph, n) for n in side] for graph, side in ((a, mine), (b, theirs))]
    if {1.0} != {weight for pair in weights[1] for weight in pair}:
        return
    for number, (kept, added) in zip(mine, weights[0]):
        if kept not in (1.0, None):
            text = f"Yours multiplies an input by {number_text(kept)} as it adds it back; theirs does not."
            yield text, (number,), theirs
        elif added not in (1.0, None):
            text = f"Yours multiplies by {number_text(added)} what it adds to an input; theirs does not."
            yield text, (number,), theirs
    last = residuals.scale_of_result(a)
    if last not in (1.0, None) and residuals.scale_of_result(b) == 1.0:
        yield f"Yours multiplies the last sum by {number_text(last)}; theirs does not.", mine[-1:], theirs[-1:]


def _shortcuts(a, b):
    """A learned layer beside the attention, whose result is added to it."""
    mine, theirs = residuals.beside_attention(a), residuals.beside_attention(b)
    if mine and not theirs:
        yield "Yours adds a learned layer beside the attention; theirs does not.", mine, ()
    elif theirs and not mine and levels(a):
        yield "Theirs adds a learned layer beside the attention; yours does not.", (), theirs


def _shares(a, b):
    """Where nothing is a softmax: a division by a sum of what is divided."""
    if levels(a) or levels(b) or not (a.is_sure("exp") and b.is_sure("div")):
        return
    mine = [node.id for node in a.nodes.values() if _divides_by_own_sum(a, node)]
    if mine:
        yield "Yours divides by a sum of the same numbers; theirs does not.", mine, ()


def _divides_by_own_sum(graph, node):
    if node.op != "div" or node.role != "plain" or len(graph.into[node.id]) != 2:
        return False
    top, bottom = (graph.back(edge.source, {"layout"}) for edge in graph.into[node.id])
    total = None if bottom is None else graph.nodes[bottom]
    return total is not None and total.op == "sum" and graph.main(bottom) == top


def _norms(a, b):
    if not (_is_sure_of_norms(a) and _is_sure_of_norms(b)):
        return
    mine, theirs = residuals.norms(a), residuals.norms(b)
    if len(mine) != len(theirs):
        yield from counted("normalises", len(mine), len(theirs), ids(mine), ids(theirs))
        return
    places = residuals.norms_after_sum(a), residuals.norms_after_sum(b)
    if len(residuals.residuals(a)) == len(residuals.residuals(b)) and sum(places[0]) != sum(places[1]):
        after, before = "normalises after the sum", "before"
        text = ("Yours {}, theirs {}" if sum(places[0]) > sum(places[1]) else "Theirs {}, yours {}") + (
            " the part that is added."
        )
        yield text.format(after, before), ids(mine), ids(theirs)
    elif len(residuals.norms_on_branch(a)) > len(residuals.norms_on_branch(b)):
        text = "Yours normalises the result of the part that is added; theirs does not."
        yield text, residuals.norms_on_branch(a), ids(theirs)
    yield from _other_norms(a, b, mine, theirs)


def _is_sure_of_norms(graph):
    """A vector of length one can be a step to a norm, after the mean was taken off, or to a softmax."""
    return graph.is_sure(*_MAKES_NORM) and (graph.is_sure("normalize") or graph.is_sure("mean", "sub", "exp"))


def _other_norms(a, b, mine, theirs):
    """The same number of norms, but other ones, or over other axes."""
    names = [[graph.owner(node) for node in side] for graph, side in ((a, mine), (b, theirs))]
    if all(names[1]) and len(set(names[1])) > 1:
        if all(names[0]) and names[0] != names[1] and set(names[0]) <= set(names[1]):
            said = [" and ".join(part) for part in (names[1], names[0])]
            yield f"Theirs normalises with {said[0]}, yours with {said[1]}.", ids(mine), ids(theirs)
        elif not any(names[0]) and not any(edge.quiet for node in mine for edge in a.into[node.id]):
            yield "Theirs normalises with a learned scale and shift, yours without.", ids(mine), ids(theirs)
    for one, other in zip(mine, theirs):
        if one.op != other.op and one.op in _OTHER_NORMS and a.is_sure("mean", "sub"):
            yield f"Theirs normalises with {other.op}, yours with {one.op}.", (one.id,), (other.id,)
        if one.op == other.op and None not in (one.dim, other.dim) and one.dim != other.dim:
            axes = ["the last axis" if n.dim == -1 else f"the last {-n.dim} axes" for n in (other, one)]
            yield f"Theirs normalises over {axes[0]}, yours over {axes[1]}.", (one.id,), (other.id,)


def _activations(a, b):
    mine, theirs = residuals.activations(a), residuals.activations(b)
    if len(mine) != len(theirs):
        if a.is_sure(*_MAKES_ACTIVATION) and b.is_sure(*_MAKES_ACTIVATION):
            more = theirs if len(theirs) > len(mine) else mine
            names = listed(list(dict.fromkeys(residuals.activation_name(node) for node, _ in more)))
            steps = [ids([node for node, _ in side]) for side in (mine, theirs)]
            yield from counted(f"applies {names}", len(mine), len(theirs), *steps)
        return
    for (one, between), (other, expected) in zip(mine, theirs):
        names = [residuals.activation_name(node) for node in (one, other)]
        if names[0] != names[1]:
            yield f"Theirs applies {names[1]}, yours {names[0]}.", (one.id,), (other.id,)
        elif expected and not between and not _works_after(a, one.id):
            text = f"Theirs applies {names[1]} before its last linear step, yours after it."
            yield text, (one.id,), (other.id,)
        elif _works_before(b, other.id) and not _works_before(a, one.id):
            text = f"Theirs applies {names[1]} after its first linear step, yours before it."
            yield text, (one.id,), (other.id,)


def _works_after(graph, number):
    """Is there any product after this step, also one by hand?"""
    return any(number in graph.above[n.id] for n in graph.nodes.values() if n.role in ("product", "times"))


def _works_before(graph, number):
    """And before it?"""
    return any(graph.nodes[other].role in ("product", "times") for other in graph.above[number])


def _gates(a, b):
    """A product of two results where theirs has one activation alone."""
    mine = residuals.gates(a)
    if mine and not b.having("times") and a.is_sure(*_MAKES_ACTIVATION):
        yield "Yours multiplies an activated result by another one, entry by entry; theirs does not.", mine, ()


def ids(nodes):
    return tuple(node.id for node in nodes)


def counted(what, mine, theirs, my_steps=(), their_steps=()):
    """"Theirs adds ... twice; yours once." and the steps that do it."""
    if mine != theirs:
        who, other = ("Theirs", "yours") if theirs > mine else ("Yours", "theirs")
        fewer, more = (spoken_count(count) for count in sorted((mine, theirs)))
        yield f"{who} {what} {more}; {other} {fewer}.", tuple(my_steps), tuple(their_steps), True


def listed(names):
    """a, b and c"""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def spoken_count(count):
    return _TIMES.get(count, f"{count} times")


RULES = (_residuals, _shortcuts, _norms, _activations, _gates, _shares)
