"""The questions of one exercise, put to an answer that runs somewhere else."""

import torch

from autograder.exercises import find
from autograder.exercises.values import PUBLIC_SEED
from autograder.grading.records import plain_records, plain_text
from autograder.grading.session import Session
from autograder.judge import Expected, Verdict, cases_of, judge, not_started, unable_to_run
from autograder.probe.wire import pack_cases


class Questions:
    """One exercise's visible or hidden cases, and what is due. Made once, put to many answers.

    Raises UserError for an unknown exercise.
    """

    def __init__(self, exercise_id: str, seed: str = PUBLIC_SEED, hidden: bool = False):
        self.exercise, self.hidden = find(exercise_id), hidden
        self.cases = cases_of(self.exercise, seed, hidden)
        self.expected = Expected(self.exercise, self.cases)
        self._packed = as_tensor(pack_cases(self.cases))

    def put_to(self, session: Session, alone: bool, stopped: dict | None = None) -> Verdict:
        """The verdict on the object of the exercise's name, called in a process of its own where `alone`.
        `stopped` is the error that stopped its file or its cell.

        Raises Ended where the process of the submission is gone.
        """
        reply = session.probe(self.exercise.name, self.exercise.procedure, self._packed, alone)
        try:
            if "ended" in reply:
                return unable_to_run(self.exercise, _ended(int(reply["ended"])))
            if not reply["callable"]:
                return not_started(self.exercise, self._why_missing(reply, stopped))
            records = plain_records(reply["records"], self.exercise, self.cases)
            return judge(self.exercise, self.cases, records, self.hidden, self.expected)
        except Exception:
            # Honest code cannot get here: the records are not what the probe writes.
            return unable_to_run(self.exercise, "What came back from your code could not be read.")

    def _why_missing(self, reply: dict, stopped: dict | None) -> str:
        name = self.exercise.name
        if reply["found"]:
            kind = "" if self.hidden else plain_text(reply["kind"])
            return f"{name} is {f'a {kind}, ' if kind else ''}not something that can be called."
        if stopped is None:
            return f"There is no {name} in the file."
        line = f" in line {stopped['line']}" if stopped.get("line") else ""
        what = plain_text(f"{stopped['type']}: {stopped['text']}")
        return f"There is no {name}: {stopped.get('where', 'the file')} stopped{line} with {what}"


def error_in(outputs: list) -> dict | None:
    """The error that stopped a cell, from its outputs as sent."""
    for output in outputs:
        if isinstance(output, dict) and output.get("output_type") == "error":
            text = str(output.get("evalue")).partition("\n")[0]
            return {"type": str(output.get("ename")), "text": text, "where": "a cell"}
    return None


def _ended(status: int) -> str:
    if status == -9:
        return "Your code was still running after a minute, and was stopped."
    return (
        f"Your code ended the Python process before it could be judged (exit status {status}).\n"
        "Does it call exit, or use up all memory?"
    )


def as_tensor(data: bytes) -> torch.Tensor:
    """Bytes as a tensor, which is how they travel in a message."""
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)
