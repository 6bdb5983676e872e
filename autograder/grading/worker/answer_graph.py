"""Draws the computation graph of an answer on one case. A student's answer is drawn inside the sandbox; the
reference is drawn outside it.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

from autograder.graph import Drawing, draw
from autograder.probe.build import WrongParts, built, live, load_weights
from autograder.schema.case import Case, Question


def answer_graph(answer: Any, procedure: str, case: Question) -> Drawing:
    """Draw what `answer` computes on the inputs of `case`; if it is a class, draw what its instance computes.

    Raises any error that the constructor raises. If `forward` fails, the graph ends where it failed.
    """
    arguments = [live(argument) for argument in case.args]
    if procedure == "class":
        answer = built(answer, case.init)
        # Parts with other names keep their own weights: the picture shows the structure, not the numbers.
        with contextlib.suppress(WrongParts):
            load_weights(answer, case.weights)
    return draw(answer, *arguments, **{name: live(value) for name, value in case.kwargs.items()})


def case_to_draw(cases: Iterable[Case]) -> Case | None:
    """Return the case used to draw the graphs of an exercise's answers: the first that expects a result, not
    an error, and has no keyword arguments. Return None if there is no such case.
    """
    return next((case for case in cases if not case.raises and not case.kwargs), None)
