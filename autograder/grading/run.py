"""Runs one unit in its sandbox, and judges it from outside."""

import time
from dataclasses import asdict
from functools import cache
from pathlib import Path

from autograder.grading.outputs import plain_outputs
from autograder.grading.questions import Questions, as_tensor
from autograder.grading.results import Result
from autograder.grading.session import USUAL, Allowance, Ended, Session
from autograder.grading.template import Template
from autograder.grading.unit import Unit
from autograder.judge import Verdict
from autograder.judge.verdict import PARTLY_RIGHT, RIGHT
from autograder.probe.wire import pack_cases


def run_unit(
    unit: Unit,
    secret: str,
    template: Template,
    sandboxed: bool = True,
    allowance: Allowance = USUAL,
    hidden: tuple[Path, ...] = (),
) -> Result:
    """The result of one submission. Raises TemplateDied or OSError where the machine is the cause."""
    began, result = time.monotonic(), Result()
    try:
        with Session(template, sandboxed, allowance, hidden) as session:
            for step in unit.steps:
                _take(step, session, secret, result)
    except Ended as ended:
        result.problem = str(ended)
    result.seconds = round(time.monotonic() - began, 3)
    return result


def _take(step, session: Session, secret: str, result: Result) -> None:
    if step.kind == "run":
        result.outputs[step.cell] = plain_outputs(session.cell(step.text))
    elif step.kind == "check":
        verdict, where = _verdict(step.text, session, secret)
        result.verdicts[step.text] = asdict(verdict) | {"hidden": where}
        if graph := _graph(step.text, session):
            result.graphs[step.text] = graph


def _verdict(exercise_id: str, session: Session, secret: str) -> tuple[Verdict, bool]:
    """The verdict with fewer points of the visible and the hidden check, and whether it is the hidden one."""
    visible = _questions(exercise_id, None).put_to(session)
    if visible.state not in (RIGHT, PARTLY_RIGHT):
        return visible, False
    hidden = _questions(exercise_id, secret).put_to(session)
    return (hidden, True) if hidden.points < visible.points else (visible, False)


def _graph(exercise_id: str, session: Session) -> dict | None:
    """A module's graph on its first visible case, as plain data that nobody has looked at yet."""
    questions = _questions(exercise_id, None)
    if questions.exercise.procedure != "class":
        return None
    case = next(c for c in questions.cases if not c.raises and not c.kwargs)
    graph = session.graph(questions.exercise.name, "class", as_tensor(pack_cases([case])))
    return graph if isinstance(graph, dict) else None


@cache
def _questions(exercise_id: str, secret: str | None) -> Questions:
    """What is due is computed once in a process, for all submissions."""
    return Questions(exercise_id) if secret is None else Questions(exercise_id, secret, hidden=True)
