"""See what you built: draw a computation, compare two.

Reading order: model (the data), steps, trace, opened and run (what ran), simplify, fold, assemble (what is shown),
dot and picture (how), words (in words), drawing, compare.
"""

from autograder.graph.compare import Comparison, compare
from autograder.graph.drawing import Drawing, draw
from autograder.graph.model import Edge, Node

__all__ = ["Comparison", "Drawing", "Edge", "Node", "compare", "draw"]
