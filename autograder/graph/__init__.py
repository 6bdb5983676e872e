"""See what you built: draw a computation, compare two.

Reading order: model (the data); steps, operations, propagation, trace, opened, untouched and run
(what ran); simplify, fold and assemble (what is worth showing); depth, dot and drawing (what is shown);
torchview_engine (PyTorch's own modules, as torchview sees them). Then walk, sequence, scores, differences and
compare (what differs); plain (to and from another process).
"""

from autograder.graph.compare import Comparison, compare, compared
from autograder.graph.drawing import Drawing, draw
from autograder.graph.model import Edge, Node
from autograder.graph.plain import as_data, from_data

__all__ = ["Comparison", "Drawing", "Edge", "Node", "as_data", "compare", "compared", "draw", "from_data"]
