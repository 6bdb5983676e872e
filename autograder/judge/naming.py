"""Which known mistake does an answer have?

An answer whose records equal a mistake's on every case has that mistake. Failing that, one that agrees with it
wherever either of them is wrong, but for a few cases, has it most likely. Failing that, two mistakes at once.
"""

import re
from dataclasses import dataclass

from autograder.exercises.exercise import Case, Mistake
from autograder.judge.expected import Expected
from autograder.judge.sketch import sketch
from autograder.judge.tolerance import same_value

MOSTLY = 0.7
FEWEST = 2
LOOKS = 3


@dataclass(frozen=True)
class Name:
    """A mistake's id with what a tutor sees and asks, and the cases in which the answer does what the mistake does
    (none where that is not known)."""

    id: str
    sees: str
    asks: str
    explains: frozenset[int] = frozenset()


def name_mistake(
    cases: list[Case], expected: Expected, records: list[dict], wrong: set[int], pairs: bool = True
) -> Name | None:
    """The mistake that explains `records`, which are wrong in the cases `wrong`, or None. `pairs` says whether
    two at once are thought of."""
    looked_at = _some_of(wrong)
    best, best_share = None, MOSTLY
    for number, mistake in enumerate(expected.exercise.mistakes):
        if not any(_may_be(cases[i], expected, records[i], number, i) for i in looked_at):
            continue
        others, wrong_others = expected.mistake(number)
        share, same = _shared(cases, expected, records, others, wrong | wrong_others)
        if share == 1.0 and _same_everywhere(cases, records, others):
            return _named(mistake, same)
        if share > best_share or (share == best_share == 1.0 and best is None):
            best, best_share = _named(mistake, same), share
    if best is not None:
        return best
    return _two_at_once(cases, expected, records, wrong) if pairs else None


def _some_of(wrong) -> list[int]:
    """The first case, the last, and as many between as LOOKS leaves."""
    order = sorted(wrong)
    return [order[round(i * (len(order) - 1) / (LOOKS - 1))] for i in range(min(LOOKS, len(order)))]


def _may_be(case, expected, record, number, i) -> bool:
    # The outputs of a few cases rule out most mistakes, what follows them some more; only the others are worth
    # the whole run.
    return _returns_the_same(case, record, expected.output(number, i)) and same_record(
        case, record, expected.alone(number, i)
    )


def _two_at_once(cases, expected, records, wrong) -> Name | None:
    answered = [i for i in sorted(wrong) if records[i]["status"] == "answered"]
    returned_wrong = [i for i in answered if not expected.is_returned(i, records[i])]
    if not returned_wrong:
        return None
    for first, second in _pairs_like(cases, expected, records, _some_of(returned_wrong)):
        others, wrong_others = expected.pair(first, second)
        if _shared(cases, expected, records, others, wrong | wrong_others)[0] == 1.0:
            first, second = expected.exercise.mistakes[first], expected.exercise.mistakes[second]
            return Name(
                f"{first.id}+{second.id}", f"Two things at once. {first.sees} {second.sees}", first.asks
            )
    return None


def _pairs_like(cases, expected, records, looked_at):
    """The pairs of mistakes that together return in a few cases what the answer returns there."""

    def alike(i, other):
        return _returns_the_same(cases[i], records[i], other)

    for first, second in expected.pairs:
        shown = [one for one in (first, second) if expected.shows(one, looked_at[0])]
        if not shown:
            continue
        # Where one of the two changes nothing in a case, the other alone must give what is seen there.
        if len(shown) == 1 and not alike(looked_at[0], expected.output(shown[0], looked_at[0])):
            continue
        if all(alike(i, expected.output_of_both(first, second, i)) for i in looked_at):
            yield first, second


def _named(mistake: Mistake, same: list[int]) -> Name:
    return Name(mistake.id, mistake.sees, mistake.asks, frozenset(same))


def _shared(cases, expected, records, others, either) -> tuple[float, list[int]]:
    """Of the cases where either answer is wrong, the share in which both give the same, and which these are."""
    same = [i for i in sorted(either) if same_record(cases[i], records[i], others[i])]
    # subtle: the tolerance of same_record follows the largest number of a tensor, so that one of two numbers that are
    # the same to it may be right and the other wrong.
    same = [i for i in same if expected.is_returned(i, records[i]) == expected.is_returned(i, others[i])]
    told = [i for i in same if records[i]["status"] == "answered"]
    if not told and not all(_same_complaint(records[i], others[i]) for i in same):
        return 0.0, []
    if len(same) < min(FEWEST, len(either)) or (not told and len(same) < len(either)):
        return 0.0, []
    return (len(same) / len(either) if either else 0.0), same


def _same_complaint(a, b) -> bool:
    # A RuntimeError may be anything: where nothing else is known, its words count, but for their numbers.
    if a["status"] != "raised" or a["error"]["type"] != "RuntimeError":
        return True
    return _words_of(a["error"]) == _words_of(b["error"])


def _words_of(error) -> str:
    return re.sub(r"\d+", "", error.get("text", "")).partition("\n")[0]


def _same_everywhere(cases, records, others) -> bool:
    return all(same_record(*three) for three in zip(cases, records, others, strict=True))


def same_record(case: Case, a: dict, b: dict) -> bool:
    """Whether two answers did the same in a case, numbers within the tolerance; gradients are told in short."""
    if not _returns_the_same(case, a, b):
        return False
    if a["status"] != "answered":
        return True
    rest = ("after", "again", "evaluated")
    if not all(same_value(a["steps"].get(step), b["steps"].get(step), case.scale) for step in rest):
        return False
    gradients = (sketch(record["steps"].get("gradients")) for record in (a, b))
    return same_value(*gradients, case.scale)


def _returns_the_same(case, a, b) -> bool:
    if a["status"] != b["status"]:
        return False
    if a["status"] == "raised":
        return a["error"]["type"] == b["error"]["type"]
    if a["status"] == "parts":
        return a["found"] == b["found"]
    if a["status"] != "answered":
        return True
    return same_value(a["steps"]["output"], b["steps"]["output"], case.scale)
