"""What `make test` prints: progress from the beginning, and at the end what was skipped and what it needs."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from progress import Progress, skipped

SOURCE = """
import pytest
@pytest.mark.parametrize("n", range(3))
def test_right(n): pass
def test_wrong(): assert False
@pytest.mark.skip(reason="no thing is installed (apt install thing)")
def test_skipped(): pass
"""


@pytest.fixture
def printed(tmp_path) -> str:
    """What two processes print that share one file of tests, as in a log."""
    (tmp_path / "test_one.py").write_text(SOURCE)
    (tmp_path / "conftest.py").write_text(Path(__file__).with_name("conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", "--dist", "loadgroup", str(tmp_path)]
    folder = Path(__file__).parent
    environment = {"PYTHONPATH": f"{folder}:{folder.parent}", "PATH": "", "HOME": str(tmp_path)}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout


def test_each_group_has_a_line_and_what_is_skipped_is_told_at_the_end(printed):
    lines = printed.splitlines()
    assert "each process looks for the tests" in lines[0]
    assert any(re.search(r"100 %  test_one.py: 5 tests in \d+:\d\d, 1 failed$", line) for line in lines)
    assert any("FAILED test_one.py::test_wrong" in line for line in lines)
    assert "    1 skipped: no thing is installed (apt install thing)" in lines
    assert re.match(r"1 failed, 3 passed, 1 skipped in", lines[-1])


def test_what_is_at_work_is_told_where_nothing_ends(monkeypatch):
    said = []
    progress = Progress(said.append, lambda test: test.partition("::")[0])
    progress.pytest_xdist_node_collection_finished(None, ["slow::a", "slow::b", "quick::c"])
    for test in ("slow::a", "quick::c"):
        progress.pytest_runtest_logstart(test)
    progress.pytest_runtest_logreport(SimpleNamespace(nodeid="quick::c", failed=False, when="teardown"))
    assert said[-1].endswith("33 %  quick: 1 tests in 0:00")
    progress._at_work()
    assert said[-1].endswith("at work: slow")


def test_one_reason_is_told_once():
    reports = [SimpleNamespace(longrepr=("file", 1, f"Skipped: {reason}")) for reason in ("one", "two", "two")]
    assert skipped(reports) == ["    2 skipped: two", "    1 skipped: one"]
