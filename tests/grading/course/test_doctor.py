"""Tests that `doctor` names every line of defence that is missing."""

import subprocess
import sys

from sandboxed import needs_sandbox, shown

from autograder.grading.course import doctor
from autograder.grading.worker.fork_server import shared_fork_server
from autograder.grading.worker.session import Session


@needs_sandbox
def test_nothing_that_should_be_closed_is_open():
    with Session(shared_fork_server()) as session:
        assert shown(session.cell(doctor.PROBE)) == ""


def test_what_is_open_without_a_sandbox_is_named():
    text = subprocess.run(
        [sys.executable, "-c", doctor.PROBE], capture_output=True, text=True, check=True
    ).stdout
    assert "shared memory that is not counted can be made" in text.splitlines()
    finding = doctor.second_lines(text.splitlines())
    assert finding.state == doctor.LIMITED and "/dev/zero" in finding.advice
