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

    @cached_property
    def right(self) -> list[dict]:
        """What is due."""
        return self.records_of(self.exercise.reference, dtype=torch.float64)

    @cached_property
    def mistakes(self) -> list[tuple]:
        """(mistake, its records) for every known mistake."""
        return [(mistake, self.records_of(mistake.answer)) for mistake in self.exercise.mistakes]

    @cached_property
    def mistaken(self) -> list[set[int]]:
        """The numbers of the cases in which each known mistake is wrong. (One id may stand for several.)"""
        return [self.wrong_cases(records) for _, records in self.mistakes]

    def pairs(self):
        """(first, second, answer) for every two mistakes that can be made at once."""
        if self.exercise.variant is None:
            return
        changing = [mistake for mistake in self.exercise.mistakes if mistake.changes]
        for first, second in combinations(changing, 2):
            if not set(first.changes) & set(second.changes):
                yield first, second, self.exercise.variant(**first.changes, **second.changes)

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
