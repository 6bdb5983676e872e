"""compare(mine, theirs, *inputs): both computations side by side, and in words what differs."""

from torch import nn

from autograder.graph import picture
from autograder.graph.drawing import Drawing, draw, must_be_callable
from autograder.graph.meaning import Meaning
from autograder.graph.operations import number_text

_TIMES = {0: "not at all", 1: "once", 2: "twice"}


class Comparison:
    """Two drawings and the sentences that tell them apart.

    `differences` is empty where the structures agree. Only differences that are certain and that
    matter are told: a reshape against a view, a loop against a matrix product, one fused projection against
    three, a fill against an added mask are none.
    """

    def __init__(self, mine: Drawing, theirs: Drawing, differences):
        self.mine, self.theirs, self.differences = mine, theirs, list(differences)

    def svg(self) -> str:
        panels = [picture.Panel(side.nodes, side.edges) for side in (self.mine, self.theirs)]
        names = [self.mine.title, self.theirs.title]
        titles = [who if name == "lambda" else f"{who}: {name}" for who, name in zip(("yours", "theirs"), names)]
        return picture.svg(panels, self.alt, str(self), self._sentences(), titles)

    @property
    def alt(self):
        return f"{self.mine.title} beside {self.theirs.title}. " + " ".join(self._sentences())

    def _sentences(self):
        return self.differences or ["No difference in structure was found."]

    def __str__(self):
        return "\n".join([f"yours: {self.mine}", "", f"theirs: {self.theirs}", "", *self._sentences()])

    def __repr__(self):
        return f"<comparison: {self.alt}>"

    def _repr_svg_(self):
        try:
            return self.svg()
        except Exception:
            return None

    def _repr_mimebundle_(self, include=None, exclude=None):
        data, drawn = {"text/plain": str(self)}, self._repr_svg_()
        if drawn:
            data["image/svg+xml"] = drawn
        return data, {"image/svg+xml": {"alt": self.alt}} if drawn else {}


def compare(mine, theirs, *inputs, **named):
    """Draws both on the same inputs and says what differs in the mathematics.

    `nn.MultiheadAttention` takes one input as queries, keys and values, two as queries and context.
    Raises `UserError` where there is nothing to call; a computation that fails is told as a difference.
    """
    for target in (mine, theirs):
        must_be_callable("compare", target, inputs, named)
    drawings = [draw(target, *_as_taken(target, inputs), **named) for target in (mine, theirs)]
    return Comparison(*drawings, differences(*drawings))


def _as_taken(target, inputs):
    if isinstance(target, nn.MultiheadAttention) and len(inputs) in (1, 2):
        return (inputs[0], inputs[-1], inputs[-1])
    return inputs


def differences(mine, theirs):
    """Sentences on two drawings; the first that stopped is all there is to say."""
    for name, side in (("Yours", mine), ("Theirs", theirs)):
        if side.stopped:
            return [f"{name} could not be compared. {side.stopped}"]
    try:
        a, b = (Meaning(*side.whole) for side in (mine, theirs))
        found = [part(a, b) for part in (_attentions, _residuals, _norms, _activations)]
        return list(dict.fromkeys(sentence for sentences in found for sentence in sentences))
    except Exception:
        return []


def _attentions(a, b):
    mine, theirs = a.levels(), b.levels()
    if len(mine) != len(theirs):
        yield from _counted("applies softmax", len(mine), len(theirs))
        return
    for ours, reference in zip(mine, theirs):
        # Attentions side by side are heads, or rows of a loop: told only where they are all alike.
        if len({_key(core) for core in ours}) == 1 and len({_key(core) for core in reference}) == 1:
            yield from _one_attention(ours[0], reference[0], a, b)


def _key(core):
    factor = None if core.factor is None else round(core.factor, 5)
    return factor, core.scores, core.masked, core.scaled_after, core.masked_after, core.mixes, core.projected


