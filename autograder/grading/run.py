"""Runs one unit in its sandbox, and judges it from outside."""

import json
import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from autograder.exercises import find
from autograder.exercises.exercise import Rules
from autograder.grading.drawn import case_to_draw
from autograder.grading.outputs import Shown
from autograder.grading.questions import Questions, as_tensor, error_in
from autograder.grading.results import Result
from autograder.grading.session import USUAL, Allowance, Ended, Session, again_with_care
from autograder.grading.template import Template
from autograder.grading.unit import Unit
from autograder.judge import Verdict, unable_to_run
from autograder.probe.wire import pack_cases

LARGEST_GRAPH = 1_000_000
OPERATIONS_UNKNOWN = "Your notebook uses the checker's own modules ({}), so nobody can tell which operations it uses."


def run_unit(
    unit: Unit,
    secret: str,
    template: Template,
    sandboxed: bool = True,
    allowance: Allowance = USUAL,
    hidden: tuple[Path, ...] = (),
) -> Result:
    """The result of one submission. Raises TemplateDied or OSError where the machine is the cause.

    subtle: it is run twice, each time in a sandbox of its own. Hidden cases go into the first, of which nothing is
    shown; what is shown comes out of the second. So an answer can tell nobody what it saw of a hidden case.
    """
    result, verdicts, until = Result(look=unit.reach.in_words), {}, time.monotonic() + allowance.whole

    def opened():
        left = replace(allowance, whole=max(1.0, until - time.monotonic()))
        with _timed(result, "sandbox"):
            return Session(template, sandboxed, left, hidden)

    for ask in (_ask_hidden_cases, _show):

        def run(alone, ask=ask):
            with opened() as session:
                ask(unit, session, secret, alone, result, verdicts)

        try:
            again_with_care(run)
        except Ended as ended:
            result.problem = str(ended)
    return result


def _ask_hidden_cases(
    unit: Unit, session: Session, secret: str, alone: bool, result: Result, verdicts: dict
) -> None:
    """Puts the hidden cases to every answer, in its place among the cells."""
    for step in unit.steps:
        if step.kind == "run":
            with _timed(result, "cells"):
                session.cell(step.text)
        elif step.kind == "check":
            with _timed(result, "checks"):
                verdicts[step.text] = _as_far_as_known(unit, _questions(step.text, secret).put_to(session, alone))


def _as_far_as_known(unit: Unit, verdict: Verdict) -> Verdict:
    """The verdict, but for rules of form that nobody can see kept."""
    exercise = find(verdict.exercise)
    if exercise.rules == Rules() or not unit.reach.grader or verdict.points == 0:
        return verdict
    names = ", ".join(unit.reach.grader)
    return unable_to_run(exercise, f"{OPERATIONS_UNKNOWN.format(names)}\nWhat does your answer need them for?")


def _show(
    unit: Unit, session: Session, secret: str, alone: bool, result: Result, verdicts: dict
) -> None:
    """Keeps what cells show, the verdicts, and the graphs."""
    shown, stopped = Shown(), None
    for step in unit.steps:
        if step.kind == "run":
            with _timed(result, "cells"):
                outputs = session.cell(step.text)
            result.outputs[step.cell], stopped = shown.plain_outputs(outputs), error_in(outputs)
        elif step.kind == "check" and step.text in verdicts:
            with _timed(result, "checks"):
                verdict, where = _verdict(step.text, session, alone, verdicts[step.text], stopped)
                result.verdicts[step.text] = asdict(verdict) | {"hidden": where}
            with _timed(result, "graphs"):
                if graph := _graph(step.text, session):
                    result.graphs[step.text] = graph


def _verdict(
    exercise_id: str, session: Session, alone: bool, hidden: Verdict, stopped: dict | None
) -> tuple[Verdict, bool]:
    """The verdict with fewer points of the visible and the hidden check, and whether it is the hidden one.
    `stopped` is the error of the cell above the check.

    The hidden cases are more, of the same families: who passes them passes the visible ones. Else the visible
    check is made as well, because its words may show numbers.
    """
    if hidden.passed:
        return hidden, False
    visible = _questions(exercise_id, None).put_to(session, alone, stopped)
    return (visible, False) if visible.points <= hidden.points else (hidden, True)


@contextmanager
def _timed(result: Result, part: str):
    """Adds the wall time of the block to that part of the result."""
    began = time.monotonic()
    try:
        yield
    finally:
        result.seconds[part] = result.seconds.get(part, 0.0) + time.monotonic() - began


def _graph(exercise_id: str, session: Session) -> dict | None:
    """A module's graph on its first visible case, as plain data that nobody has looked at yet."""
    questions = _questions(exercise_id, None)
    case = case_to_draw(questions.cases)
    if questions.exercise.procedure != "class" or case is None:
        return None
    graph = session.graph(questions.exercise.name, "class", as_tensor(pack_cases([case])))
    return graph if _is_small_and_plain(graph) else None


def _is_small_and_plain(graph) -> bool:
    try:
        return isinstance(graph, dict) and len(json.dumps(graph)) <= LARGEST_GRAPH
    except (TypeError, ValueError, RecursionError):
        return False


@cache
def _questions(exercise_id: str, secret: str | None) -> Questions:
    """What is due is computed once in a process, for all submissions."""
    return Questions(exercise_id) if secret is None else Questions(exercise_id, secret, hidden=True)
