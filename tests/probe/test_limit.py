"""Tests that a time limit is enforced by the system's timers or, if there are none or the code runs in
another thread, by a watchdog thread. The verdict and its message are the same either way, and nothing of the
limit remains afterwards.
"""

import contextlib
import itertools
import signal
import sys
import threading
from types import SimpleNamespace

import pytest
import torch

from autograder.exercises import find
from autograder.judge import cases_of, judge
from autograder.probe import limit, probe
from autograder.probe.guard import guarded
from autograder.probe.limit import OutOfTime, time_limit

SHORT = 0.05


def endless(scores):
    while True:
        try:
            torch.exp(scores)
        except Exception:
            continue


def endless_in_one_line(scores):
    """Loop for ever on one line, so that the message names the same line wherever the loop is stopped."""
    return all(torch.exp(scores) is not None for _ in itertools.count())


@pytest.fixture(params=["the system's timers", "a thread that watches"])
def way(request, monkeypatch):
    if "watches" in request.param:
        monkeypatch.setattr(limit, "HAS_TIMERS", False)
    elif not limit.HAS_TIMERS:
        pytest.skip("this system has no timers")


def in_a_thread(call):
    made = []
    thread = threading.Thread(target=lambda: made.append(call()))
    thread.start()
    thread.join()
    return made[0]


def verdict():
    exercise = find("loops.softmax")
    cases = cases_of(exercise)[:2]
    return judge(exercise, cases, probe(endless_in_one_line, cases, seconds=SHORT))


def test_an_endless_loop_has_one_verdict_however_it_is_stopped(way):
    words = "There was no answer after 0.05 seconds"
    here, elsewhere = verdict(), in_a_thread(verdict)
    assert here == elsewhere and words in here.message, here.message
    assert "return all(torch.exp" in here.message, (
        "the line of the loop, not of what the limit's next ring met"
    )


def test_one_that_swallows_the_first_ring_hears_the_next(way):
    rings = []

    def deaf():
        while len(rings) < 3:
            # subtle: on a busy machine, one timer may ring while the other one's ring is being recorded.
            with contextlib.suppress(OutOfTime):
                try:
                    endless(torch.ones(1))
                except OutOfTime:
                    rings.append(1)
        return "done"

    assert guarded(deaf, 10 * SHORT) == ("done", None)


@pytest.mark.skipif(not limit.HAS_TIMERS, reason="this system has no timers")
def test_a_ring_while_the_limit_is_taken_away_does_not_leave_it_half_done():
    """Let both timers fire in quick succession, as on a busy machine: the second fires while the first one's
    exception leaves the block that has the limit, or while the first one's handler still runs.
    """
    leaving = SimpleNamespace(f_code=limit._ByTimers.__exit__.__code__, f_back=None)
    ring = limit._ByTimers(1, 1)._ring
    ring(0, leaving)
    ringing = SimpleNamespace(f_code=ring.__func__.__code__, f_back=leaving)
    ring(0, ringing)
    ring(0, SimpleNamespace(f_code=limit._imports_in.__code__, f_back=ringing))
    with pytest.raises(OutOfTime):
        ring(0, SimpleNamespace(f_code=endless.__code__, f_back=leaving))


def test_a_module_that_is_being_imported_is_imported_whole(way, tmp_path, monkeypatch):
    """Let the limit fire in the middle of a nested import."""
    (tmp_path / "outer_one.py").write_text("import inner_one\nwhole = True\n")
    (tmp_path / "inner_one.py").write_text("import ringing\nringing.ring()\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    block, rung = time_limit(100), []

    def ring():
        if limit.HAS_TIMERS:
            signal.raise_signal(signal.SIGALRM)
        else:
            in_a_thread(lambda: block.ring_if_late(1000, 1000))

    monkeypatch.setitem(sys.modules, "ringing", SimpleNamespace(ring=ring))
    with pytest.raises(OutOfTime), block:
        import outer_one

        rung.append((outer_one.whole, outer_one.inner_one.whole))
        ring()
        endless(torch.ones(1))
    assert rung == [(True, True)]
    del sys.modules["outer_one"], sys.modules["inner_one"]


def test_nothing_rings_after_the_block(way):
    def count(to):
        number = 0
        while number < to:
            number += 1
        return number

    for round in range(200):  # some are stopped, some are not, some at the very end
        with contextlib.suppress(OutOfTime), time_limit(0.006):
            count(90_000 + 400 * round)
    assert count(1_000_000) == 1_000_000
