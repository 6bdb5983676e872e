"""How the tests are shared out among processes (`make test` starts one a core)."""

import os
import re
from pathlib import PurePath

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores
# The exercise that a test is about, where its parameters name one first.
EXERCISE = re.compile(r"\[((?:decoder|heads|loops|masking|matmul|mqa)\.\w+)")


def pytest_collection_modifyitems(items):
    """The trial of an exercise takes long, so those come first, and the rest fills up what is left."""
    items.sort(key=lambda item: "exercise_id" not in getattr(item, "fixturenames", ()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of one exercise, or else of files of one name, stay together: what they share is made once.

    subtle: xdist 3.8 looks for its own groups in a field that pytest 9 no longer has, and would share out every
    test on its own.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid)

    config.option.loadscopereorder = False  # the order of above is the order in which they are begun
    return ByGroup(config, log)


def pytest_terminal_summary(terminalreporter):
    """Where the pictures are that the browser tests took."""
    from browser.screenshots import FOLDER

    if any("tests/browser/" in report.nodeid for report in terminalreporter.stats.get("passed", ())):
        terminalreporter.write_line(f"Pictures of what the browser showed are in {FOLDER}")


def _group(nodeid: str) -> str:
    exercise = EXERCISE.search(nodeid)
    return exercise[1] if exercise else PurePath(nodeid.partition("::")[0]).name


@pytest.fixture(scope="session")
def built_book(tmp_path_factory):
    """The folder of the book's pages; test_book.py here and in browser/ look at the same ones."""
    from book_site import build_book

    return build_book(tmp_path_factory.mktemp("course"))
