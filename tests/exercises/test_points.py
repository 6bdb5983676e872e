"""Tests that exercises of a lesson earn points roughly in proportion to the minutes that they take."""

import pytest

from autograder.build.lesson import ROOT, find_lessons
from autograder.exercises import exercises_of

BASICS = [lesson.name for lesson in find_lessons(None, ROOT)][:10]


@pytest.mark.parametrize("lesson", BASICS)
def test_no_minute_of_a_lesson_earns_more_than_twice_as_much_as_another(lesson):
    rates = {exercise.name: exercise.points / exercise.minutes for exercise in exercises_of(lesson)}
    assert max(rates.values()) <= 2 * min(rates.values()), rates
