"""Runs the command blocks of "Ten minutes" in GRADING.md from top to bottom in a new folder, with only one
lesson and without formgrader.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sandboxed import needs_sandbox
from term import written_points

from autograder.exercises.own import VARIABLE
from autograder.grading.demo.hand_in import notebook_text
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, WRITTEN, SampleSubmission

STEPS = re.compile(r"^## Ten minutes\n(.*?)^## ", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^ *```\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
STUDENTS = (
    "id,first_name,last_name,email\nada,Ada,Lovelace,ada@example.org\nalan,Alan,Turing,alan@example.org\n"
)
ONE_LESSON = (
    "course my_course",
    "course my_course --only 01",
)  # the other lessons take minutes, and show no more


def commands(guide: str) -> list[str]:
    blocks = BLOCK.findall(STEPS.search(guide)[1])
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line.replace(*ONE_LESSON) for line in lines if line]


def before(command: str, course: Path) -> None:
    """Make the files, or give the points, that a teacher would have to make or give before this command."""
    if "student import" in command:
        (course / "students.csv").write_text(STUDENTS)
    if "collect" in command:
        with zipfile.ZipFile(course / "submissions.zip", "w") as archive:
            right, wrong = (
                SampleSubmission("x", written=WRITTEN),
                SampleSubmission("x", answers={SOFTMAX: "SMX-01"}),
            )
            archive.writestr(f"lovelaceada_1_2_{FIRST}-1.ipynb", notebook_text(course, right))
            archive.writestr(f"turingalan_LATE_3_4_{FIRST}.ipynb", notebook_text(course, wrong))
    if "generate_feedback" in command:
        written_points(course, FIRST, "ada", "loops-why_scale", 3.0)


@needs_sandbox
@pytest.mark.trial
def test_every_command_of_the_ten_minutes_does_what_it_says(request, tmp_path):
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if name != VARIABLE} | {"PATH": programs}
    place, said = tmp_path, []
    for command in commands((request.config.rootpath / "GRADING.md").read_text(encoding="utf-8")):
        if "jupyterlab" in command:  # formgrader has tests of its own, in a browser
            continue
        if command.startswith("cd "):
            place = place / command.removeprefix("cd ")
            continue
        before(command, place)
        done = subprocess.run(
            command, shell=True, cwd=place, env=env, capture_output=True, text=True, timeout=900
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said.append(command)
    assert len(said) >= 10
    assert {path.name for path in (place / "submitted").iterdir()} == {"ada", "alan"}
    assert (place / "submitted/alan" / FIRST / "timestamp.txt").read_text() == "2026-11-20 23:59:01 UTC"
    made = ["attention-by-hand.zip", "report.html", "canvas.csv", "moodle.csv", "grades.csv"]
    made.append(f"feedback-{FIRST}-canvas.zip")
    assert all((place / name).stat().st_size > 100 for name in made)
    assert "24" in (place / "canvas.csv").read_text().split("Lovelace")[1]
    for student in ("ada", "alan"):
        assert (place / "feedback" / student / FIRST / f"{FIRST}.html").is_file()
