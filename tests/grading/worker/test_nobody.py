"""Tests that a grader that is root gives up its rights, or stays as it was."""

import os

import pytest
from sandboxed import in_a_fork

from autograder.grading.worker.inside import nobody

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def rights() -> tuple:
    return os.getresuid(), os.getresgid(), sorted(os.getgroups())


def test_it_becomes_nobody_in_every_respect(monkeypatch):
    monkeypatch.setattr(nobody, "LIBRARIES", ("/",))  # Python itself may lie in a folder of root's own

    def work():
        os.setgroups([0, 4])
        assert nobody.become_nobody()
        assert rights() == ((nobody.NOBODY,) * 3, (nobody.NOBODY,) * 3, [])

    assert in_a_fork(work) == ""


def test_it_stays_as_it_was_where_nobody_cannot_read_the_libraries(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(nobody, "LIBRARIES", (str(tmp_path / "lib"),))

    def work():
        os.setgroups([0, 4])
        before = rights()
        assert not nobody.become_nobody()
        assert rights() == before

    assert in_a_fork(work) == ""
