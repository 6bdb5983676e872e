"""Names the known mistake that an answer has.

An answer whose records equal a mistake's in every case has that mistake. Failing that, it most likely has the mistake
that it agrees with in most of the cases in which either is wrong. Failing that, it may have two mistakes at once.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.judge.agreement import agreement, same_everywhere, same_output, same_record
from autograder.judge.expected import Expected
from autograder.schema.case import VALUES, Case
from autograder.schema.mistake import Mistake
from autograder.values import Record

MOST = 0.7
SAMPLED = 3


@dataclass(frozen=True)
class Explanation:
    """An observation and a question about a wrong answer; the id of the known mistake if it has one, and the cases in
    which it gives the same as that mistake."""

    mistake: str | None
    observation: str
    question: str
    cases: frozenset[int] = frozenset()
    by: str = ""  # which part of the explainer it comes from

    @property
    def in_short(self) -> str:
        """What it says, for an author who asks why."""
        return ", ".join(filter(None, (self.mistake, self.by))) or self.observation


@dataclass(frozen=True)
class Agreement:
    """How far the answer does the same as a known mistake."""

    mistake: Mistake
    share: float  # of the cases in which either is wrong, those in which both do the same
    cases: frozenset[int]  # these
    everywhere: bool  # whether they do the same in the right cases, too


@dataclass(frozen=True)
class Unnamed:
    """The records of an answer, and the cases in which they are wrong."""

    cases: list[Case]
    expected: Expected
    records: list[Record]
    wrong: set[int]
    costs_values: bool  # whether a value is wrong, and not only what surrounds it

    @cached_property
    def agreements(self) -> list[Agreement]:
        """With the mistakes that are possible, in their order, up to the first that is the same everywhere."""
        found: list[Agreement] = []
        for number in _possible_mistakes(self):
            found.append(_agreement_with(self, number))
            if found[-1].everywhere:
                break
        return found


def name_mistake(answer: Unnamed, trail: list[str]) -> Explanation | None:
    """The mistake that explains the answer's records, or None. Into `trail` goes a line for each rank that is asked in
    vain."""
    for name, rank in RANKS.items():
        if explanation := rank(answer):
            return replace(explanation, by=explanation.by or name)
        trail.append(f"  {name}: nothing")
    return None


def _possible_mistakes(answer: Unnamed) -> Iterator[int]:
    cases, expected = answer.cases, answer.expected
    sampled = _sample(cases, answer.wrong)
    short = [i for i in range(len(cases)) if not _is_apart(cases[i])]
    long_only = answer.wrong.isdisjoint(short)
    for number in range(len(expected.exercise.mistakes)):
        # A mistake that a short case shows, too, needs no run of a long one to be ruled out.
        if long_only and any(expected.shows(i, number) for i in short):
            continue
        if any(_is_possible(cases[i], expected, answer.records[i], number, i) for i in sampled):
            yield number


def _agreement_with(answer: Unnamed, number: int) -> Agreement:
    others, wrong_others = answer.expected.run(number)
    four = answer.cases, answer.expected, answer.records, others
    share, same = agreement(*four, answer.wrong | wrong_others)
    everywhere = share == 1.0 and same_everywhere(*four)
    return Agreement(answer.expected.exercise.mistakes[number], share, frozenset(same), everywhere)


def _same_in_every_case(answer: Unnamed) -> Explanation | None:
    return next((_explanation(one) for one in answer.agreements if one.everywhere), None)


def _same_in_most(answer: Unnamed) -> Explanation | None:
    best = max(answer.agreements, key=lambda one: one.share, default=None)
    if best is None or best.share <= MOST:
        return None
    return replace(_explanation(best), by=f"the same in {best.share:.0%} of the wrong cases")


def _sample(cases: list[Case], wrong: Iterable[int]) -> list[int]:
    """The first case, the last, and others between up to SAMPLED; long ones only if there are no others."""
    order = sorted(wrong)
    order = [i for i in order if not _is_apart(cases[i])] or order
    return [order[round(i * (len(order) - 1) / (SAMPLED - 1))] for i in range(min(SAMPLED, len(order)))]


def _is_apart(case: Case) -> bool:
    """Whether a case rules no mistake out in short time: it is slow, or its result is drawn at random."""
    return case.slow or case.new


def _is_possible(case: Case, expected: Expected, record: Record, number: int, i: int) -> bool:
    # The outputs of a few cases rule out most mistakes, their further steps some more; only the others are run whole.
    return same_output(case, record, expected.output(i, number)) and same_record(
        case, expected.right[i], record, expected.record(i, number)
    )


def _two_at_once(answer: Unnamed) -> Explanation | None:
    """Two mistakes that together give the same in every wrong case. Of the wrong answers in tests/answers to lessons 01
    to 04 this names 13 of 572 (`python tests/sentences.py loops matmul masking heads`)."""
    cases, expected, records = answer.cases, answer.expected, answer.records
    answered = [i for i in sorted(answer.wrong) if records[i]["status"] == "answered"]
    wrong_outputs = [i for i in answered if not expected.is_right(i, records[i])]
    # Two mistakes that can be made at once show in short cases, too.
    if not answer.costs_values or all(_is_apart(cases[i]) for i in wrong_outputs):
        return None
    for numbers in _possible_pairs(cases, expected, records, _sample(cases, wrong_outputs)):
        others, wrong_others = expected.run(*numbers)
        if agreement(cases, expected, records, others, answer.wrong | wrong_others)[0] == 1.0:
            # Values come first, as everywhere: the example is one of theirs.
            values = [i for i in wrong_outputs if cases[i].aspect == VALUES]
            return _explanation_of_both(expected, numbers, values or wrong_outputs)
    return None


# The first that has something to say names the mistake.
RANKS: dict[str, Callable[[Unnamed], Explanation | None]] = {
    "the same in every case": _same_in_every_case,
    "the same in most of the wrong cases": _same_in_most,
    "two at once": _two_at_once,
}


def _explanation_of_both(expected: Expected, numbers: tuple[int, int], wrong: list[int]) -> Explanation:
    """The question is about the mistake that shows in more cases, and the example one that shows it, alone if possible:
    where both show, the entry that is told may be the other's."""
    shown = {number: frozenset(i for i in wrong if expected.shows(i, number)) for number in numbers}
    either = sorted(numbers, key=lambda number: len(shown[number]), reverse=True)
    alone = {one: shown[one] - shown[other] for one, other in (either, either[::-1])}
    larger = next((one for one in either if alone[one]), either[0])
    first, second = (expected.exercise.mistakes[number] for number in numbers)
    observation = f"Two things are wrong. {first.observation} {second.observation}"
    question = expected.exercise.mistakes[larger].question
    return Explanation(f"{first.id}+{second.id}", observation, question, alone[larger] or shown[larger])


def _possible_pairs(
    cases: list[Case], expected: Expected, records: list[Record], sampled: list[int]
) -> Iterator[tuple[int, int]]:
    """The pairs of mistakes that together give the answer's outputs in the sampled cases."""

    def same(i: int, other: Record) -> bool:
        return same_output(cases[i], records[i], other)

    for first, second in expected.pairs:
        visible = [one for one in (first, second) if expected.shows(sampled[0], one)]
        if not visible:
            continue
        # If one of the two changes nothing in a case, the other alone must give the answer's output.
        if len(visible) == 1 and not same(sampled[0], expected.output(sampled[0], visible[0])):
            continue
        if all(same(i, expected.output(i, first, second)) for i in sampled):
            yield first, second


def _explanation(found: Agreement) -> Explanation:
    return Explanation(found.mistake.id, found.mistake.observation, found.mistake.question, found.cases)
