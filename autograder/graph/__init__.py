"""Draw a computation as a graph, and compare two computations.

The modules, in reading order: model (nodes and edges as plain data); steps, operations, propagation, trace,
opened, untouched and run (they record what runs); simplify, fold and assemble (they reduce the record to what
is worth showing); depth, dot and drawing (they draw it); torchview_engine (it draws PyTorch's own modules
with torchview); walk, sequence, scores, differences and compare (they find what differs); plain (it turns a
drawing into plain data for another process, and back).
"""

from autograder.graph.compare import Comparison, compare, compared
from autograder.graph.drawing import Drawing, draw
from autograder.graph.model import Edge, Node
from autograder.graph.plain import as_data, from_data

__all__ = ["Comparison", "Drawing", "Edge", "Node", "as_data", "compare", "compared", "draw", "from_data"]
