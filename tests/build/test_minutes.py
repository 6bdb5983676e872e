"""Tests how many minutes a lesson is said to take."""

from autograder.build.lesson import Cell
from autograder.build.minutes import CODE, READING, minutes_of

TEXT = Cell("plain", False, "word " * READING * 20, "text")
GIVEN = Cell("plain", True, "print()\n\n" * CODE * 10, "given")
EXERCISE = Cell("exercise", True, "return x\n" * CODE * 10, "answer", "small.answer", 5, 15)
CHECK = Cell("check", True, "check(answer)\n" * CODE * 10, "check", "small.answer", 5)


def test_code_that_is_given_takes_minutes_and_empty_lines_take_none():
    assert minutes_of([TEXT, GIVEN]) - minutes_of([TEXT]) == 10


def test_an_exercise_takes_its_own_minutes_whatever_its_code_is():
    assert minutes_of([TEXT, EXERCISE, CHECK]) - minutes_of([TEXT]) == 15
