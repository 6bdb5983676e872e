"""In which part of an answer is it wrong? For answers without a known mistake, of which more is not known.

A part on which the result does not depend; and cases that are made so that they need one part only.
"""

from autograder.exercises.exercise import DTYPES, EMPTY_ROWS, STABILITY, Case, Exercise
from autograder.judge import words
from autograder.judge.findings import FINITE, NUMBERS, Finding

# Below this, the gradient that is due is not told from none.
SMALL = 1e-3

ONE_ASPECT = {
    EMPTY_ROWS: (
        "Only queries that may attend to nothing go wrong.",
        "What is due for such a query, and which numbers stand in its row of weights?",
    ),
    STABILITY: (
        "Your result is right for ordinary scores, and wrong for very large or very low ones.",
        "Which step is only right as long as the scores are small?",
    ),
    DTYPES: (
        "Only float64 inputs go wrong.",
        "Which step leaves float64 on the way?",
    ),
}


def one_aspect(found: list[Finding]) -> tuple[str, str] | None:
    """What is seen where wrong numbers cost one aspect alone, and not the ordinary values."""
    aspects = {finding.aspect for finding in found if finding.rung in (FINITE, NUMBERS)}
    return ONE_ASPECT.get(aspects.pop()) if len(aspects) == 1 else None


def unused(exercise: Exercise, cases: list[Case], expected: list[dict], records: list[dict]) -> tuple | None:
    """(what is seen, the question to ask) where the result never depends on an input or parameter."""
    needed, reached = {}, set()
    for due, got in zip(expected, records, strict=True):
        wants, haves = (one.get("steps", {}).get("gradients", {}) for one in (due, got))
        if wants.get("kind") != "dict" or haves.get("kind") != "dict":
            continue
        found = dict(zip(haves["keys"], haves["items"], strict=True))
        for key, want in zip(wants["keys"], wants["items"], strict=True):
            if _is_more_than(want, SMALL):
                needed[key] = True
                reached |= {key} if _is_more_than(found.get(key, {}), 0.0) else set()
    never = [key for key in needed if key not in reached]
    if not never or not reached:
        return None
    return f"Your result never depends on `{_part(exercise, never)}`.", (
        "Which line should use it, and what does that line use?"
    )


def _is_more_than(value: dict, limit: float) -> bool:
    # subtle: NaN is more than any limit; where it comes from is another question.
    return value.get("kind") == "tensor" and not bool((value["data"].abs() <= limit).all())


def _part(exercise, never) -> str:
    """The first of the names; of a layer of which nothing is used, the layer."""
    part, _, last = never[0].rpartition(".")
    whole = last == "weight" and f"{part}.bias" in never
    return words.name_of(exercise, part if whole and not part.isdigit() else never[0])


def clue(exercise: Exercise, cases: list[Case], found: list[Finding]) -> tuple[str, str] | None:
    """What the first clue says of which one family goes wrong and others do not."""
    wrong = {cases[finding.case].family for finding in found if finding.rung in (FINITE, NUMBERS)}
    for one in exercise.clues:
        if wrong.issuperset(one.wrong) and wrong.isdisjoint(one.right):
            return one.sees, one.asks
    return None
