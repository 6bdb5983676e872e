"""Reruns the answers' programs with different numbers. A program is the list of steps that
autograder.probe.program recorded while an answer ran. The rerun is further evidence that an answer follows
its exercise's rules of form (such as "no loops").

An answer's process may forge its report about operations, and it may forge the program, too. But the program
is not taken on trust: it is rerun in a process in which no code of the answer has run, on numbers that the
answer has not seen. If the results of the rerun are right, and the program uses only operations that the
rules allow, then the submission does contain a computation of the result that follows the rules.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

from autograder.grading.judging.questions import Questions, as_tensor
from autograder.grading.judging.untrusted_records import ProcessEnded, Reply, checked_records
from autograder.judge import Expected, Verdict, judge
from autograder.judge.other_numbers import with_other_numbers
from autograder.probe.build import states_as_given
from autograder.schema.draw import Draw
from autograder.schema.packed import pack_cases
from autograder.untrusted import Unreadable
from autograder.values.encode import encode


class Rerun:
    """The rerun of one exercise's hidden cases. Made once, and used for all submissions."""

    def __init__(self, questions: Questions, secret: str):
        self.exercise, self._secret, self._asked = questions.exercise, secret, questions.cases
        self._numbers = [number for number, case in enumerate(questions.cases) if case.program]

    @cached_property
    def cases(self) -> list:
        draw = Draw(self.exercise.id, f"{self._secret}/rerun", hidden=True)
        return [
            replace(with_other_numbers(self._asked[number], draw), program=False) for number in self._numbers
        ]

    @cached_property
    def _expected(self) -> Expected:
        return Expected(self.exercise, self.cases)

    @cached_property
    def _packed(self) -> Any:
        return as_tensor(pack_cases(self.cases))

    def request(self, reply: Reply | ProcessEnded | None) -> dict | None:
        """Build the request to rerun the programs in a reply. Return None if this exercise has no case to
        rerun, or if there is no reply from a callable answer.
        """
        if not self._numbers or not isinstance(reply, Reply) or not reply.callable:
            return None
        programs = [
            reply.records[number]["steps"].get("program", {}).get("value") for number in self._numbers
        ]
        return {
            "cases": self._packed,
            "programs": [one if isinstance(one, bytes) else b"" for one in programs],
        }

    def verdict(self, done: Any) -> Verdict | None:
        """Return the verdict on `done`, the results of the programs, or None if they are missing or not in
        the expected form.
        """
        try:
            records = [self._record(one, case) for one, case in zip(done, self.cases, strict=True)]
            records = checked_records(records, self.exercise, self.cases)
        except (Unreadable, TypeError, ValueError, KeyError, AttributeError):
            return None
        return judge(self.exercise, self.cases, records, hidden=True, expected=self._expected, in_words=False)

    def _record(self, one: Any, case: Any) -> dict:
        return {"status": "answered", "steps": {**one, "after": encode(states_as_given(case))}}
