"""Distributes the tests over processes (`make test` starts one more than there are cores), and can limit the
time of `make trial`.
"""

import functools
import os
import re
import time
from pathlib import PurePath

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores
# PyTorch imports this with the first optimiser. Cut off halfway by a time limit, it could not be imported
# again.
import torch._dynamo  # noqa: F401

# The exercise that a test is about, if its parameters name one first.
EXERCISE = re.compile(r"\[([a-z]\w*\.[A-Za-z]\w*)")
# The trial of an exercise: these files share the records of its answers and mistakes; other files share
# nothing.
TRIAL = re.compile(r"test_(alone|judge|mutants)\.py::")
# The lesson that a test runs or reads.
LESSON = re.compile(r"test_(?:lessons|lessons_run|bundle_runs)\.py::.*\[(\d\d_\w+)")

# Setting this up takes minutes, in which its process mostly waits; so it begins at once, beside others.
FIRST = "test_red_team.py"
BEGAN = pytest.StashKey[float]()


def pytest_addoption(parser):
    parser.addoption(
        "--minutes",
        type=float,
        help="leave out what has not begun after this time: for a machine that must be given back",
    )


def pytest_sessionstart(session):
    session.config.stash[BEGAN] = time.monotonic()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip tests in a run with --minutes: samples as long as there is time for the whole proofs, and tests of
    the trial once the time is over. pytest's summary gives the reasons.
    """
    minutes = item.config.getoption("minutes")
    if minutes is None:
        return
    is_over = time.monotonic() > item.config.stash[BEGAN] + 60 * minutes
    if is_over and item.get_closest_marker("trial"):
        pytest.skip("left out: the time was over (plain make trial has no limit)")
    if not is_over and item.get_closest_marker("sample"):
        pytest.skip("proved whole in this run")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Sort tests so that the longest come first and the rest fill the gaps. Mark as trial the tests in a
    browser, and also those of the student bundle, because making the bundle runs every mistake that no test
    has run yet.
    """
    for item in items:
        if "bundle_folder" in getattr(item, "fixturenames", ()) or "tests/browser/" in item.nodeid:
            item.add_marker("trial")
    # A sample comes after the whole proof, and is left out if that has run.
    items.sort(key=lambda item: bool(item.get_closest_marker("sample")))
    items.sort(key=_turn)


def _turn(item) -> tuple:
    group = _group(item.nodeid)
    if group == FIRST:
        return (0,)
    if LESSON.search(item.nodeid):
        return 2, False, group
    if not group.endswith(".py"):
        # An exercise with more mistakes takes longer, so it comes earlier.
        return 1, -_mistakes(group), group
    return 2, "tests/browser/" not in item.nodeid


@functools.cache
def _mistakes(exercise_id: str) -> int:
    from autograder.exercises import find

    return len(find(exercise_id).mistakes)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return one more than the number of cores, because a process often waits for a browser, a sandbox or a
    timer.
    """
    return (yield) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of each exercise together, and those of each lesson. All other tests are grouped by the
    name of their file. What the tests of a group share is then made only once.

    subtle: xdist 3.8 looks for its own groups in a field that pytest 9 no longer has, and would distribute
    every test separately.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    config.option.loadscopereorder = False  # groups begin in the order set above
    return ByGroup(config, log)


def pytest_terminal_summary(terminalreporter):
    """Print where the browser tests have put their pictures."""
    from browser.screenshots import FOLDER

    if any("tests/browser/" in report.nodeid for report in terminalreporter.stats.get("passed", ())):
        terminalreporter.write_line(f"Pictures of what the browser showed are in {FOLDER}")


def _group(nodeid: str) -> str:
    exercise = TRIAL.search(nodeid) and EXERCISE.search(nodeid)
    found = exercise or LESSON.search(nodeid)
    return found[1] if found else PurePath(nodeid.partition("::")[0]).name


@pytest.fixture(scope="session")
def built_book(tmp_path_factory):
    """The folder of the book's pages, which build/test_book.py and browser/test_book.py share."""
    from book_site import build_book

    return build_book(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """The folder, shared by all test processes, of the recordings that the student bundle takes."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "recordings"


@pytest.fixture(scope="session")
def bundle_folder(recordings):
    """The folder of the unpacked student bundle, which all test processes share."""
    from unpacked import unpacked

    return unpacked(recordings)
