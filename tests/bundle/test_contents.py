"""Tests exercises whose points a course has changed: the points add up, and are printed without trailing
zeros or rounding errors.
"""

import pytest

from autograder.bundle.contents import _worth
from autograder.exercises import find
from autograder.notebook.card import text_of
from autograder.notebook.progress_card import text_of as progress_of
from autograder.notebook.standing import Part, Standing
from autograder.verdict import PARTLY_RIGHT, RIGHT, Aspect, Verdict


@pytest.mark.parametrize("points", [1, 7, 7.5, 10, 134.0])
def test_aspects_add_up_to_the_points_of_the_course(points):
    assert _worth(find("loops.softmax"), points).points == points


def test_progress_writes_points_as_people_do():
    exercise = _worth(find("loops.softmax"), 10.0)
    part = Part("01", "01.ipynb", (Standing(exercise, PARTLY_RIGHT, 7.142900000000001),))
    text = progress_of([part])
    assert "Progress: 7.14 of 10 points" in text and text.endswith("partly done 7.14 of 10")
    whole = Part("01", "01.ipynb", (Standing(_worth(exercise, 134.0), RIGHT, 10.0),))
    assert "Progress: 10 of 134 points" in progress_of([whole])


def test_a_verdict_writes_points_as_people_do():
    aspects = (Aspect("values", 7.142900000000001, 7.1429), Aspect("dtypes", 0.0, 2.8571))
    verdict = Verdict("loops.softmax", PARTLY_RIGHT, aspects)
    assert verdict.points == 7.1429 and verdict.max_points == 10.0
    assert text_of(verdict).startswith(
        "◐ loops.softmax: partly right, 7.14 of 10 points (values 7.14 of 7.14,"
    )