def _one_attention(mine, theirs, a, b):
    yield from _scale(mine, theirs)
    if theirs.masked and not mine.masked and mine.masked_after:
        yield "Theirs masks the scores before softmax; yours masks the weights after it."
    elif bool(theirs.masked) != bool(mine.masked) and not (mine.looped or theirs.looped):
        who, other = ("Theirs", "yours") if theirs.masked else ("Yours", "theirs")
        yield f"{who} masks the scores before softmax; {other} does not."
    if None not in (mine.dim, theirs.dim) and mine.dim != theirs.dim and mine.shape == theirs.shape:
        yield f"Theirs applies softmax over axis {theirs.dim}, yours over axis {mine.dim}."
    if mine.same_source and theirs.same_source is False:
        yield "Yours mixes with the softmax weights what it also used as keys; theirs mixes the values."
    fewer = _learned(a) < _learned(b)
    if mine.mixes and theirs.projected and not mine.projected and fewer:
        yield "Theirs puts a projection after the mixed values; yours does not."


def _learned(meaning):
    return sum(node.times for node in meaning.nodes.values() if meaning.is_learned(node.id))


def _scale(mine, theirs):
    if None in (mine.factor, theirs.factor) or abs(mine.factor - theirs.factor) <= 1e-3 * abs(theirs.factor):
        return
    number, other = number_text(theirs.factor), number_text(mine.factor)
    if mine.factor == 1:
        instead = "scales after it" if mine.scaled_after else "does not scale at all"
        yield f"Theirs scales the scores (\u00d7 {number}) before softmax; yours {instead}."
    elif theirs.factor == 1:
        instead = "scales after it" if theirs.scaled_after else "does not scale at all"
        yield f"Yours scales the scores (\u00d7 {other}) before softmax; theirs {instead}."
    else:
        yield f"Theirs scales the scores by {number}, yours by {other}."


def _residuals(a, b):
    mine, theirs = a.residuals(), b.residuals()
    yield from _counted("adds an input back to what was computed from it", len(mine), len(theirs))
    alike = len(mine) == len(theirs) and a.norms_after_sum() == b.norms_after_sum()
    if alike and sum(map(a.adds_back_norm, mine)) > sum(map(b.adds_back_norm, theirs)):
        yield "Yours adds back the normalised input; theirs adds back the input itself."


def _norms(a, b):
    if not (a.is_sure("var", "std", "rsqrt", "var_mean", "norm") and b.is_sure("var", "std", "rsqrt")):
        return
    mine, theirs = a.norms_after_sum(), b.norms_after_sum()
    if len(mine) != len(theirs):
        yield from _counted("normalises", len(mine), len(theirs))
    elif len(a.residuals()) == len(b.residuals()) and sum(mine) != sum(theirs):
        after, before = "normalises after the sum", "before"
        if sum(mine) > sum(theirs):
            yield f"Yours {after}, theirs {before} the part that is added."
        else:
            yield f"Theirs {after}, yours {before} the part that is added."


def _activations(a, b):
    unsure = ("erf", "tanh", "exp", "clamp", "maximum", "pow")
    mine, theirs = a.activations(), b.activations()
    if len(mine) != len(theirs):
        if a.is_sure(*unsure) and b.is_sure(*unsure):
            yield from _counted("applies an activation", len(mine), len(theirs))
        return
    for (name, between), (reference, expected) in zip(mine, theirs):
        if name != reference:
            yield f"Theirs applies {reference}, yours {name}."
        elif expected and not between:
            yield f"Theirs applies {reference} before its last linear step, yours after it."


def _counted(what, mine, theirs):
    if mine != theirs:
        who, other = ("Theirs", "yours") if theirs > mine else ("Yours", "theirs")
        fewer, more = (_TIMES.get(count, f"{count} times") for count in sorted((mine, theirs)))
        yield f"{who} {what} {more}; {other} {fewer}."
