"""Tests that the workflow for GitHub Classroom in GRADING.md does what GRADING.md says."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from autograder.exercises import exercises_of
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, SampleSubmission

WORKFLOW = re.compile(r"^## GitHub Classroom\n.*?^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def job(request) -> dict:
    guide = (request.config.rootpath / "GRADING.md").read_text(encoding="utf-8")
    return yaml.safe_load(WORKFLOW.search(guide)[1])["jobs"]["check"]


def test_it_checks_every_exercise_of_the_lesson(job):
    assert job["strategy"]["matrix"]["exercise"] == [exercise.id for exercise in exercises_of(FIRST)]


@pytest.mark.parametrize(
    ("answers", "status"), [({}, 0), ({SOFTMAX: "SMX-01"}, 1)], ids=["right", "partly right"]
)
def test_its_last_step_passes_what_is_right_and_fails_the_rest(job, first_course, tmp_path, answers, status):
    course = shutil.copytree(first_course, tmp_path / "course")
    shutil.copy(hand_in(course, SampleSubmission("x", answers=answers)), tmp_path)
    step = (
        job["steps"][-1]["run"]
        .replace("${{ matrix.exercise }}", SOFTMAX)
        .replace("python", sys.executable, 1)
    )
    done = subprocess.run(step, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stderr
    assert ("What is exp(1000) in float32?" in done.stdout) == bool(status)
