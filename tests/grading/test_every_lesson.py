"""Tests that the worked answers of every lesson, handed in and graded, get every point that a check gives,
and that no answer is reported for a second look.
"""

import pytest

from autograder.exercises import all_exercises, lessons
from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import SampleSubmission
from autograder.grading.grade import grade
from autograder.grading.sandbox.sandbox import why_no_sandbox


@pytest.mark.trial
def test_worked_answers_get_all_points_in_a_class(tmp_path):
    course = tmp_path / "course"
    make_course(course)
    for lesson in lessons():
        hand_in(course, SampleSubmission("ada", lesson=lesson))
    rows = grade(course, sandboxed=not why_no_sandbox())
    assert len(rows) == len(lessons())
    earned = {name: points for row in rows for name, points in row.points.items()}
    full = {one.name: one.points for one in all_exercises()}
    assert {name: (earned[name], points) for name, points in full.items() if earned[name] != points} == {}
    assert {row.lesson: row.problem for row in rows if row.problem} == {}
