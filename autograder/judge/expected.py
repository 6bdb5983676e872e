"""The judge's own records: the expected results, and the results of each known mistake.

The probe that records the student's answer records the exercise's reference (in float64) and its mistakes (in the
case's own type, because some mistakes are mistakes of rounding). For an exercise that is recorded data, this was done
when it was recorded.
"""

import threading
import warnings
from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

import torch

from autograder.judge.findings import output_is_right, wrong_cases
from autograder.judge.procedures import results
from autograder.probe import probe
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.schema.mistake import Mistake
from autograder.schema.recorded import Recorded, RecordedExercise
from autograder.values import Record
from autograder.values.store import Stored

SECONDS_PER_CALL = 20.0
# subtle: a probe changes settings of the whole process (random streams, prints), and graders judge in threads.
ONE_AT_A_TIME = threading.RLock()

Run = tuple[list[Record], set[int]]  # the records of a wrong answer, and the numbers of the cases in which it is wrong
P = ParamSpec("P")
T = TypeVar("T")


def expected_on(exercise: Exercise, cases: list[Case]) -> "Expected":
    """The expected records in these cases; for a recorded exercise, in its recorded cases."""
    return (RecordedExpected if isinstance(exercise, RecordedExercise) else Expected)(exercise, cases)


def _once(make: Callable[P, T]) -> Callable[P, T]:
    """Keeps the results of a method by its arguments, in the object's `_made`."""

    @wraps(make)
    def kept(*args: P.args, **kwargs: P.kwargs) -> T:
        expected: Any = args[0]
        key = (make.__name__, *args[1:])
        if key not in expected._made:
            expected._made[key] = make(*args, **kwargs)
        return expected._made[key]

    return kept


