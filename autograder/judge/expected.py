"""What is due, and what each known mistake gives: the judge's own records.

They are made by the same probe that records the student's answer, from the exercise's reference (in float64)
and from its mistakes (in the case's own type, because some mistakes are mistakes of rounding). Where the exercise
is recorded data, all of this was done when it was recorded.
"""

import threading
import warnings
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import torch

from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.recorded import RecordedExercise
from autograder.judge.findings import output_is_right, wrong_cases
from autograder.probe import probe
from autograder.probe.build import live
from autograder.probe.run import tensors_of

SECONDS_PER_CALL = 20.0
# subtle: a probe changes settings of the whole process (random streams, prints), and graders judge in threads.
ONE_AT_A_TIME = threading.RLock()


def expected_on(exercise: Exercise, cases: list[Case]) -> "Expected":
    """What is due in these cases; of a recorded exercise, in its recorded cases."""
    return (ExpectedAsRecorded if isinstance(exercise, RecordedExercise) else Expected)(exercise, cases)


class Expected:
    """Records of the reference and of the mistakes of one exercise on given cases, each made once, when asked for.

    A whole run is dear: `output` and `output_of_both` look at one case and at the output alone, so that most
    mistakes can be ruled out without one. Where there is one already, it is what they look at: known mistakes do
    in one case by itself what they do among all.
    """

    def __init__(self, exercise: Exercise, cases: list[Case]):
        self.exercise, self.cases = exercise, cases
        self._made = {}

    def _once(self, make, *key):
        if (make.__name__, *key) not in self._made:
            self._made[make.__name__, *key] = make(*key)
        return self._made[make.__name__, *key]

    @cached_property
    def right(self) -> list[dict]:
        """What is due."""
        return self.records_of(self.exercise.reference, dtype=torch.float64)

    def mistake(self, number: int) -> tuple[list[dict], set[int]]:
        """The records of a known mistake, and the numbers of the cases in which it is wrong."""
        return self._once(self._mistake, number)

    def _mistake(self, number):
        records = self.records_of(self.exercise.mistakes[number].answer)
        return records, self.wrong_cases(records)

    def output(self, number: int, case: int) -> dict:
        """What a known mistake returns in one case: a record without what follows."""
        return self._once(self._output, number, case)

    def _output(self, number, case):
        if run := self._made.get(("_mistake", number)):
            return _briefly(run[0][case])
        return self._returned(self.exercise.mistakes[number].answer, case)

    def alone(self, number: int, case: int) -> dict:
        """The whole record of a known mistake in one case."""
        return self._once(self._alone, number, case)

    def _alone(self, number, case):
        if run := self._made.get(("_mistake", number)):
            return run[0][case]
        answer = self.exercise.mistakes[number].answer
        return self.records_of(answer, cases=[self.cases[case]])[0]

    def output_of_both(self, first: int, second: int, case: int) -> dict:
        """The same of an answer with two mistakes."""
        return self._once(self._output_of_both, first, second, case)

    def _output_of_both(self, first, second, case):
        if run := self._made.get(("_pair", first, second)):
            return _briefly(run[0][case])
        return self._returned(self.both(first, second), case)

    def shows(self, number: int, case: int) -> bool:
        """Whether what a known mistake returns is wrong in one case."""
        return self._once(self._shows, number, case)

    def _shows(self, number, case):
        return not self.is_returned(case, self.output(number, case))

    def is_returned(self, case: int, record: dict) -> bool:
        """Whether what a record holds as the output of one case is what is due."""
        return output_is_right(self.exercise, self.cases[case], self.right[case], record)

    def pair(self, first: int, second: int) -> tuple[list[dict], set[int]]:
        """The records of an answer with two mistakes, and the numbers of the cases in which it is wrong."""
        return self._once(self._pair, first, second)

    def _pair(self, first, second):
        records = self.records_of(self.both(first, second))
        return records, self.wrong_cases(records)

    @property
    def mistakes(self) -> list[tuple]:
        """(mistake, its records) for every known mistake. (One id may stand for several.)"""
        return [(mistake, self.mistake(number)[0]) for number, mistake in enumerate(self.exercise.mistakes)]

    @property
    def mistaken(self) -> list[set[int]]:
        """The numbers of the cases in which each known mistake is wrong."""
        return [self.mistake(number)[1] for number in range(len(self.exercise.mistakes))]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of every two mistakes that can be made at once."""
        if self.exercise.variant is None:
            return []
        changing = [
            (i, mistake.changes) for i, mistake in enumerate(self.exercise.mistakes) if mistake.changes
        ]
        return [
            (first, second)
            for (first, some), (second, others) in combinations(changing, 2)
            if not set(some) & set(others)
        ]

    def both(self, first: int, second: int):
        """An answer with both mistakes."""
        some, others = (self.exercise.mistakes[number].changes for number in (first, second))
        return self.exercise.variant(**some, **others)

    def wrong_cases(self, records: list[dict]) -> set[int]:
        """The numbers of the cases in which something in `records` is wrong."""
        return wrong_cases(self.exercise, self.cases, self.right, records)

    def records_of(self, answer, dtype=None, cases: list[Case] | None = None) -> list[dict]:
        """The records of an answer of our own, on all cases or some of them."""
        return self._probe(answer, self.cases if cases is None else cases, dtype)

    def _returned(self, answer, case):
        return self._probe(answer, [self.cases[case]], briefly=True)[0]

    def _probe(self, answer, cases, dtype=None, briefly=False):
        # Nobody asks which operations an answer of our own uses.
        cases = [replace(case, observe=False) if case.observe else case for case in cases]
        with ONE_AT_A_TIME, warnings.catch_warnings():
            # Of ours, so nobody's business; in a grader's thread the probe itself does not silence them.
            warnings.simplefilter("ignore")
            return probe(answer, cases, self.exercise.procedure, dtype, SECONDS_PER_CALL, briefly=briefly)


class ExpectedAsRecorded(Expected):
    """The same from what was recorded with the visible cases (see autograder.bundle.records).

    Parts of a file have numbers: a record is {"status": ..., "steps": {name: number of its value}, ...}.
    """

    @cached_property
    def right(self):
        file = self.exercise.records.alone
        return [_record(file, number) for number in file.value["right"]]

    def _mistake(self, number):
        file = self.exercise.records.alone
        return _run(file, file.value["mistakes"][number])

    def _output(self, number, case):
        file = self.exercise.records.alone
        return _output(file, file.value["mistakes"][number]["records"][case])

    def _alone(self, number, case):
        file = self.exercise.records.alone
        return _record(file, file.value["mistakes"][number]["records"][case])

    @cached_property
    def pairs(self):
        return [tuple(pair) for pair in self.exercise.records.pairs.value["pairs"]]

    @cached_property
    def _number_of_pair(self):
        return {pair: number for number, pair in enumerate(self.pairs)}

    def _pair(self, first, second):
        file = self.exercise.records.pairs
        return _run(file, file.value["runs"][self._number_of_pair[first, second]])

    def _output_of_both(self, first, second, case):
        file = self.exercise.records.pairs
        run = file.value["runs"][self._number_of_pair[first, second]]
        return _output(file, run["records"][case])


def _run(file, run):
    return [_record(file, number) for number in run["records"]], set(run["wrong"])


def _record(file, number):
    return _with_steps(file, file.part(number))


def _output(file, number):
    return _with_steps(file, _briefly(file.part(number)))


def _with_steps(file, record):
    return record | {"steps": {name: file.part(step) for name, step in record["steps"].items()}}


def _briefly(record):
    """The record as `_returned` gives it."""
    if "output" not in record["steps"]:
        return record
    return {"status": "answered", "steps": {"output": record["steps"]["output"]}}


def arguments_as_given(case: Case) -> dict[str, torch.Tensor]:
    """Every tensor among a case's arguments, by the names the probe uses."""
    return tensors_of(tuple(live(arg) for arg in case.args), {k: live(v) for k, v in case.kwargs.items()})
