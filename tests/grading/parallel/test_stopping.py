"""Tests that Ctrl-C during the grading of a class takes effect at once, and that finished work is kept."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from sandboxed import needs_sandbox, waited
from term import change

from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SampleSubmission
from autograder.grading.grade import grade

pytestmark = needs_sandbox

# The second submission never ends.
ENDLESS = """
import os, signal, sys
from autograder.cli import main
from autograder.grading.parallel import local

run, folder = local.run_unit, sys.argv[1]

def run_unit(unit, *args):
    if any("never_ends" in step.text for step in unit.steps):
        open(f"{folder}/begun", "w").close()
        while True:
            signal.pause()
    return run(unit, *args)

local.run_unit = run_unit
sys.exit(main(["grade", folder, "--workers", "2"]))
"""


@pytest.fixture
def course(first_course, tmp_path) -> Path:
    folder = Path(shutil.copytree(first_course, tmp_path / "course"))
    for student in ("ada", "bo"):
        hand_in(folder, SampleSubmission(student))
    work = folder / "submitted" / "bo" / FIRST / f"{FIRST}.ipynb"
    change(work, lambda notebook: notebook.cells.append(new_code_cell("never_ends = 1")))
    return folder


def test_ctrl_c_is_heard_at_once_and_keeps_what_is_done(course):
    command = [sys.executable, "-c", ENDLESS, str(course)]
    grading = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    results = course / ".grading" / "results"
    assert waited(lambda: grading.poll() or ((course / "begun").exists() and list(results.glob("*.json"))))
    assert grading.poll() is None
    os.killpg(grading.pid, signal.SIGINT)  # as a terminal does, to all that run in it
    try:
        said = grading.communicate(timeout=300)[1]
    finally:
        if grading.poll() is None:
            os.killpg(grading.pid, signal.SIGKILL)
    assert grading.returncode == 2 and "Traceback" not in said
    assert said.index("stopping; what is graded is kept") < said.index("grading was stopped")

    (kept,) = results.glob("*.json")
    at = kept.stat().st_mtime_ns
    rows = {row.student: row for row in grade(course)}
    assert not rows["ada"].ungraded and not rows["bo"].ungraded
    assert kept.stat().st_mtime_ns == at and len(list(results.glob("*.json"))) == 2
