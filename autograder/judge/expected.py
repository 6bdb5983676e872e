"""What is due, and what each known mistake gives: the judge's own records.

They are made by the same probe that records the student's answer, from the exercise's reference (in float64)
and from its mistakes (in the case's own type, because some mistakes are mistakes of rounding).
"""

from functools import cached_property
from itertools import combinations

import torch

from autograder.exercises.exercise import Case, Exercise
from autograder.judge.findings import findings
from autograder.probe import probe
from autograder.probe.build import live
from autograder.probe.run import tensors_of

SECONDS_PER_CALL = 20.0


class Expected:
    """Records of the reference and of the mistakes of one exercise on given cases, each made when asked for."""

    def __init__(self, exercise: Exercise, cases: list[Case]):
        self.exercise, self.cases = exercise, cases
        self._alone, self._whole = {}, {}

    @cached_property
    def right(self) -> list[dict]:
        """What is due."""
        return self.records_of(self.exercise.reference, dtype=torch.float64)

    def mistake(self, number: int) -> tuple[list[dict], set[int]]:
        """The records of a known mistake, and the numbers of the cases in which it is wrong."""
        if number not in self._whole:
            records = self.records_of(self.exercise.mistakes[number].answer)
            self._whole[number] = records, self.wrong_cases(records)
        return self._whole[number]

    def alone(self, number: int, case: int) -> dict:
        """The record of a known mistake on one case, without the whole run where that is not made yet."""
        if number in self._whole:
            return self._whole[number][0][case]
        if (number, case) not in self._alone:
            answer = self.exercise.mistakes[number].answer
            self._alone[number, case] = self.records_of(answer, [self.cases[case]])[0]
        return self._alone[number, case]

    def wrong_alone(self, number: int, case: int) -> bool:
        """Whether a known mistake is wrong in one case."""
        due, record = self.right[case], self.alone(number, case)
        return bool(findings(self.exercise, [self.cases[case]], [due], [record]))

    @property
    def mistakes(self) -> list[tuple]:
        """(mistake, its records) for every known mistake. (One id may stand for several.)"""
        return [(mistake, self.mistake(number)[0]) for number, mistake in enumerate(self.exercise.mistakes)]

    @property
    def mistaken(self) -> list[set[int]]:
        """The numbers of the cases in which each known mistake is wrong."""
        return [self.mistake(number)[1] for number in range(len(self.exercise.mistakes))]

    def pairs(self):
        """The numbers of every two mistakes that can be made at once."""
        if self.exercise.variant is None:
            return
        changing = [
            (i, mistake.changes) for i, mistake in enumerate(self.exercise.mistakes) if mistake.changes
        ]
        for (first, some), (second, others) in combinations(changing, 2):
            if not set(some) & set(others):
                yield first, second

    def both(self, first: int, second: int):
        """An answer with both mistakes."""
        some, others = (self.exercise.mistakes[number].changes for number in (first, second))
        return self.exercise.variant(**some, **others)

    def wrong_cases(self, records: list[dict]) -> set[int]:
        """The numbers of the cases in which something in `records` is wrong."""
        return {finding.case for finding in findings(self.exercise, self.cases, self.right, records)}

    def records_of(self, answer, cases: list[Case] | None = None, dtype=None) -> list[dict]:
        """The records of an answer of our own, on all cases or some of them."""
        cases = self.cases if cases is None else cases
        return probe(answer, cases, self.exercise.procedure, dtype, SECONDS_PER_CALL)


def arguments_as_given(case: Case) -> dict[str, torch.Tensor]:
    """Every tensor among a case's arguments, by the names the probe uses."""
    return tensors_of(tuple(live(arg) for arg in case.args), {k: live(v) for k, v in case.kwargs.items()})
