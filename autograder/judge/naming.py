"""Names the known mistake that an answer has.

If an answer's records equal those of a mistake in every case, or at least its results do, the answer has that
mistake. If there is no such mistake, the answer most likely has the one that it agrees with in most of the
cases in which the answer or the mistake is wrong. If no mistake agrees that often either, the answer may have
two mistakes at once, each of which explains the cases that the other gets right. Then the one that explains
more cases of the aspect "values" is named.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

from autograder.judge.agreement import FEWEST, agreement, same_everywhere, same_output, same_record
from autograder.judge.expected import Expected
from autograder.schema.case import VALUES, Case
from autograder.schema.mistake import Mistake
from autograder.values import Record

MOST = 0.7
SAMPLED = 3
FEWEST_OF_TWO = 3  # two mistakes may explain fewer wrong cases than this by chance


@dataclass(frozen=True)
class Explanation:
    """An observation and a question about a wrong answer, the id of the known mistake, if there is one, and
    the cases in which the answer gives the same result as that mistake.
    """

    mistake: str | None
    observation: str
    question: str
    cases: frozenset[int] = frozenset()
    by: str = ""  # the part of the explainer that found it

    @property
    def in_short(self) -> str:
        """The explanation in a few words, for an author who asks why it was chosen."""
        return ", ".join(filter(None, (self.mistake, self.by))) or self.observation


@dataclass(frozen=True)
class Agreement:
    """The agreement of an answer with a known mistake."""

    mistake: Mistake
    share: float  # of the cases in which either is wrong, the share in which both agree
    cases: frozenset[int]  # those in which both agree
    wrong: frozenset[int]  # those in which the mistake is wrong
    everywhere: bool  # whether they agree in the right cases as well


@dataclass(frozen=True)
class Unnamed:
    """The records of an answer, and the cases in which they are wrong."""

    cases: list[Case]
    expected: Expected
    records: list[Record]
    wrong: set[int]

    @cached_property
    def agreements(self) -> list[Agreement]:
        """The agreements with all possible mistakes, in order, up to the first mistake that agrees
        everywhere.
        """
        found: list[Agreement] = []
        for number in _possible_mistakes(self):
            found.append(_agreement_with(self, number))
            if found[-1].everywhere:
                break
        return found


def name_mistake(answer: Unnamed, trail: list[str]) -> Explanation | None:
    """Return the explanation that a known mistake gives, or None. `trail` gets a line for each entry of RANKS
    that finds no explanation.
    """
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
        # The answer is right in every short case, so a mistake that is wrong in one of them is not run in the
        # long ones.
        if long_only and any(expected.shows(i, number) for i in short):
            continue
        if any(_is_possible(cases[i], expected, answer.records[i], number, i) for i in sampled):
            yield number


def _agreement_with(answer: Unnamed, number: int) -> Agreement:
    others, wrong_others = answer.expected.run(number)
    three = answer.expected, answer.records, others
    share, same = agreement(*three, answer.wrong | wrong_others)
    everywhere = share == 1.0 and same_everywhere(*three)
    return Agreement(
        answer.expected.exercise.mistakes[number], share, frozenset(same), frozenset(wrong_others), everywhere
    )


def _same_in_every_case(answer: Unnamed) -> Explanation | None:
    return next((_explanation(one) for one in answer.agreements if one.everywhere), None)


def _same_results(answer: Unnamed) -> Explanation | None:
    """Return the explanation that a mistake gives if it has the same result in every case, whatever else it
    does: the rest of the answer, such as its gradients, may come from another way to write it.
    """
    cases, expected, records = answer.cases, answer.expected, answer.records
    wrong = [i for i in sorted(answer.wrong) if not expected.is_right(i, records[i])]
    if len(wrong) < FEWEST:
        return None
    for number, mistake in enumerate(expected.exercise.mistakes):
        if all(same_output(cases[i], records[i], expected.output(i, number)) for i in _sample(cases, wrong)):
            others, _ = expected.run(number)
            if all(map(same_output, cases, records, others)):
                return Explanation(mistake.id, mistake.observation, mistake.question, frozenset(wrong))
    return None


def _same_in_most(answer: Unnamed) -> Explanation | None:
    best = max(answer.agreements, key=lambda one: one.share, default=None)
    if best is None or best.share <= MOST:
        return None
    return replace(_explanation(best), by=f"the same in {best.share:.0%} of the wrong cases")


def _one_of_two(answer: Unnamed) -> Explanation | None:
    """Return the explanation that one of two mistakes gives if together they explain every wrong case: the
    one that explains more cases of the aspect "values". Return None if there is no such pair.
    """
    if len(answer.wrong) < FEWEST_OF_TWO:
        return None
    pairs = permutations(answer.agreements, 2)
    found = [one for one, other in pairs if _explain_all(answer.wrong, one, other)]

    def rank(one: Agreement) -> tuple[int, int]:
        # Values come first, as in every message.
        return sum(answer.cases[number].aspect == VALUES for number in one.cases), len(one.cases)

    return _explanation(max(found, key=rank)) if found else None


def _explain_all(wrong: set[int], one: Agreement, other: Agreement) -> bool:
    """Return whether two mistakes together explain the cases in which an answer is wrong.

    The answer must be wrong exactly where at least one of the mistakes is wrong. For each mistake there must
    be cases in which only this mistake is wrong, and the answer must agree with it in all of them. The two
    mistakes must have different observations.
    """
    alone = one.wrong - other.wrong, other.wrong - one.wrong
    return (
        wrong == one.wrong | other.wrong
        and all(alone)
        and alone[0] <= one.cases
        and alone[1] <= other.cases
        and one.mistake.observation != other.mistake.observation
    )


def _sample(cases: list[Case], wrong: Iterable[int]) -> list[int]:
    """Return the numbers of up to SAMPLED wrong cases: the first, the last, and some in between. Cases that
    are slow or have a random result are taken only if there are no others.
    """
    order = sorted(wrong)
    order = [i for i in order if not _is_apart(cases[i])] or order
    return [order[round(i * (len(order) - 1) / (SAMPLED - 1))] for i in range(min(SAMPLED, len(order)))]


def _is_apart(case: Case) -> bool:
    """Return whether a case is unsuited to ruling out mistakes early: it is slow, or its result is random."""
    return case.slow or case.new


def _is_possible(case: Case, expected: Expected, record: Record, number: int, i: int) -> bool:
    # The outputs of a few cases rule out most mistakes, and the other steps of these cases rule out more.
    # Only the remaining mistakes are run in all cases.
    return same_output(case, record, expected.output(i, number)) and same_record(
        expected, i, record, expected.record(i, number)
    )


# The first that has something to say names the mistake.
RANKS: dict[str, Callable[[Unnamed], Explanation | None]] = {
    "the same in every case": _same_in_every_case,
    "the same results in every case": _same_results,
    "the same in most of the wrong cases": _same_in_most,
    "one of two mistakes at once": _one_of_two,
}


def _explanation(found: Agreement) -> Explanation:
    return Explanation(found.mistake.id, found.mistake.observation, found.mistake.question, found.cases)
