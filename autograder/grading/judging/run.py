"""Runs one submission in its sandboxes, and judges it from outside."""

import json
import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from autograder.exercises import find
from autograder.grading.judging.questions import Questions, as_tensor, error_in
from autograder.grading.judging.results import Result
from autograder.grading.safe.outputs import Shown
from autograder.grading.submission.unit import Unit
from autograder.grading.worker.answer_graph import case_to_draw
from autograder.grading.worker.fork_server import ForkServer
from autograder.grading.worker.session import USUAL, Allowance, Ended, Session, retry_isolated
from autograder.judge import Verdict, unable_to_run
from autograder.judge.verdict import verdict_from
from autograder.schema.exercise import Rules
from autograder.values.pack import pack_cases

LARGEST_GRAPH = 1_000_000
OPERATIONS_UNKNOWN = "Your notebook uses the checker's own modules ({}), so nobody can tell which operations it uses."


def run_unit(
    unit: Unit,
    secret: str,
    server: ForkServer,
    sandboxed: bool = True,
    allowance: Allowance = USUAL,
    hidden: tuple[Path, ...] = (),
) -> Result:
    """The result of one submission. `hidden` are folders that its code must not see.
    Raises ForkServerDied or OSError if the machine is the cause.

    subtle: it is run twice, each time in a sandbox of its own. Hidden cases go into the first, of which nothing is
    shown; all that is shown comes out of the second. So an answer can tell nobody what it saw of a hidden case.
    """
    run, until = _Run(unit, secret), time.monotonic() + allowance.whole
    for part in (run.judge_hidden_cases, run.judge_visible_cases):

        def attempt(isolated, part=part):
            left = replace(allowance, whole=max(1.0, until - time.monotonic()))
            with run.timed("sandbox"):
                session = Session(server, sandboxed, left, hidden)
            with session:
                part(session, isolated)

        try:
            retry_isolated(attempt)
        except Ended as ended:
            run.result.problem = str(ended)
    run.result.look = unit.suspicion.text(run.earned_under_a_rule())
    return run.result


class _Run:
    """One submission on its way to a result."""

    def __init__(self, unit: Unit, secret: str):
        self.unit, self.secret, self.result = unit, secret, Result()
        self.hidden_verdicts: dict[str, Verdict] = {}

    def judge_hidden_cases(self, session: Session, isolated: bool) -> None:
        """Asks the hidden cases of every answer, in its place among the cells."""
        for step in self.unit.steps:
            if step.kind == "run":
                with self.timed("cells"):
                    session.cell(step.text)
            elif step.kind == "check":
                with self.timed("checks"):
                    verdict = _questions(step.text, self.secret).ask(session, isolated)
                    self.hidden_verdicts[step.text] = self._without_unseen_rules(verdict)

    def judge_visible_cases(self, session: Session, isolated: bool) -> None:
        """Keeps the outputs of the cells, the verdicts, and the graphs."""
        shown, stopped = Shown(), None
        for step in self.unit.steps:
            if step.kind == "run":
                with self.timed("cells"):
                    outputs = session.cell(step.text)
                self.result.outputs[step.cell], stopped = shown.plain_outputs(outputs), error_in(outputs)
            elif step.kind == "check" and step.text in self.hidden_verdicts:
                with self.timed("checks"):
                    self.result.verdicts[step.text] = self._lower_verdict(step.text, session, isolated, stopped)
                with self.timed("graphs"):
                    if graph := _graph(step.text, session):
                        self.result.graphs[step.text] = graph

    def _lower_verdict(self, exercise_id: str, session: Session, isolated: bool, stopped: dict | None) -> dict:
        """The verdict with fewer points of the visible and the hidden check, as plain data; "hidden" tells which.
        `stopped` is the error of the cell above the check.

        The hidden cases are more, of the same families: an answer that passes them passes the visible ones. Else the
        visible check is made as well, because its words may show numbers.
        """
        verdict, is_hidden = self.hidden_verdicts[exercise_id], False
        if not verdict.passed:
            visible = _questions(exercise_id, None).ask(session, isolated, stopped)
            is_hidden = visible.points > verdict.points
            verdict = verdict if is_hidden else visible
        return asdict(verdict) | {"hidden": is_hidden}

    def _without_unseen_rules(self, verdict: Verdict) -> Verdict:
        """The verdict; no points under a rule of form if the notebook could have tampered with what observes it."""
        exercise, modules = find(verdict.exercise), self.unit.suspicion.grader
        if exercise.rules == Rules() or not modules or verdict.points == 0:
            return verdict
        said = OPERATIONS_UNKNOWN.format(", ".join(modules))
        return unable_to_run(exercise, f"{said}\nWhat does your answer need them for?")

    def earned_under_a_rule(self) -> list[str]:
        """The exercises under a rule of form in which points were earned."""
        verdicts = self.result.verdicts.items()
        return [name for name, data in verdicts if find(name).rules != Rules() and verdict_from(data).points]

    @contextmanager
    def timed(self, part: str):
        """Adds the wall time of the block to that part of the result."""
        began, seconds = time.monotonic(), self.result.seconds
        try:
            yield
        finally:
            seconds[part] = seconds.get(part, 0.0) + time.monotonic() - began


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
    """Expected results are computed once in a process, for all submissions."""
    return Questions(exercise_id) if secret is None else Questions(exercise_id, secret, hidden=True)
