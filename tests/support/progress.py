"""What `make test` shows: a line for each group of tests that is done, and what is at work when nothing ends.

Lines, not dots: they read the same on a terminal and in a log, and the groups that are begun first set up for minutes.
"""

import threading
import time
from collections import Counter

import pytest

SECONDS_OF_SILENCE = 15.0


class Progress:
    """A plugin of the process that shares out the tests. `group_of` says to which group a test belongs."""

    def __init__(self, write_line, group_of):
        self._write_line, self._group_of = write_line, group_of
        self._began = self._spoke = time.monotonic()
        self._tests, self._done, self._failed = Counter(), Counter(), Counter()
        self._found, self._begun = 0, {}
        self._over, self._speaking = threading.Event(), threading.Lock()

    def pytest_sessionstart(self):
        self._say("each process looks for the tests ...")
        threading.Thread(target=self._break_silence, daemon=True).start()

    def pytest_sessionfinish(self):
        self._over.set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self._found += 1
        self._tests = Counter(map(self._group_of, ids))
        self._say(f"process {self._found} has found {len(ids)} tests in {len(self._tests)} groups")

    def pytest_runtest_logstart(self, nodeid):
        group = self._group_of(nodeid)
        if group not in self._begun:
            self._begun[group] = time.monotonic()

    def pytest_runtest_logreport(self, report):
        group = self._group_of(report.nodeid)
        if report.failed:
            self._failed[group] += 1
            self._say(f"FAILED {report.nodeid} ({report.when})")
        if report.when == "teardown":
            self._done[group] += 1
            if self._done[group] == self._tests[group]:
                self._say(self._result(group))

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self, report):
        """Tests are counted as ever, and leave no dot."""
        category, *_ = yield
        return category, "", ""

    def _result(self, group: str) -> str:
        seconds = time.monotonic() - self._begun.get(group, self._began)
        failed = f", {self._failed[group]} failed" if self._failed[group] else ""
        return f"{group}: {self._done[group]} tests in {_clock(seconds)}{failed}"

    def _break_silence(self):
        while not self._over.wait(1.0):
            if time.monotonic() > self._spoke + SECONDS_OF_SILENCE:
                self._at_work()

    def _at_work(self):
        groups = [group for group in list(self._begun) if self._done[group] < self._tests[group]]
        self._say(f"at work: {', '.join(groups) or 'looking for the tests'}")

    def _say(self, text: str) -> None:
        with self._speaking:
            total = self._tests.total()
            share = f"{100 * self._done.total() // total:3} %" if total else " " * 5
            self._spoke = time.monotonic()
            self._write_line(f"{_clock(self._spoke - self._began):>6} {share}  {text}")


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def skipped(reports) -> list[str]:
    """Why tests were skipped, each reason once, with how many there are."""
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    return [f"{count:5} skipped: {reason}" for reason, count in reasons.most_common()]
