"""The computation graph of an answer on one case: a student's inside the sandbox, the reference's outside."""

import contextlib

from autograder.exercises.exercise import Case
from autograder.graph import Drawing, draw
from autograder.probe.build import WrongParts, live, load_weights


def drawn_on(answer, procedure: str, case: Case) -> Drawing:
    """What `answer` computes on the inputs of `case`; for a class, what its instance computes.

    Raises what the constructor raises; a forward that fails is drawn up to where it failed.
    """
    arguments = [live(argument) for argument in case.args]
    if procedure == "class":
        answer = answer(**case.init) if isinstance(case.init, dict) else answer(*case.init)
        # Parts of other names keep their own weights: the picture shows the structure, not the numbers.
        with contextlib.suppress(WrongParts):
            load_weights(answer, case.weights)
    return draw(answer, *arguments, **{name: live(value) for name, value in case.kwargs.items()})


def case_to_draw(cases) -> Case | None:
    """The case on which an exercise's answers are drawn: the first that is answered, called without keywords."""
    return next((case for case in cases if not case.raises and not case.kwargs), None)
