"""The records that the judge compares an answer with: those of the reference and of each known mistake.

The probe that records the student's answer also records the exercise's reference (in float64) and its
mistakes (in the case's own dtype, because some of them are rounding errors). For a recorded exercise, this
was done when the exercise was recorded.
"""

import warnings
from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

import torch

from autograder.errors import OwnFault
from autograder.faults import raise_own_fault
from autograder.isolation import ONE_AT_A_TIME
from autograder.judge.findings import output_is_right, wrong_cases
from autograder.probe import probe
from autograder.schema.case import Case
from autograder.schema.exercise import Exercise
from autograder.schema.recorded import RecordedExercise
from autograder.values import Record
from autograder.values.store import Stored

SECONDS_PER_CALL = 20.0

Run = tuple[
    list[Record], set[int]
]  # the records of a wrong answer, and the numbers of the cases in which it is wrong
P = ParamSpec("P")
T = TypeVar("T")


def expected_on(exercise: Exercise, cases: list[Case]) -> "Expected":
    """Return the `Expected` of an exercise for these cases; for a recorded exercise, return a
    `RecordedExpected`, which reads the records from a file.
    """
    return (RecordedExpected if isinstance(exercise, RecordedExercise) else Expected)(exercise, cases)


def _once(make: Callable[P, T]) -> Callable[P, T]:
    """Cache the results of a method in the object's `_made`, keyed by the method's name and arguments."""

    @wraps(make)
    def kept(*args: P.args, **kwargs: P.kwargs) -> T:
        expected: Any = args[0]
        key = (make.__name__, *args[1:])
        if key not in expected._made:
            expected._made[key] = make(*args, **kwargs)
        return expected._made[key]

    return kept


class Expected:
    """The records of an exercise's reference and mistakes on given cases, each made once, on demand.

    A mistake is given by its number. Running all cases is expensive, so `output` runs a single case and
    records only its output, which rules out most mistakes. If all cases have been run before, the record is
    taken from that run: a known mistake does the same in a case that is run alone as in a run of all cases.
    """

    def __init__(self, exercise: Exercise, cases: list[Case]):
        self.exercise, self.cases = exercise, cases
        self._made: dict[tuple, Any] = {}

    @cached_property
    def right(self) -> list[Record]:
        """The records of the reference, one for each case."""
        records = self.records_of(self.exercise.reference, dtype=torch.float64)
        for case, record in zip(self.cases, records, strict=True):
            if record["status"] != "answered" and not case.raises:
                raise OwnFault(f"{record['status']} in the reference of {self.exercise.id}")
        return records

    @_once
    def run(self, number: int) -> Run:
        """Return the records of a known mistake in all cases, and the numbers of the cases in which it is
        wrong.
        """
        records = self.records_of(self.exercise.mistakes[number].answer)
        return records, self.wrong_cases(records)

    @_once
    def output(self, case: int, number: int) -> Record:
        """Return the record of a known mistake in one case; it may hold nothing but the output."""
        return self._record(case, number, output_only=True)

    @_once
    def record(self, case: int, number: int) -> Record:
        """Return the whole record of a known mistake in one case."""
        return self._record(case, number)

    @_once
    def shows(self, case: int, number: int) -> bool:
        """Return whether the output of a known mistake is wrong in one case."""
        return not self.is_right(case, self.output(case, number))

    def is_right(self, case: int, record: Record) -> bool:
        """Return whether the output in a record of this case is right."""
        return output_is_right(self.exercise, self.cases[case], self.right[case], record)

    def wrong_cases(self, records: list[Record]) -> set[int]:
        """Return the numbers of the cases whose records have at least one fault."""
        return wrong_cases(self.exercise, self.cases, self.right, records)

    def records_of(
        self,
        answer: Callable,
        cases: list[Case] | None = None,
        dtype: torch.dtype | None = None,
        output_only: bool = False,
    ) -> list[Record]:
        """Return the records of one of the course's own answers (not a student's), on all cases or some of them."""
        cases, procedure = self.cases if cases is None else cases, self.exercise.procedure
        with ONE_AT_A_TIME, warnings.catch_warnings():
            # Nobody needs the warnings of our own answers, and in a grader's thread the probe does not drop
            # them.
            warnings.simplefilter("ignore")
            records = probe(answer, cases, procedure, dtype, SECONDS_PER_CALL, output_only, record=False)
            raise_own_fault(records)
            return records

    def _record(self, case: int, number: int, output_only: bool = False) -> Record:
        if run := self._made.get(("run", number)):
            return run[0][case]
        answer = self.exercise.mistakes[number].answer
        return self.records_of(answer, [self.cases[case]], output_only=output_only)[0]


class RecordedExpected(Expected):
    """An Expected that reads its records of the visible cases from a file (see autograder.bundle.records).

    The parts of the file are numbered. A record is {"status": ..., "steps": {name: number of the part with
    the value}, ...}.
    """

    @property
    def _file(self) -> Stored:
        assert isinstance(self.exercise, RecordedExercise) and self.exercise.records is not None
        return self.exercise.records.file

    @cached_property
    def right(self) -> list[Record]:
        return [_restored(self._file, part) for part in self._file.value["right"]]

    @_once
    def run(self, number: int) -> Run:
        run = self._file.value["mistakes"][number]
        return [_restored(self._file, part) for part in run["records"]], set(run["wrong"])

    def _record(self, case: int, number: int, output_only: bool = False) -> Record:
        return _restored(self._file, self._file.value["mistakes"][number]["records"][case])


def _restored(file: Stored, number: int) -> Record:
    record = file.part(number)
    return record | {"steps": {name: file.part(step) for name, step in record["steps"].items()}}
