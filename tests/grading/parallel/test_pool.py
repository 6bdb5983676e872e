"""Tests how submissions are graded in parallel."""

import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

from autograder.grading.judging.results import Result
from autograder.grading.parallel import pool
from autograder.grading.submission.find import Submission


def test_no_two_submissions_of_one_student_run_at_the_same_time(monkeypatch, tmp_path):
    running, most, together = [], [], threading.Barrier(2)

    def run(unit):
        running.append(unit.student)
        if unit.lesson == "other":
            together.wait(timeout=30)  # until a submission of another student runs, too
        else:
            time.sleep(0.05)
        most.append(running.count(unit.student))
        running.remove(unit.student)
        return Result()

    def read(submission, *_):
        return SimpleNamespace(unit=submission, key=f"{submission.student}-{submission.lesson}")

    monkeypatch.setattr(pool, "read", read)
    monkeypatch.setattr(pool.results, "load", lambda *_: None)
    runner = SimpleNamespace(run=run, how=SimpleNamespace(secret=""))
    lessons = [str(number) for number in range(4)]
    work = pool._Work(dict.fromkeys([*lessons, "other"]), runner)
    todo = [Submission(tmp_path, "eve", lesson) for lesson in lessons]
    todo += [Submission(tmp_path, student, "other") for student in ("ada", "bo")]
    done = []
    threads = [threading.Thread(target=lambda one=one: done.append(work.done(one))) for one in todo]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(isinstance(one.result, Result) for one in done) and len(done) == 6
    assert most == [1] * 6


def test_who_stops_early_waits_for_no_half_of_a_result(tmp_path):
    """Stop the grading while a process is still sending its result, which takes longer to send than to make."""

    class Work:
        def done(self, submission):
            return pool.Done(submission, Result(), bytes(20_000_000))

    todo = [Submission(tmp_path, str(number), "01") for number in range(20)]
    for _ in range(5):
        done = pool._in_processes(todo, Work(), 3)
        assert next(done).submission in todo
        done.close()


class Big:
    """A result that is too long for a pipe. Just before it is sent, it kills another process, whose id is in
    the file `other`.
    """

    def __init__(self, other: Path):
        self.other = other

    def __reduce__(self):
        os.kill(int(self.other.read_text()), signal.SIGKILL)
        while not pool._process.get()._is_stopped:  # until the pool has noticed
            time.sleep(0.01)
        return bytes, (bytes(20_000_000),)


def test_a_process_that_sends_a_result_ends_after_another_has_died(tmp_path):
    class Work:
        def done(self, submission):
            other = tmp_path / "other"
            if submission.lesson == "dies":
                other.with_suffix(".new").write_text(str(os.getpid()))
                other.with_suffix(".new").rename(other)
                while True:
                    signal.pause()
            while not other.exists():
                time.sleep(0.01)
            return pool.Done(submission, Result(), Big(other))

    todo = [Submission(tmp_path, lesson, lesson) for lesson in ("dies", "sends")]
    done = list(pool._in_processes(todo, Work(), 2))
    assert [one.result for one in done] == [pool.PROCESS_ENDED] * 2
