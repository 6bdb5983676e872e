"""Names the known mistake that an answer has.

An answer whose records equal a mistake's in every case has that mistake. Failing that, it most likely has the mistake
that it agrees with in most of the cases in which either is wrong. Failing that, it may have two mistakes at once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autograder.judge.expected import Expected
from autograder.judge.findings.finding import named_items
from autograder.judge.sketch import sketch, sketch_of
from autograder.schema.case import Case
from autograder.schema.mistake import Mistake
from autograder.values import Encoded, Record
from autograder.values.compare import difference, same_value

MOST = 0.7
FEWEST = 2
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


def name_mistake(
    cases: list[Case], expected: Expected, records: list[Record], wrong: set[int], pairs: bool = True
) -> Explanation | None:
    """The mistake that explains `records`, which are wrong in the cases `wrong`, or None. `pairs` says whether to try
    two at once."""
    sampled = _sample(cases, wrong)
    short = [i for i in range(len(cases)) if not _is_apart(cases[i])]
    long_only = wrong.isdisjoint(short)
    best, best_share = None, MOST
    for number, mistake in enumerate(expected.exercise.mistakes):
        # A mistake that a short case shows, too, needs no run of a long one to be ruled out.
        if long_only and any(expected.shows(i, number) for i in short):
            continue
        if not any(_is_possible(cases[i], expected, records[i], number, i) for i in sampled):
            continue
        others, wrong_others = expected.run(number)
        share, same = _agreement(cases, expected, records, others, wrong | wrong_others)
        if share == 1.0 and _same_everywhere(cases, expected, records, others):
            return _explanation(mistake, same, "the same in every case")
        if share > best_share or (share == best_share == 1.0 and best is None):
            best, best_share = _explanation(mistake, same, f"the same in {share:.0%} of the wrong cases"), share
    if best is not None:
        return best
    return _two_at_once(cases, expected, records, wrong) if pairs else None


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
    return _same_output(case, record, expected.output(i, number)) and _same_record(
        case, expected.right[i], record, expected.record(i, number)
    )


def _two_at_once(
    cases: list[Case], expected: Expected, records: list[Record], wrong: set[int]
) -> Explanation | None:
    answered = [i for i in sorted(wrong) if records[i]["status"] == "answered"]
    wrong_outputs = [i for i in answered if not expected.is_right(i, records[i])]
    # Two mistakes that can be made at once show in short cases, too.
    if all(_is_apart(cases[i]) for i in wrong_outputs):
        return None
    for numbers in _possible_pairs(cases, expected, records, _sample(cases, wrong_outputs)):
        others, wrong_others = expected.run(*numbers)
        if _agreement(cases, expected, records, others, wrong | wrong_others)[0] == 1.0:
            return _explanation_of_both(expected, numbers, wrong_outputs)
    return None


def _explanation_of_both(expected: Expected, numbers: tuple[int, int], wrong: list[int]) -> Explanation:
    """The question is about the mistake that shows in more cases, and the example one that shows it."""
    shown = {number: frozenset(i for i in wrong if expected.shows(i, number)) for number in numbers}
    larger = max(numbers, key=lambda number: len(shown[number]))
    first, second = (expected.exercise.mistakes[number] for number in numbers)
    observation = f"Two things at once. {first.observation} {second.observation}"
    question = expected.exercise.mistakes[larger].question
    return Explanation(f"{first.id}+{second.id}", observation, question, shown[larger])


def _possible_pairs(
    cases: list[Case], expected: Expected, records: list[Record], sampled: list[int]
) -> Iterator[tuple[int, int]]:
    """The pairs of mistakes that together give the answer's outputs in the sampled cases."""

    def same(i: int, other: Record) -> bool:
        return _same_output(cases[i], records[i], other)

    for first, second in expected.pairs:
        visible = [one for one in (first, second) if expected.shows(sampled[0], one)]
        if not visible:
            continue
        # If one of the two changes nothing in a case, the other alone must give the answer's output.
        if len(visible) == 1 and not same(sampled[0], expected.output(sampled[0], visible[0])):
            continue
        if all(same(i, expected.output(i, first, second)) for i in sampled):
            yield first, second


def _explanation(mistake: Mistake, same: list[int], by: str) -> Explanation:
    return Explanation(mistake.id, mistake.observation, mistake.question, frozenset(same), by)


def _agreement(
    cases: list[Case], expected: Expected, records: list[Record], others: list[Record], either: set[int]
) -> tuple[float, list[int]]:
    """Of the cases in which either answer is wrong, the share in which both give the same, and these cases."""
    same = [i for i in sorted(either) if _same_record(cases[i], expected.right[i], records[i], others[i])]
    # subtle: the tolerance of _same_record follows the largest number of a tensor, so that of two numbers within it one
    # may be right and the other wrong.
    same = [i for i in same if expected.is_right(i, records[i]) == expected.is_right(i, others[i])]
    answered = [i for i in same if records[i]["status"] == "answered"]
    if not answered and not all(_same_error(records[i], others[i]) for i in same):
        return 0.0, []
    if len(same) < min(FEWEST, len(either)) or (not answered and len(same) < len(either)):
        return 0.0, []
    return (len(same) / len(either) if either else 0.0), same


def _same_error(a: Record, b: Record) -> bool:
    # A RuntimeError may be anything: if nothing else is known, its text counts, but for numbers.
    if a["status"] != "raised" or a["error"]["type"] != "RuntimeError":
        return True
    return _text_without_numbers(a["error"]) == _text_without_numbers(b["error"])


def _text_without_numbers(error: Encoded) -> str:
    return re.sub(r"\d+", "", error.get("text", "")).partition("\n")[0]


def _same_everywhere(
    cases: list[Case], expected: Expected, records: list[Record], others: list[Record]
) -> bool:
    return all(_same_record(*four) for four in zip(cases, expected.right, records, others, strict=True))


def _same_record(case: Case, right: Record, a: Record, b: Record) -> bool:
    """Whether two answers did the same in a case: numbers within the tolerance, gradients as sketches."""
    if not _same_output(case, a, b):
        return False
    if a["status"] != "answered":
        return True
    steps, others = a["steps"], b["steps"]
    # subtle: the tolerance of same_value follows the largest number, and an answer may write -1e9 into its input.
    after = [one["after"] for one in (steps, others) if "after" in one]
    if len(after) == 1 or (after and difference(*after) is not None):
        return False
    for step in ("again", "evaluated"):
        if not same_value(steps.get(step), others.get(step), case.scale):
            return False
    return same_value(_gradients(right["steps"], steps), _gradients(right["steps"], others), case.scale)


def _gradients(right: Mapping[str, Encoded], steps: Mapping[str, Encoded]) -> Encoded | None:
    """The sketch of an answer's gradients, without those that the reference does not have: nobody asks for them."""
    if "gradients" not in right:
        return sketch(steps.get("gradients"))
    asked = {key for key, item in named_items(right["gradients"]).items() if item["kind"] == "tensor"}
    return sketch_of(steps.get("gradients"), asked)


def _same_output(case: Case, a: Record, b: Record) -> bool:
    if a["status"] != b["status"]:
        return False
    if a["status"] == "raised":
        return a["error"]["type"] == b["error"]["type"]
    if a["status"] == "parts":
        return a["found"] == b["found"]
    if a["status"] != "answered":
        return True
    return same_value(a["steps"]["output"], b["steps"]["output"], case.scale)
