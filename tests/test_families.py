"""Each family of cases is there for something: without it, a wrong answer would pass, or not be named as its own.

Shown by leaving the family out: the answer is put to all the other cases and judged anew.
"""

from dataclasses import replace
from functools import cache

import pytest
from answers import alone, answers, named_by
from judged import HIDDEN, IDS, PUBLIC, expected_of, named, wrong_records, wrong_verdicts

from autograder.exercises import find
from autograder.judge import Expected, judge
from autograder.judge.findings import findings
from autograder.judge.rules import broken_rule
from autograder.probe import probe


def families_of(exercise_id, check=PUBLIC) -> list[str]:
    return list(dict.fromkeys(case.family for case in expected_of(exercise_id, *check).cases))


def without(exercise_id, family, check=PUBLIC) -> Expected:
    """What is due where a family is left out."""
    expected = expected_of(exercise_id, *check)
    left = [number for number, case in enumerate(expected.cases) if case.family != family]
    return _Fewer(_without_words(expected.exercise, family), expected, left)


class _Fewer(Expected):
    """What is due in some of the cases. What mistakes do there is known: the same as among all of them."""

    def __init__(self, exercise, whole, left):
        super().__init__(exercise, [whole.cases[number] for number in left])
        self.whole, self.left = whole, left
        self.right = [whole.right[number] for number in left]

    def _run_of(self, records, wrong):
        return [records[i] for i in self.left], {k for k, i in enumerate(self.left) if i in wrong}

    def _mistake(self, number):
        return self._run_of(*self.whole.mistake(number))

    def _output(self, number, case):
        return self.whole.output(number, self.left[case])

    def _alone(self, number, case):
        return self.whole.alone(number, self.left[case])

    def _pair(self, first, second):
        return self._run_of(*self.whole.pair(first, second))

    def _output_of_both(self, first, second, case):
        return self.whole.output_of_both(first, second, self.left[case])


def _without_words(exercise, family):
    """The exercise without what is told from this family."""
    clues = tuple(clue for clue in exercise.clues if family not in (*clue.wrong, *clue.right))
    invariants = tuple(one for one in exercise.invariants if family not in one.families)
    return replace(exercise, clues=clues, invariants=invariants)


def passes(expected, answer) -> bool:
    """Whether an answer is found right on these cases."""
    exercise, cases = expected.exercise, expected.cases
    records = probe(answer, cases, exercise.procedure)
    return not findings(exercise, cases, expected.right, records) and not broken_rule(
        exercise, cases, records
    )


def passes_only_without(exercise_id, family, answer, check=PUBLIC) -> bool:
    """Whether an answer is rejected, and would be accepted if this family were left out."""
    return not passes(expected_of(exercise_id, *check), answer) and passes(
        without(exercise_id, family, check), answer
    )


def own_name(expected, answer) -> str | None:
    """The mistake by its id, or what is seen, where a message says more than that an entry is another."""
    exercise, cases = expected.exercise, expected.cases
    judged = judge(exercise, cases, probe(answer, cases, exercise.procedure), False, expected)
    return judged.mistake or (judged.message.partition("\n")[0] if named(judged) else None)


def is_named_only_with(exercise_id, family) -> bool:
    """Whether what an answer is told, the mistake by its id or a sentence, is lost where this family is left out."""
    exercise, name = find(exercise_id), named_by(find(exercise_id))[family]
    known = {mistake.id: mistake.answer for mistake in exercise.mistakes}
    answer = known.get(name) or answers(exercise)[1][name]
    whole, fewer = (
        own_name(one, answer) for one in (expected_of(exercise_id, *PUBLIC), without(exercise_id, family))
    )
    return whole is not None and whole != fewer and (name not in known or whole == name)


def is_told_from(exercise_id, family) -> bool:
    """Whether a wrong answer gets a sentence that nobody could say without this family."""
    exercise = find(exercise_id)
    said = {clue.sees for clue in exercise.clues if family in (*clue.wrong, *clue.right)}
    said |= {one.sees for one in exercise.invariants if family in one.families}
    for name, judged in wrong_verdicts(exercise_id).items():
        if judged.message.partition("\n")[0] in said:
            return own_name(without(exercise_id, family), answers(exercise)[1][name]) not in said
    return False


@cache
def caught_by_one(exercise_id) -> dict[str, list]:
    """Mistakes and wrong answers that are wrong in one family only, or nowhere but against a rule, by family."""
    exercise, expected, found = find(exercise_id), expected_of(exercise_id, *PUBLIC), {}
    observed = {case.family for case in expected.cases if case.observe}
    known = [(mistake.answer, records) for mistake, records in expected.mistakes]
    others = zip(answers(exercise)[1].values(), wrong_records(exercise_id), strict=True)
    for answer, records in (*known, *others):
        families = {expected.cases[number].family for number in expected.wrong_cases(records)}
        if len(families) <= 1:
            for family in families or observed:
                found.setdefault(family, []).append(answer)
    return found


def is_needed(exercise_id, family, check=PUBLIC) -> bool:
    """Whether a wrong answer, one written for this family or another one, passes without it."""
    written = alone(find(exercise_id)).get(family)
    candidates = [written] if written is not None else caught_by_one(exercise_id).get(family, [])
    return any(passes_only_without(exercise_id, family, answer, check) for answer in candidates)


@pytest.mark.parametrize("exercise_id", IDS)
def test_each_family_of_cases_is_there_for_something(exercise_id):
    families, by_name = families_of(exercise_id), named_by(find(exercise_id))
    assert not {*alone(find(exercise_id)), *by_name} - {*families_of(exercise_id, HIDDEN)}
    assert not [one for one in by_name if not is_named_only_with(exercise_id, one)]
    unproven = [one for one in families if one not in by_name and not is_needed(exercise_id, one)]
    assert not [one for one in unproven if not is_told_from(exercise_id, one)]
    beyond = [one for one in families_of(exercise_id, HIDDEN) if one not in families]
    assert not [one for one in beyond if not is_needed(exercise_id, one, HIDDEN)]
