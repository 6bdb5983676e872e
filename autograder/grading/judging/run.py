"""Runs one submission in its sandboxes, and judges it from outside."""

import json
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from autograder.errors import place_of
from autograder.exercises import find
from autograder.exercises.own import use_packed
from autograder.grading.judging.patience import Patience
from autograder.grading.judging.questions import Questions, Stopped, as_tensor, stopped_cell
from autograder.grading.judging.reruns import Rerun
from autograder.grading.judging.results import Failed, Result
from autograder.grading.judging.untrusted_records import ProcessEnded, Reply
from autograder.grading.safe.outputs import Shown
from autograder.grading.sandbox.sandbox import why_no_sandbox
from autograder.grading.submission.limited import Broke
from autograder.grading.submission.suspicious_code import some_of
from autograder.grading.submission.unit import Step, Unit
from autograder.grading.worker.allowance import USUAL, Allowance
from autograder.grading.worker.answer_graph import case_to_draw
from autograder.grading.worker.fork_server import ForkServer, ForkServerDied, shared_fork_server
from autograder.grading.worker.session import Ended, Session, retry_isolated
from autograder.judge import RULE, Verdict, unable_to_run
from autograder.schema.exercise import Rules
from autograder.schema.packed import pack_cases
from autograder.untrusted import as_text
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED

LARGEST_GRAPH = 1_000_000
LONGEST_PLACE = 200
NOT_RERUN = "does not give the same numbers when its steps are run again ({})"
OPERATIONS_UNKNOWN = (
    "Your notebook uses the checker's own modules ({}), so the checker cannot tell which operations it uses."
)


@dataclass(frozen=True)
class HowToRun:
    """Settings for all units (submissions to run, see submission/unit.py) of a class: the course's secret,
    whether to use sandboxes, the limits of each unit, and the files of the instructor's own exercises, which
    must be sent to graders on other machines.
    """

    secret: str
    sandboxed: bool = True
    allowance: Allowance = USUAL
    own: dict[str, str] = field(default_factory=dict)


def failure(error: Exception) -> Failed:
    """Return a Failed that describes an exception that stopped a submission from being read, run or judged.
    It says whether the machine or the autograder is at fault.
    """
    if isinstance(error, Broke):
        return Failed(str(error), error.trace, ours=True)
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, (OSError, MemoryError, ForkServerDied)):
        return Failed(" ".join(str(error).split()) or type(error).__name__, trace)
    return Failed(place_of(error), trace, ours=True)


def run_there(unit: Unit, how: HowToRun) -> Result:
    """Run a unit that was sent from another machine: install the instructor's own exercises that came with
    it, then call `run_here`.
    """
    if use_packed(how.own):
        _questions.cache_clear()
    return run_here(unit, how)


def run_here(unit: Unit, how: HowToRun, hidden: tuple[Path, ...] = ()) -> Result:
    """Call `run_unit` with this process's shared fork server. Raises OSError if a sandbox is required and
    cannot be made.
    """
    if how.sandboxed and (why := why_no_sandbox()):
        raise OSError(f"students' code is not run without a sandbox: {why}")
    try:
        return run_unit(unit, how, shared_fork_server(), hidden)
    except ForkServerDied:
        shared_fork_server.cache_clear()
        raise


def run_unit(unit: Unit, how: HowToRun, server: ForkServer, hidden: tuple[Path, ...] = ()) -> Result:
    """Run a submission and return its result. `hidden` are folders that its code must not see. Raises
    ForkServerDied or OSError.

    subtle: the submission is run twice, each time in a separate sandbox. Hidden cases go only into the first,
    whose output is never shown; everything that is shown comes from the second. An answer can therefore leak
    information about hidden cases only through its verdict, its running time, and counters in the kernel.
    """
    run, until = _Run(unit, how), time.monotonic() + how.allowance.whole
    for part in (run.judge_hidden_cases, run.judge_visible_cases):

        def attempt(isolated: bool, part: Callable = part) -> None:
            left = replace(how.allowance, whole=max(1.0, until - time.monotonic()))
            with run.timed("sandbox"):
                session = Session(server, how.sandboxed, left, hidden)
            with session:
                part(session, isolated)

        try:
            retry_isolated(attempt, run.patience.needs_isolation)
        except Ended as ended:
            run.result.problem = str(ended)
    earned = [
        name
        for name, verdict in run.result.verdicts.items()
        if find(name).rules != Rules() and verdict.points
    ]
    failed = [find(name).name for name in run.failed_reruns if name in earned]
    notes = [NOT_RERUN.format(some_of(failed))] if failed else []
    run.result.review_note = unit.suspicion.text(earned, notes)
    return run.result


