"""Runs the recorded programs of an answer again, on other numbers, in a process that has run none of the
answer's code.
"""

from collections.abc import Sequence

from autograder.probe.build import arguments, inputs_of_program, live
from autograder.probe.guard import guarded
from autograder.probe.observe import Usage
from autograder.probe.program import run_program
from autograder.schema.case import Question
from autograder.values import Encoded

SECONDS = 10.0


def rerun(programs: Sequence[bytes], cases: Sequence[Question]) -> list[dict[str, Encoded]]:
    """Return a dict for each program: "output" is its output on the numbers of its case, and "usage" the
    operations that it uses. If the program fails, its dict is empty.
    """
    return [_results(program, case) for program, case in zip(programs, cases, strict=True)]


def _results(program: bytes, case: Question) -> dict[str, Encoded]:
    args, kwargs = arguments(case)
    inputs = inputs_of_program(args, kwargs, None, ()) + [live(value) for value in case.weights.values()]
    usage = Usage()
    output, _ = guarded(lambda: run_program(program, inputs, usage), SECONDS)
    return {} if output is None else {"output": output, "usage": usage.as_data()}