class Expected:
    """Records of the reference and of the mistakes of one exercise on given cases, each made once, on demand.

    A run of all cases is expensive: `output` and `output_of_pair` take one case and the output only, so that most
    mistakes can be ruled out without a run. If there is a run already, they take the output from it: known mistakes
    give the same in one case alone as among all cases.
    """

    def __init__(self, exercise: Exercise, cases: list[Case]):
        self.exercise, self.cases = exercise, cases
        self._made: dict[tuple, Any] = {}

    @cached_property
    def right(self) -> list[Record]:
        """The expected records."""
        return self.records_of(self.exercise.reference, dtype=torch.float64)

    @_once
    def mistake(self, number: int) -> Run:
        """The run of a known mistake."""
        return self._run(self.exercise.mistakes[number].answer)

    @_once
    def pair(self, first: int, second: int) -> Run:
        """The run of an answer with two mistakes."""
        return self._run(self.exercise.with_both(first, second))

    @_once
    def output(self, number: int, case: int) -> Record:
        """The record of a known mistake in one case, with its output only."""
        if run := self._made.get(("mistake", number)):
            return _output_only(run[0][case])
        return self._output(self.exercise.mistakes[number].answer, case)

    @_once
    def output_of_pair(self, first: int, second: int, case: int) -> Record:
        """The record of an answer with two mistakes in one case, with its output only."""
        if run := self._made.get(("pair", first, second)):
            return _output_only(run[0][case])
        return self._output(self.exercise.with_both(first, second), case)

    @_once
    def one_record(self, number: int, case: int) -> Record:
        """The whole record of a known mistake in one case."""
        if run := self._made.get(("mistake", number)):
            return run[0][case]
        return self.records_of(self.exercise.mistakes[number].answer, cases=[self.cases[case]])[0]

    @_once
    def shows(self, number: int, case: int) -> bool:
        """Whether the output of a known mistake is wrong in one case."""
        return not self.is_right(case, self.output(number, case))

    def is_right(self, case: int, record: Record) -> bool:
        """Whether the output in a record of one case is right."""
        return output_is_right(self.exercise, self.cases[case], self.right[case], record)

    @property
    def mistakes(self) -> list[tuple[Mistake, list[Record]]]:
        """(mistake, its records) for every known mistake. (Several may have one id.)"""
        return [(mistake, self.mistake(number)[0]) for number, mistake in enumerate(self.exercise.mistakes)]

    @property
    def mistaken(self) -> list[set[int]]:
        """The numbers of the cases in which each known mistake is wrong."""
        return [self.mistake(number)[1] for number in range(len(self.exercise.mistakes))]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of every two mistakes that can be made at once."""
        return self.exercise.pairs

    def wrong_cases(self, records: list[Record]) -> set[int]:
        """The numbers of the cases whose records have a fault."""
        return wrong_cases(self.exercise, self.cases, self.right, records)

    def records_of(
        self, answer: Callable, dtype: torch.dtype | None = None, cases: list[Case] | None = None
    ) -> list[Record]:
        """The records of an answer of our own, on all cases or some of them."""
        return self._probe(answer, self.cases if cases is None else cases, dtype)

    def _run(self, answer: Callable) -> Run:
        records = self.records_of(answer)
        return records, self.wrong_cases(records)

    def _output(self, answer: Callable, case: int) -> Record:
        return self._probe(answer, [self.cases[case]], output_only=True)[0]

    def _probe(
        self, answer: Callable, cases: list[Case], dtype: torch.dtype | None = None, output_only: bool = False
    ) -> list[Record]:
        procedure = self.exercise.procedure
        with ONE_AT_A_TIME, warnings.catch_warnings():
            # Warnings of our own answers concern nobody, and in a grader's thread the probe does not drop them.
            warnings.simplefilter("ignore")
            records = probe(answer, cases, procedure, dtype, SECONDS_PER_CALL, output_only, watched=False)
            return results(procedure, cases, records, dtype)


class RecordedExpected(Expected):
    """The same from the records of the visible cases (see autograder.bundle.records).

    Parts of a file have numbers: a record is {"status": ..., "steps": {name: number of its value}, ...}.
    """

    @property
    def _files(self) -> Recorded:
        assert isinstance(self.exercise, RecordedExercise) and self.exercise.records is not None
        return self.exercise.records

    @cached_property
    def right(self) -> list[Record]:
        file = self._files.alone
        return [_record(file, number) for number in file.value["right"]]

    @_once
    def mistake(self, number: int) -> Run:
        return _stored_run(self._files.alone, self._files.alone.value["mistakes"][number])

    @_once
    def pair(self, first: int, second: int) -> Run:
        return _stored_run(self._files.pairs, self._run_of_pair(first, second))

    @_once
    def output(self, number: int, case: int) -> Record:
        file = self._files.alone
        return _restored(file, _output_only(file.part(file.value["mistakes"][number]["records"][case])))

    @_once
    def output_of_pair(self, first: int, second: int, case: int) -> Record:
        file = self._files.pairs
        return _restored(file, _output_only(file.part(self._run_of_pair(first, second)["records"][case])))

    @_once
    def one_record(self, number: int, case: int) -> Record:
        file = self._files.alone
        return _record(file, file.value["mistakes"][number]["records"][case])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        return [(first, second) for first, second in self._files.pairs.value["pairs"]]

    def _run_of_pair(self, first: int, second: int) -> dict[str, list]:
        return self._files.pairs.value["runs"][self._numbers[first, second]]

    @cached_property
    def _numbers(self) -> dict[tuple[int, int], int]:
        return {pair: number for number, pair in enumerate(self.pairs)}


def _stored_run(file: Stored, run: dict[str, list]) -> Run:
    return [_record(file, number) for number in run["records"]], set(run["wrong"])


def _record(file: Stored, number: int) -> Record:
    return _restored(file, file.part(number))


def _restored(file: Stored, record: Record) -> Record:
    return record | {"steps": {name: file.part(step) for name, step in record["steps"].items()}}


def _output_only(record: Record) -> Record:
    """The record as the probe makes it with `output_only`."""
    if "output" not in record["steps"]:
        return record
    return {"status": "answered", "steps": {"output": record["steps"]["output"]}}
