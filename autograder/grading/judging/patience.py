"""Remembers which parts of a submission did not return, so that grading does not wait as long for them again.

An endless loop in one answer also hangs the cells and answers that call it. Each of these has a separate time
limit, and together they would take minutes. Once an answer has failed to return, all code that needs it gets
only a few seconds (Allowance.again).
"""

from autograder.exercises import find
from autograder.grading.judging.questions import Questions
from autograder.grading.judging.untrusted_records import ProcessEnded, Reply
from autograder.grading.submission.unit import Step
from autograder.grading.worker.allowance import Allowance
from autograder.grading.worker.session import Ended, Limits

OUT_OF_TIME = "out of time"


class Patience:
    """The time limits for the steps of one submission. They are shorter for code that has already failed to
    return, and for code that needs it.
    """

    def __init__(self, allowance: Allowance):
        self._allowance = allowance
        self._cells: set[int] = set()  # cells that were stopped
        self._in_cells: set[str] = set()  # names of the answers that those cells need
        self._calls: set[str] = set()  # names of the answers with a call that did not return
        self._probes: set[str] = set()  # names of the answers whose process had to be stopped

    @property
    def needs_isolation(self) -> bool:
        """True if the process of one of the answers had to be stopped."""
        return bool(self._probes)

    def of(self, step: Step) -> Limits:
        """Return the time limits of a step."""
        allowance, needs = self._allowance, set(step.needs)
        if step.kind == "run":
            known = step.cell in self._cells or needs & (self._in_cells | self._calls | self._probes)
            return Limits(min(allowance.cell, allowance.again) if known else allowance.cell)
        call = allowance.again_call if needs & (self._calls | self._probes) else None
        return Limits(
            min(allowance.probe, allowance.again) if needs & self._probes else allowance.probe, call
        )

    def of_graph(self, step: Step) -> Limits:
        """Return the time limits for drawing the graph of the answer that a step checks."""
        limits = self.of(step)
        return limits if limits.call is None else Limits(min(limits.whole, self._allowance.again))

    def cell_stopped(self, step: Step) -> None:
        """Record that the cell of this step was stopped."""
        self._cells.add(step.cell)
        self._in_cells.update(step.needs)

    def answered(self, questions: Questions, reply: Reply | ProcessEnded | None) -> None:
        """Record the exercise's answer as one that did not return, if its process was stopped, or if a call
        ran out of time in a case that is not slow.
        """
        name = questions.exercise.name
        if isinstance(reply, ProcessEnded) and reply.was_stopped:
            self._probes.add(name)
        elif isinstance(reply, Reply):
            asked = zip(reply.records, questions.cases, strict=False)
            # In a slow case even an honest answer may take too long.
            if any(record["status"] == OUT_OF_TIME and not case.slow for record, case in asked):
                self._calls.add(name)

    def ended(self, step: Step, ended: Ended) -> None:
        """Record that the process was stopped in this step because it was late. Record nothing if the process
        ended by itself.
        """
        if ended.was_late and step.kind == "run":
            self.cell_stopped(step)
        elif ended.was_late:
            self._probes.add(find(step.text).name)
