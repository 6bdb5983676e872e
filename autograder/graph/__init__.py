"""See what you built: draw a computation, compare two.

Reading order: model (the data); steps, provenance, trace, opened, untouched and run (what ran; notes with axes,
carry, patterns, sides and curves: what is noted on the way); simplify, fold, labels and assemble (what is kept);
depth, repeats, letters, dot, elements and picture (what is shown); words and drawing (in words). Then meaning, sums,
softmaxes, attention and residuals (what it is as mathematics); attentions, masked, origins, joins, sublayers, parts,
results and differences (what differs); match and compare (side by side); plain (to and from another process).
"""

from autograder.graph.compare import Comparison, compare, compared
from autograder.graph.drawing import Drawing, draw
from autograder.graph.model import Edge, Node
from autograder.graph.plain import BadGraph, as_data, from_data

__all__ = [
    "BadGraph",
    "Comparison",
    "Drawing",
    "Edge",
    "Node",
    "as_data",
    "compare",
    "compared",
    "draw",
    "from_data",
]
