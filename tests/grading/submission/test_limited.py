"""Tests how work runs under limits on time and memory. Whatever the work does is reported, and all processes
that it starts end with it.
"""

import faulthandler
import os
import signal
import subprocess
import time

import pytest
from sandboxed import has_ended, waited

from autograder.grading.submission import limited
from autograder.grading.submission.limited import Broke, OverLimit

MB = 1024**2


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A generous wall-clock limit, so that only the time spent computing counts, however busy the machine is."""
    monkeypatch.setattr(limited, "WALL_PER_CPU_SECOND", 60)


def run(work, *args, seconds=5, memory=200 * MB):
    return limited.limited(work, *args, seconds=seconds, memory=memory)


def deep(x):
    return deep(x) + 1


def crashes():
    faulthandler.disable()  # it would write its report between the dots of pytest
    os.kill(os.getpid(), signal.SIGSEGV)


def endless():
    while True:
        pass


@pytest.mark.parametrize(
    "work, why",
    [
        (lambda: len(bytearray(400 * MB)), "too much memory"),
        (lambda: deep(0), "nested too deeply"),
        (crashes, "ended the process"),
        (lambda: os._exit(0), "ended the process"),
        (lambda: "x" * (70 * MB), "produced too much data"),
    ],
)
def test_work_that_reaches_a_limit_is_told_why(work, why):
    with pytest.raises(OverLimit, match=why):
        run(work, memory=(1000 if "data" in why else 200) * MB)


def test_work_without_end_is_ended():
    with pytest.raises(OverLimit, match="took too long"):
        run(endless, seconds=1)


def test_work_that_waits_without_computing_is_the_machines_fault(monkeypatch):
    monkeypatch.setattr(limited, "WALL_PER_CPU_SECOND", 0)
    with pytest.raises(TimeoutError):
        run(time.sleep, 1000)


def test_an_exception_keeps_its_traceback():
    with pytest.raises(Broke, match="ZeroDivisionError") as caught:
        run(lambda: 1 / 0)
    assert "lambda" in caught.value.trace


def test_what_work_started_ends_with_it():
    def starts_another():
        return subprocess.Popen(["sleep", "1000"]).pid

    pid = run(starts_another)
    assert waited(lambda: has_ended(pid))
