"""Runs an answer, in another process, on the cases of its exercise, and judges the reply."""

from dataclasses import dataclass

import torch

from autograder.exercises import find
from autograder.grading.judging.untrusted_records import (
    LARGEST_COUNT,
    LONGEST_TEXT,
    ProcessEnded,
    Reply,
    checked_reply,
)
from autograder.grading.worker.session import Limits, Session
from autograder.judge import Expected, Verdict, cases_of, judge, not_started, unable_to_run
from autograder.schema.draw import PUBLIC_SEED
from autograder.schema.packed import pack_cases
from autograder.untrusted import Unreadable, as_text


@dataclass(frozen=True)
class Stopped:
    """The error that stopped a cell or, at `line`, a file. Its `type` and `text` come from the student's
    process and cannot be trusted.
    """

    type: str
    text: str
    line: int | None = None
    in_cell: bool = False


class Questions:
    """One exercise's visible or hidden cases and their expected results. Made once, and used for many
    answers.

    Raises UserError for an unknown exercise.
    """

    def __init__(self, exercise_id: str, seed: str = PUBLIC_SEED, hidden: bool = False):
        self.exercise, self.hidden = find(exercise_id), hidden
        self.cases = cases_of(self.exercise, seed, hidden)
        self.expected = Expected(self.exercise, self.cases)
        self._packed = as_tensor(pack_cases(self.cases))

    def ask(
        self, session: Session, isolated: bool, limits: Limits | None = None
    ) -> Reply | ProcessEnded | None:
        """Look up the exercise's name in the submission, and run the cases on the object found; if
        `isolated`, in a separate process. Return the reply, or None if it cannot be read. Raises Ended if the
        submission's process has ended.
        """
        exercise = self.exercise
        reply = session.probe(exercise.name, exercise.procedure, self._packed, isolated, limits)
        try:
            return checked_reply(reply, self.exercise, self.cases)
        except Unreadable:
            return None

    def verdict(
        self,
        reply: Reply | ProcessEnded | None,
        stopped: Stopped | None = None,
        in_words: bool = True,
        trail: list[str] | None = None,
    ) -> Verdict:
        """Return the verdict on a reply. `stopped` is the error that stopped the answer's file or its cell.
        The steps by which the message was chosen are appended to `trail`. Choosing the message takes most of
        the time; if only the points matter, `in_words=False` skips it.

        Any exception is an error of the autograder, and says nothing about the answer.
        """
        if reply is None:
            return unable_to_run(self.exercise, "What came back from your code could not be read.")
        if isinstance(reply, ProcessEnded):
            return unable_to_run(self.exercise, self._why_ended(reply))
        if not reply.callable:
            is_written = stopped is not None and stopped.in_cell and stopped.type != "NotImplementedError"
            missing = unable_to_run if is_written and not reply.found else not_started
            return missing(self.exercise, self._why_missing(reply, stopped))
        return judge(self.exercise, self.cases, reply.records, self.hidden, self.expected, in_words, trail)

    # Messages about hidden cases contain only our own text: text from the student's process could reveal the case.

    def _why_ended(self, ended: ProcessEnded) -> str:
        if ended.was_stopped:
            return "Your code did not return in time, and was stopped."
        how = "" if self.hidden else f" (exit status {ended.status})"
        return (
            f"Your code ended the Python process before it could be judged{how}.\n"
            "Does it call exit, or use up all memory?"
        )

    def _why_missing(self, reply: Reply, stopped: Stopped | None) -> str:
        name = self.exercise.name
        if reply.found:
            kind = "" if self.hidden else reply.kind
            return f"{name} is {f'a {kind}, which' if kind else 'something that'} cannot be called."
        if stopped is None:
            return f"There is no {name} in the file."
        how = "" if self.hidden else _how_it_stopped(stopped)
        where = "a cell" if stopped.in_cell else "the file"
        return f"There is no {name}: {where} stopped{how or ' before it'}"


def stopped_cell(outputs: list[dict]) -> Stopped | None:
    """Return the error that stopped a cell, or None if no error did. `outputs` are the cell's outputs as the
    student's process sent them.
    """
    error = next(
        (one for one in outputs if isinstance(one, dict) and one.get("output_type") == "error"), None
    )
    if error is None:
        return None
    first_line = as_text(error.get("evalue"), LONGEST_TEXT).partition("\n")[0]
    return Stopped(as_text(error.get("ename"), LONGEST_TEXT), first_line, in_cell=True)


def stopped_file(error: dict | None) -> Stopped | None:
    """Return the error that stopped a Python file, or None if no error did. `error` is the description of the
    error that the student's process sent.
    """
    if error is None:
        return None
    line = error.get("line")
    known = type(line) is int and 0 < line < LARGEST_COUNT
    return Stopped(
        as_text(error.get("type"), LONGEST_TEXT),
        as_text(error.get("text"), LONGEST_TEXT),
        line if known else None,
    )


def _how_it_stopped(stopped: Stopped) -> str:
    line = f" in line {stopped.line}" if stopped.line else ""
    return f"{line} with {stopped.type}: {stopped.text}"


def as_tensor(data: bytes) -> torch.Tensor:
    """Convert bytes to a tensor. Messages to a submission's process carry bytes in this form."""
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)
