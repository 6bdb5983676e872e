"""Prints how much each family of cases is needed: `python tests/families.py [EXERCISE_ID...]` shows, for
every exercise and family, how many known mistakes and wrong answers the family reveals, and how many of them
no other family reveals.

A metric, not a test: a family that reveals nothing by itself may still say where an answer goes wrong.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("support")))

from answers import answers
from judged import IDS, PUBLIC, expected_of, results_of

from autograder.exercises import find


def families(exercise_id: str) -> dict[str, tuple[int, int]]:
    """Return, for each family, (number of answers that it shows to be wrong, number of those that no other
    family shows to be wrong).
    """
    exercise, expected = find(exercise_id), expected_of(exercise_id, *PUBLIC)
    wrong = [cases for _, cases in map(expected.run, range(len(exercise.mistakes)))]
    for answer in answers(exercise)[1].values():
        wrong.append(expected.wrong_cases(results_of(exercise, expected.cases, answer)))
    shown = [{expected.cases[case].family for case in cases} for cases in wrong]
    some = Counter(name for names in shown for name in names)
    alone = Counter(name for names in shown if len(names) == 1 for name in names)
    return {case.family: (some[case.family], alone[case.family]) for case in expected.cases}


if __name__ == "__main__":
    for exercise_id in sys.argv[1:] or IDS:
        print(exercise_id)
        for family, (some, alone) in families(exercise_id).items():
            print(f"  {some:4} {alone:4} alone  {family}")
