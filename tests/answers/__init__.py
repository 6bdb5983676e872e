"""Answers as people write them: for each exercise a file TOPIC/NAME.py whose `RIGHT` and `WRONG` hold answers
by name.

An answer is a function or class, its source text, or a dict of edits to the exercise's worked answer.
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
