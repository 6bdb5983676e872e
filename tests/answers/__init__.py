"""Answers as people write them: for each exercise a file TOPIC/NAME.py with `RIGHT` and `WRONG` ones by name.

An answer is a function or class, the text of one, or a dict of edits of the exercise's worked answer.
"""

from functools import cache
from pathlib import Path

from autograder.build.asked.subject import IMPORTS, answers_to
from autograder.exercises import find

__all__ = ["IMPORTS", "answers"]


def answers(exercise) -> tuple[dict, dict]:
    """Return (right answers, wrong answers) to an exercise, each by name."""
    known = _answers(exercise.id)
    return known["RIGHT"], known["WRONG"]


@cache
def _answers(exercise_id: str) -> dict[str, dict]:
    return answers_to(find(exercise_id), Path(__file__).parent)
