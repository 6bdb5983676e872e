"""A course with an instructor's own exercises, here the toys: text, lists, floats, a cache, a training step."""

import os
import subprocess
import sys

import pytest
from answers import IMPORTS

import autograder.exercises as exercises
from autograder.build.lesson import Lesson
from autograder.build.notebooks import as_text, teacher_notebook
from autograder.exercises import exercises_of
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
def own_exercises(monkeypatch, request):
    monkeypatch.setenv("AUTOGRADER_EXERCISES", str(request.config.rootpath / "tests" / "exercises" / "toys"))
    exercises.all_exercises.cache_clear()
    yield exercises_of(TOYS)
    exercises.all_exercises.cache_clear()


def lesson(folder, asked) -> Lesson:
    """The source of a lesson with these exercises, as an author would write it."""
    first = f"# %% [markdown]\n# # Toys\n\n# %%\n{IMPORTS}\nfrom autograder import check\n"
    cells = [CELLS.format(id=one.id, worked=source_of(one.worked).strip()) for one in asked]
    (folder / "solutions").mkdir()
    (folder / "solutions" / f"{TOYS}.py").write_text(first + "".join(cells), encoding="utf-8")
    return Lesson(TOYS, folder)


def test_are_graded_like_those_of_the_lessons(own_exercises, course, tmp_path):
    source = course / "source" / TOYS / f"{TOYS}.ipynb"
    source.parent.mkdir()
    source.write_text(as_text(teacher_notebook(lesson(tmp_path, own_exercises))), encoding="utf-8")
    assert open_course(course).generate_assignment(TOYS)["success"]
    hand_in(course, SampleSubmission("right", lesson=TOYS))
    mistakes = {one.id: one.mistakes[0].id for one in own_exercises}
    hand_in(course, SampleSubmission("wrong", lesson=TOYS, answers=mistakes))
    command = [sys.executable, "-m", "autograder", "grade", str(course)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ})
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row.student: row for row in read_rows(open_course(course), find_submissions(course, None, [TOYS]))}
    assert rows["right"].points == {one.name: one.points for one in own_exercises}
    for one in own_exercises:
        assert rows["wrong"].points[one.name] < one.points, one.id
