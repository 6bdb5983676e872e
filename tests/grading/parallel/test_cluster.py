"""Tests grading on a Dask cluster with a real scheduler and two worker processes, one killed midway."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sandboxed import needs_sandbox

from autograder.errors import UserError
from autograder.grading.demo.hand_in import hand_in
from autograder.grading.demo.sample_class import FIRST, SOFTMAX, STUB, SampleSubmission
from autograder.grading.grade import grade

FULL = 21.0


@pytest.fixture
def started():
    """A function that starts a Dask program; all programs are ended after the test."""
    running = []

    def start(*words: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        running.append(
            subprocess.Popen(
                command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
            )
        )
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


def scheduler(started) -> str:
    """Start a scheduler on loopback; return its address."""
    process = started("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    for line in process.stderr:
        if found := re.search(r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)", line):
            return found.group(1)
    raise AssertionError("the scheduler did not start")


def worker(started, address: str, name: str, folder: Path) -> subprocess.Popen:
    words = ("--nthreads", "1", "--nworkers", "1", "--no-nanny", "--no-dashboard", "--name", name)
    process = started("dask_worker", address, *words, "--local-directory", str(folder))
    for line in process.stderr:
        if "Registered to" in line:
            return process
    raise AssertionError("the worker did not start")


@needs_sandbox
def test_a_lost_worker_loses_no_submission(started, course, tmp_path):
    address = scheduler(started)
    first, _ = (worker(started, address, name, tmp_path) for name in ("first", "second"))
    students = [f"student_{number}" for number in range(5)]
    for student in students:
        hand_in(course, SampleSubmission(student, answers={SOFTMAX: SLOW_RIGHT.format(student=student)}))
    run = subprocess.Popen(
        [sys.executable, "-m", "autograder", "grade", str(course), "--cluster", address, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    kept = course / ".grading" / FIRST
    while run.poll() is None and not list(kept.glob("*.json")):
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGKILL)
    printed, _ = run.communicate()
    assert run.returncode == 0
    assert printed.count(f'"total": {FULL}') == len(students)
    assert all(printed.count(f'"student": "{student}"') == 1 for student in students)


SLOW_RIGHT = """\
# {student}
e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
return e / e.sum(dim=-1, keepdim=True)"""


def test_an_address_where_nobody_listens(course, monkeypatch):
    from autograder.grading.parallel import cluster

    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    hand_in(course, SampleSubmission("ada", STUB))
    with pytest.raises(UserError, match="no Dask scheduler at"):
        grade(course, cluster="tcp://127.0.0.1:9")


def test_a_cluster_without_workers(started, course):
    hand_in(course, SampleSubmission("ada", STUB))
    with pytest.raises(UserError, match="has no workers"):
        grade(course, cluster=scheduler(started))
