"""What `make test` prints: progress from the beginning, and at the end what was skipped and what it needs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--numprocesses",
        "2",
        "--dist",
        "loadgroup",
        str(tmp_path),
    ]
    folder = Path(__file__).parent
    environment = {
        "PYTHONPATH": f"{folder}:{folder / 'support'}:{folder.parent}",
        "PATH": "",
        "HOME": str(tmp_path),
    }
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout


def test_each_group_has_a_line_and_what_is_skipped_is_told_at_the_end(printed):
    lines = printed.splitlines()
    assert "each process looks for the tests" in lines[0]
    assert any(re.search(r"100 %  test_one.py: 5 tests in \d+:\d\d, 1 failed$", line) for line in lines)
    assert any("FAILED test_one.py::test_wrong" in line for line in lines)
    assert "    1 skipped: no thing is installed (apt install thing)" in lines
    assert re.match(r"1 failed, 3 passed, 1 skipped in", lines[-1])
