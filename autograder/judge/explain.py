"""Explains a wrong answer with the first explainer in an ordered list that has something to say.

An explainer looks at the whole answer and returns an Explanation or None. Explainers that know more about the
answer come first. Which finding is reported has been decided before (see autograder.judge.judging).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autograder.judge.between_calls import between_calls, called_before
from autograder.judge.expected import Expected
from autograder.judge.findings import FINITE, NUMBERS, Finding
from autograder.judge.findings.record import REFUSED_OTHERWISE
from autograder.judge.findings.values import NEVER_WRITTEN
from autograder.judge.general import general_mistake
from autograder.judge.invariants import is_broken
from autograder.judge.localize import (
    common_need,
    few_families,
    further_part,
    not_contiguous,
    single_aspect,
    unused_input,
)
from autograder.judge.naming import Explanation, Unnamed, name_mistake
from autograder.judge.relations import Named, place, relation
from autograder.judge.relations.lists import lists
from autograder.judge.relations.pair import Pairs, Words, pairs_of
from autograder.schema.case import VALUES, Case
from autograder.schema.exercise import Exercise, Invariant
from autograder.values import Record


@dataclass(frozen=True)
class WrongAnswer:
    """The records of a wrong answer, all findings, and the one that is reported."""

    exercise: Exercise
    cases: list[Case]
    expected: Expected
    records: list[Record]
    findings: list[Finding]
    reported: Finding
    trail: list[str] = field(default_factory=list)  # how the message was chosen, a line for each step

    @cached_property
    def pairs(self) -> Pairs:
        """The answer's results, paired with the expected ones. If the reported finding is about numbers and
        some wrong result is finite, wrong results with NaN or infinities are left out, because they would
        hide what the finite ones show.
        """
        pairs = pairs_of(self.exercise, self.cases, self.expected.right, self.records)
        as_numbers = [pair for pair in pairs if not pair.wrong or pair.actual.isfinite().all()]
        return (
            as_numbers if self.reported.level == NUMBERS and any(pair.wrong for pair in as_numbers) else pairs
        )

    @cached_property
    def wrong(self) -> set[int]:
        """The numbers of the cases in which an entry of a result is wrong or not finite."""
        return {finding.case for finding in self.findings if finding.level in (NUMBERS, FINITE)}

    def costs(self, aspect: str) -> bool:
        """Return whether any finding costs the points of this aspect."""
        return any(finding.aspect == aspect for finding in self.findings)


def explain(answer: WrongAnswer) -> Explanation | None:
    """Return the explanation of the first explainer that has one, or None. `answer.trail` gets a line for
    each explainer that is asked, followed by the lines that the explainer itself adds.
    """
    for name, explainer in EXPLAINERS.items():
        before = len(answer.trail)
        explanation = explainer(answer)
        answer.trail.insert(before, f"{name}: {'nothing' if explanation is None else explanation.in_short}")
        if explanation is not None:
            return explanation
    return None


def _known_mistake(answer: WrongAnswer) -> Explanation | None:
    wrong = {finding.case for finding in answer.findings}
    unnamed = Unnamed(answer.cases, answer.expected, answer.records, wrong)
    named = name_mistake(unnamed, answer.trail)
    # Values come first: a mistake that explains only other faults is not what the learner needs to hear.
    values = {finding.case for finding in answer.findings if finding.aspect == VALUES}
    return None if named and named.cases and values and not values & named.cases else named


def _refused_otherwise(answer: WrongAnswer) -> Explanation | None:
    if any(finding.question != REFUSED_OTHERWISE[1] for finding in answer.findings):
        return None
    return Explanation(None, *REFUSED_OTHERWISE)


def _general_mistake(answer: WrongAnswer) -> Explanation | None:
    return general_mistake(answer.reported, answer.findings)


def _unused_input(answer: WrongAnswer) -> Explanation | None:
    if answer.reported.level != NUMBERS:
        return None
    return _explanation(
        unused_input(answer.exercise, answer.cases, answer.expected.right, answer.records, answer.wrong)
    )


def _between_calls(answer: WrongAnswer) -> Explanation | None:
    return _explanation(between_calls(answer.cases, answer.expected.right, answer.records, answer.findings))


def _called_before(answer: WrongAnswer) -> Explanation | None:
    if answer.exercise.procedure != "class":
        return None
    return _explanation(called_before(answer.cases, answer.expected.right, answer.records, answer.findings))


def _left_over(answer: WrongAnswer) -> Explanation | None:
    """Explain an answer that is wrong in some cases and that, in a case where it is right, returns something
    else when it is called again: something left over from earlier calls causes both faults. Return None for
    any other answer.
    """
    wrong = {finding.case for finding in answer.findings if finding.step in ("output", "refusal")}
    again = [one for one in answer.findings if one.step == "again" and one.case not in wrong]
    return Explanation(None, again[0].observation, again[0].question) if again and wrong else None


def _never_written(answer: WrongAnswer) -> Explanation | None:
    return _explanation(NEVER_WRITTEN if answer.reported.question == NEVER_WRITTEN[1] else None)


def _broken_invariant(answer: WrongAnswer) -> Explanation | None:
    # Only for answers that run, give the right shape and give the same result twice: other faults are
    # reported before.
    if not answer.costs(VALUES) or any(finding.level < FINITE for finding in answer.findings):
        return None
    expected, actual = _outputs(answer.expected.right), _outputs(answer.records)
    for invariant in answer.exercise.invariants:
        broken = is_broken(invariant, answer.cases, expected, actual)
        if broken and not _explains_others_only(invariant, answer):
            return Explanation(None, invariant.observation, invariant.question)
    return None


def _explains_others_only(invariant: Invariant, answer: WrongAnswer) -> bool:
    """Return whether the broken invariant cannot explain the answer: it shows a leak from the future under a
    mask, but the answer is also wrong without a mask.
    """
    under_mask = all("mask" in case.needs for case in answer.cases if case.family in invariant.families)
    always = all("mask" in answer.cases[finding.case].needs for finding in answer.findings)
    return invariant.kind == "past only" and under_mask and not always


def _outputs(records: list[Record]) -> list[Any]:
    """Return a list with the output of each case, or None in its place if it is neither a tensor nor an
    integer.
    """
    outputs = (record.get("steps", {}).get("output", {}) for record in records)
    fields = {"tensor": "data", "int": "value"}
    return [output.get(fields.get(output.get("kind"))) for output in outputs]


def _of_numbers(
    describe: Callable[[WrongAnswer], Words | Named | None],
) -> Callable[[WrongAnswer], Explanation | None]:
    """Return an explainer that calls `describe` for answers with wrong or non-finite numbers, and returns
    None for all others. If the numbers are not finite, the explanation asks the question of the reported
    finding.
    """

    def explainer(answer: WrongAnswer) -> Explanation | None:
        if answer.reported.level not in (NUMBERS, FINITE):
            return None
        words = describe(answer)
        # For a NaN, the better question is always where it came from.
        if words is not None and answer.reported.level == FINITE:
            words = words[0], answer.reported.question, *words[2:]
        return _explanation(words)

    return explainer


def _explanation(words: Words | Named | None) -> Explanation | None:
    return Explanation(None, words[0], words[1], by="".join(words[2:])) if words else None


EXPLAINERS: dict[str, Callable[[WrongAnswer], Explanation | None]] = {
    "refused otherwise": _refused_otherwise,
    "a known mistake": _known_mistake,
    "a general mistake": _general_mistake,
    "between two calls": _between_calls,
    "left over from an earlier call": _left_over,
    "called before": _called_before,
    "never written": _never_written,
    "an unused input": _unused_input,
    "a further part": _of_numbers(lambda answer: further_part(answer.records)),
    "a broken invariant": _broken_invariant,
    "a single aspect": _of_numbers(lambda answer: single_aspect(answer.cases, answer.findings)),
    "inputs that are not contiguous": _of_numbers(
        lambda answer: not_contiguous(answer.cases, answer.findings)
    ),
    "a relation": _of_numbers(lambda answer: relation(answer.pairs, answer.trail)),
    "lists": _of_numbers(
        lambda answer: lists(answer.cases, answer.expected.right, answer.records, answer.wrong)
    ),
    "a common need": _of_numbers(lambda answer: common_need(answer.exercise, answer.cases, answer.findings)),
    "a place": _of_numbers(lambda answer: place(answer.pairs, answer.trail)),
    "few kinds of input": _of_numbers(lambda answer: few_families(answer.cases, answer.findings)),
}
