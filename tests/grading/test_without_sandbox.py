"""Tests that `check` and `demo` run without a sandbox where none can be made, and say so."""

import socket

import pytest
from sandboxed import shown

from autograder.cli import main
from autograder.grading.demo import demo
from autograder.grading.sandbox import sandbox
from autograder.grading.worker import fork_server
from autograder.grading.worker.fork_server import ForkServer
from autograder.grading.worker.session import Ended, Session


@pytest.fixture
def without_sandbox(monkeypatch):
    monkeypatch.setattr(sandbox, "_tried", lambda: (None, "none is to be had here."))


def test_check_without_a_sandbox_says_so_in_one_line(without_sandbox, tmp_path, capsys):
    (tmp_path / "answer.py").write_text("import torch\ndef softmax(scores): return scores * 0")
    assert main(["check", "loops.softmax", str(tmp_path / "answer.py")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "without a sandbox" in line and "none is to be had here." in line


def test_the_demo_does_without_a_sandbox_and_says_so(without_sandbox, tmp_path, monkeypatch, capsys):
    asked = []
    for name in ("_enrol", "hand_in", "make_feedback", "_say_where"):
        monkeypatch.setattr(demo, name, lambda *_: None)
    monkeypatch.setattr(demo, "make_course", lambda folder: folder)
    monkeypatch.setattr(demo, "grade", lambda *_, sandboxed: asked.append(sandboxed) or [])
    demo.demo(tmp_path)
    assert asked == [False, False]
    assert [line for line in capsys.readouterr().out.splitlines() if "none is to be had here." in line]


def test_answers_run_where_there_is_no_linux(monkeypatch):
    """Make Linux look like another system, as far as possible."""
    monkeypatch.setattr(fork_server, "SOCKET_KIND", socket.SOCK_STREAM)
    last = "with quick_imports():"
    assert last in fork_server.START
    other = """
import types
del os.pidfd_open
from autograder.grading.sandbox.inside import privileges, system
from autograder.grading.worker.inside import warm_up
system.LIBC = None
system.sys = privileges.sys = warm_up.sys = types.SimpleNamespace(platform="darwin", argv=[], orig_argv=[])
"""
    monkeypatch.setattr(fork_server, "START", fork_server.START.replace(last, f"{other}{last}"))
    with ForkServer() as server:
        server.wait_until_warm()
        for code in ("print('done')", "import os\nos._exit(0)"):
            with Session(server, sandboxed=False) as session:
                try:
                    assert "done" in shown(session.cell(code))
                except Ended as ended:
                    assert "_exit" in code and "ended the process" in str(ended)
