"""Describes lists and texts that are wrong in the same way in every case, for wrong answers that match no
known mistake.
"""

from collections.abc import Callable, Iterator
from typing import Any

from autograder.judge.relations.pair import Words
from autograder.schema.case import Case
from autograder.schema.twice import TWICE
from autograder.values import Encoded, Record
from autograder.values.encode import items_of

Sequence = list | str
Both = tuple[Case, Sequence, Sequence]  # expected and actual


def lists(cases: list[Case], expected: list[Record], records: list[Record], wrong: set[int]) -> Words | None:
    """Return the message of the first relation that holds in all wrong cases, if their results are lists,
    texts or dicts; else None. "Unchanged" must hold in the right cases, too.
    """
    both = list(_both(cases, expected, records, wrong))
    if len(both) < len(wrong) or not both:
        return None
    if any(isinstance(one, dict) for _, *results in both for one in results):
        return OTHER_NUMBERS if all(_other_numbers(*results) for _, *results in both) else None
    # Nothing can be said about where an empty list begins or ends. In a case with two calls, the first result
    # may be right.
    differing = [(right, actual) for _, right, actual in both if right != actual]
    some_expected = any(right for right, _ in differing)
    some_actual = any(actual for _, actual in differing)
    if not some_expected or not some_actual:
        return None
    others = _both(cases, expected, records, set(range(len(cases))) - wrong)
    if all(_unchanged(*one) for one in (*both, *others)):
        return UNCHANGED
    return next((words for holds, words in RELATIONS if all(holds(*one) for one in both)), None)


UNCHANGED = (
    "You return the input unchanged.",
    "Is the line that should change it ever reached?",
)
OTHER_NUMBERS = (
    "Your dict has the right keys, but the wrong numbers.",
    "Which step sets the number stored under each key?",
)


def _other_numbers(expected: Any, actual: Any) -> bool:
    if not isinstance(expected, dict) or not isinstance(actual, dict) or expected.keys() != actual.keys():
        return False
    return all(isinstance(number, int) for number in (*expected.values(), *actual.values()))


def _both(
    cases: list[Case], expected: list[Record], records: list[Record], wrong: set[int]
) -> Iterator[Both]:
    for number in sorted(wrong):
        outputs = [one[number].get("steps", {}).get("output", {"kind": ""}) for one in (expected, records)]
        kinds = {output["kind"] for output in outputs}
        if cases[number].family == TWICE and kinds == {"dict"}:
            outputs = [output["items"][0] for output in outputs]
            kinds = {output["kind"] for output in outputs}
        if len(outputs) == 2 and kinds in ({"list"}, {"str"}, {"dict"}):
            yield cases[number], plain(outputs[0]), plain(outputs[1])


def plain(value: Encoded) -> Any:
    """Return a value as plain Python data; a value that cannot be compared becomes an object that equals only
    itself.
    """
    if value["kind"] in ("list", "tuple"):
        items = [plain(item) for item in items_of(value)]
        return items if value["kind"] == "list" else tuple(items)
    if value["kind"] == "dict":
        return dict(zip(value["keys"], map(plain, value["items"]), strict=True))
    return value.get("value", object())


def _in_another_order(case: Case, expected: Sequence, actual: Sequence) -> bool:
    return sorted(map(repr, expected)) == sorted(map(repr, actual))


def _unchanged(case: Case, expected: Sequence, actual: Sequence) -> bool:
    given = next(iter((*case.args, *case.kwargs.values())), None)
    as_bytes = list(given.encode(errors="replace")) if isinstance(given, str) else given
    return actual in (given, as_bytes)


def _stops_early(case: Case, expected: Sequence, actual: Sequence) -> bool:
    return actual == expected[: len(actual)]


def _goes_on(case: Case, expected: Sequence, actual: Sequence) -> bool:
    return actual[: len(expected)] == expected


def _begins_before(case: Case, expected: Sequence, actual: Sequence) -> bool:
    return bool(actual) and actual[len(actual) - len(expected) :] == expected


def _begins_late(case: Case, expected: Sequence, actual: Sequence) -> bool:
    return bool(actual) and expected[len(expected) - len(actual) :] == actual


def _text(value: Sequence) -> str | None:
    return (
        value
        if isinstance(value, str)
        else "".join(value)
        if all(isinstance(one, str) for one in value)
        else None
    )


def _cut_elsewhere(case: Case, expected: Sequence, actual: Sequence) -> bool:
    return isinstance(expected, list) and _text(expected) is not None and _text(expected) == _text(actual)


def _other_case(case: Case, expected: Sequence, actual: Sequence) -> bool:
    texts = _text(expected), _text(actual)
    return texts[0] is not None and texts[1] is not None and texts[0].lower() == texts[1].lower()


def _letters_lost(case: Case, expected: Sequence, actual: Sequence) -> bool:
    texts = _text(expected), _text(actual)
    if texts[0] is None or texts[1] is None:
        return False
    letters = iter(texts[0])
    return len(texts[1]) < len(texts[0]) and all(letter in letters for letter in texts[1])


def _items_lost(case: Case, expected: Sequence, actual: Sequence) -> bool:
    items = iter(expected)
    return len(actual) < len(expected) and all(item in items for item in actual)


def _too_many(case: Case, expected: Sequence, actual: Sequence) -> bool:
    items = iter(actual)
    return len(actual) > len(expected) and all(item in items for item in expected)


RELATIONS: tuple[tuple[Callable[[Case, Sequence, Sequence], bool], Words], ...] = (
    (
        _in_another_order,
        (
            "Your list has the right items, but in the wrong order.",
            "In which order does the docstring ask for them?",
        ),
    ),
    (
        _stops_early,
        (
            "Your result is right as far as it goes, but it ends too early.",
            "Which items are still missing when your loop ends?",
        ),
    ),
    (
        _goes_on,
        (
            "Your result is right at first, but it does not end where it should.",
            "Which line still adds to the result at the end?",
        ),
    ),
    (
        _begins_before,
        (
            "Your result is right except for something extra at the beginning.",
            "What is in the result before the first step?",
        ),
    ),
    (
        _begins_late,
        (
            "Your result is right, but its beginning is missing.",
            "With which item does your loop start?",
        ),
    ),
    (
        _cut_elsewhere,
        (
            "Your pieces make up the right text, but they are cut at the wrong places.",
            "Which rule of the docstring says where your first wrong piece should end?",
        ),
    ),
    (
        _other_case,
        ("Your result differs only in capital letters.", "Which step changes the case of a letter?"),
    ),
    (
        _letters_lost,
        (
            "Some characters are in none of your pieces.",
            "Which step drops them?",
        ),
    ),
    (
        _items_lost,
        (
            "Your items are right, but some between them are missing.",
            "What do the missing items have in common?",
        ),
    ),
    (
        _too_many,
        (
            "Your result contains the right items in the right order, but also others.",
            "What do the extra items have in common?",
        ),
    ),
)
