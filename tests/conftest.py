"""How the tests are shared out among processes (`make test` starts one a core)."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of one exercise, or else of one module, stay together: what they share is made once.

    The trial of an exercise takes long, so those come first, and the rest fills up what is left.
    subtle: tryfirst, or xdist has looked for groups before there are any.
    """
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    items.sort(key=lambda item: "exercise_id" not in getattr(item, "fixturenames", ()))


def pytest_terminal_summary(terminalreporter):
    """Where the pictures are that the browser tests took."""
    from browser.screenshots import FOLDER

    if any("tests/browser/" in report.nodeid for report in terminalreporter.stats.get("passed", ())):
        terminalreporter.write_line(f"Pictures of what the browser showed are in {FOLDER}")


def _group(item) -> str:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("exercise_id") or item.module.__name__
