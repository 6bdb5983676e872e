"""Tests a course with an instructor's own exercises. The exercises are those of tests/exercises/toys, on
text, lists, floats, a cache and a training step.
"""

import shutil

import pytest
from answers import IMPORTS
from term import autograder

from autograder.exercises import exercises_of, own
from autograder.grading.course.make import make_course
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import SampleSubmission
from autograder.grading.gradebook.open_course import open_course
from autograder.grading.gradebook.table import read_rows
from autograder.grading.submission.find import find_submissions
from autograder.schema.mistake import source_of

TOYS = "90_toys"
CELLS = """
# %% exercise: {id}
### BEGIN SOLUTION
{worked}
### END SOLUTION
"""


@pytest.fixture
def own_exercises(monkeypatch, request, tmp_path):
    folder = tmp_path / "own"
    shutil.copytree(request.config.rootpath / "tests" / "exercises" / "toys", folder / "exercises")
    monkeypatch.setenv(own.VARIABLE, "")
    own.use(folder)
    return folder, exercises_of(TOYS)


def write_lesson(folder, asked) -> None:
    """Write the source of a lesson with these exercises, as its author would."""
    first = f"# %% [markdown]\n# # Toys\n\n# %%\n{IMPORTS}\nfrom autograder import check\n"
    cells = [CELLS.format(id=one.id, worked=source_of(one.worked).strip()) for one in asked]
    (folder / "solutions").mkdir()
    (folder / "solutions" / f"{TOYS}.py").write_text(first + "".join(cells), encoding="utf-8")


def test_are_graded_like_those_of_the_lessons(own_exercises, tmp_path, monkeypatch):
    folder, asked = own_exercises
    write_lesson(folder, asked)
    course = make_course(tmp_path / "course", ["01"], folder)
    hand_in(course, SampleSubmission("right", lesson=TOYS))
    mistakes = {one.id: one.mistakes[0].id for one in asked}
    hand_in(course, SampleSubmission("wrong", lesson=TOYS, answers=mistakes))
    monkeypatch.delenv(own.VARIABLE)
    autograder("grade", course, cwd=tmp_path)
    rows = {
        row.student: row for row in read_rows(open_course(course), find_submissions(course, None, [TOYS]))
    }
    assert rows["right"].points == {one.name: one.points for one in asked}
    for one in asked:
        assert rows["wrong"].points[one.name] < one.points, one.id