class _Run:
    """Runs one submission and collects its result."""

    def __init__(self, unit: Unit, how: HowToRun):
        self.unit, self.how, self.result = unit, how, Result()
        self.hidden_replies: dict[str, Reply | ProcessEnded | None] = {}
        self.reruns: dict[str, Verdict | None] = {}
        self.patience = Patience(how.allowance)
        self._judged: dict[tuple[str, bool], Verdict] = {}

    def judge_hidden_cases(self, session: Session, isolated: bool) -> None:
        """Run the cells in order and, at each check, the hidden cases of its answer; store the replies."""
        for step in self.unit.steps:
            if step.kind == "run":
                with self.timed("cells"):
                    self._outputs_of(step, session)
            elif step.kind == "check":
                with self.timed("checks"):
                    questions = _questions(step.text, self.how.secret)
                    self.hidden_replies[step.text] = self._asked(step, questions, session, isolated)

    def judge_visible_cases(self, session: Session, isolated: bool) -> None:
        """Run the cells again, and store their outputs, the verdicts and the graphs. Before any code of the
        submission runs in this session, rerun the programs of the answers that earned points in the hidden
        cases.
        """
        with self.timed("checks"):
            self._rerun(session)
        shown, stopped = Shown(), None
        for step in self.unit.steps:
            if step.kind == "run":
                with self.timed("cells"):
                    outputs = self._outputs_of(step, session)
                self.result.outputs[step.cell], stopped = shown.plain_outputs(outputs), stopped_cell(outputs)
            elif step.kind == "check" and step.text in self.hidden_replies:
                with self.timed("checks"):
                    verdict = self._worse_of_visible_and_hidden(step, session, isolated, stopped)
                    self.result.verdicts[step.text] = verdict
                with self.timed("graphs"):
                    self._keep_graph(step, verdict, session)

    def _outputs_of(self, step: Step, session: Session) -> list[dict]:
        """Run a cell, and return its outputs as the process sent them. Raises Ended if the process has ended
        or must be ended.
        """
        with self._remembered(step):
            outputs = session.cell(step.text, self.patience.of(step))
        stopped = stopped_cell(outputs)
        if stopped and stopped.type == "OutOfTime":
            self.patience.cell_stopped(step)
        return outputs

    def _asked(
        self, step: Step, questions: Questions, session: Session, isolated: bool
    ) -> Reply | ProcessEnded | None:
        """Run the cases of a check, and return the reply. Raises Ended if the submission's process has ended
        or must be ended.
        """
        with self._remembered(step):
            reply = questions.ask(session, isolated, self.patience.of(step))
        self.patience.answered(questions, reply)
        return reply

    @contextmanager
    def _remembered(self, step: Step) -> Iterator[None]:
        try:
            yield
        except Ended as ended:
            self.patience.ended(step, ended)
            raise

    def _keep_graph(self, step: Step, verdict: Verdict, session: Session) -> None:
        """Draw the graph of the answer, if it is a module, on a visible case, and store it as unchecked plain
        data. If that fails although the answer itself runs, store the reason.
        """
        questions = _questions(verdict.exercise, None)
        case = case_to_draw(questions.cases)
        if questions.exercise.procedure != "class" or case is None:
            return
        case_data, limits = as_tensor(pack_cases([case])), self.patience.of_graph(step)
        reply = session.graph(questions.exercise.name, "class", case_data, limits)
        if _is_small_dict(reply.get("graph")):
            self.result.graphs[verdict.exercise] = reply["graph"]
        elif verdict.state not in (NOT_STARTED, DOES_NOT_RUN) and reply.get("raised") != "":
            self.result.missing_graphs[verdict.exercise] = _why_no_graph(reply)

    def _rerun(self, session: Session) -> None:
        asked = {}
        for name, reply in self.hidden_replies.items():
            request = _rerun_of(name, self.how.secret).request(reply)
            if request is not None and self._judged_hidden(name, in_words=False).points:
                asked[name] = request
        done = session.rerun(list(asked.values())) if asked else None
        for number, name in enumerate(asked):
            self.reruns[name] = _rerun_of(name, self.how.secret).verdict(done[number]) if done else None

    @property
    def failed_reruns(self) -> list[str]:
        """The exercises whose programs could not be rerun, or gave wrong numbers when they were rerun."""
        return [
            name for name, verdict in self.reruns.items() if verdict is None or _has_wrong_numbers(verdict)
        ]

    def _worse_of_visible_and_hidden(
        self, step: Step, session: Session, isolated: bool, stopped: Stopped | None
    ) -> Verdict:
        """Return the verdict on the visible cases or on the hidden cases, whichever has fewer points.
        `stopped` is the error of the cell above the check.

        There are more hidden cases than visible ones, of the same families, so an answer that passes the
        hidden cases is taken to pass the visible ones. Otherwise the visible cases are judged as well,
        because messages about them may show numbers.
        """
        hidden = self._hidden_verdict(step.text, in_words=False)
        if hidden.passed:
            return hidden
        questions = _questions(step.text, None)
        visible = questions.verdict(self._asked(step, questions, session, isolated), stopped)
        if visible.points <= hidden.points:
            return visible
        return replace(self._hidden_verdict(step.text), hidden=True)

    def _hidden_verdict(self, exercise_id: str, in_words: bool = True) -> Verdict:
        rerun = self.reruns.get(exercise_id)
        if rerun is not None and rerun.mistake == RULE:
            return rerun
        verdict = self._judged_hidden(exercise_id, in_words)
        return self._zero_if_observer_untrusted(verdict)

    def _judged_hidden(self, exercise_id: str, in_words: bool) -> Verdict:
        """Return the judge's verdict on the hidden cases alone. It is cached because more than one method
        needs it.
        """
        key = exercise_id, in_words
        if key not in self._judged:
            reply = self.hidden_replies[exercise_id]
            self._judged[key] = _questions(exercise_id, self.how.secret).verdict(reply, in_words=in_words)
        return self._judged[key]

    def _zero_if_observer_untrusted(self, verdict: Verdict) -> Verdict:
        """Return the verdict, or a verdict with no points if the exercise has rules of form and the notebook
        could have tampered with the code that observes the answer's operations.
        """
        exercise, modules = find(verdict.exercise), self.unit.suspicion.grader
        if exercise.rules == Rules() or not modules or verdict.points == 0:
            return verdict
        said = OPERATIONS_UNKNOWN.format(", ".join(modules))
        return unable_to_run(exercise, f"{said}\nWhat does your answer need them for?")

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the wall time of the block to the seconds of this part in the result."""
        began, seconds = time.monotonic(), self.result.seconds
        try:
            yield
        finally:
            seconds[part] = seconds.get(part, 0.0) + time.monotonic() - began


def _is_small_dict(graph: object) -> bool:
    try:
        return isinstance(graph, dict) and len(json.dumps(graph)) <= LARGEST_GRAPH
    except (TypeError, ValueError, RecursionError):
        return False


def _why_no_graph(reply: dict) -> str:
    """Return the reason why there is no graph. Text that the student's process sent is quoted and escaped."""
    if raised := as_text(reply.get("raised"), LONGEST_PLACE):
        return f"{raised!a} while it was drawn"
    if type(status := reply.get("ended")) is int:
        return f"its process ended with status {status}"
    return f"what was sent is not a dict of at most {LARGEST_GRAPH} characters"


def _has_wrong_numbers(verdict: Verdict) -> bool:
    return not verdict.passed and verdict.mistake != RULE


@cache
def _rerun_of(exercise_id: str, secret: str) -> Rerun:
    return Rerun(_questions(exercise_id, secret), secret)


@cache
def _questions(exercise_id: str, secret: str | None) -> Questions:
    """Return the questions of an exercise: hidden ones if there is a `secret`, otherwise visible ones. The
    questions are cached, so that each process computes the expected results only once for all submissions.
    """
    return Questions(exercise_id) if secret is None else Questions(exercise_id, secret, hidden=True)
