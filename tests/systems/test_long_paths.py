"""Tests that `doctor` says if a folder's path is too long for Windows."""

import sys

import pytest

from autograder import doctor


@pytest.mark.parametrize("length, state", [(69, doctor.WORKS), (70, doctor.LIMITED)])
def test_a_long_path_is_told_on_windows(monkeypatch, length, state):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "prefix", "C:\\".ljust(length, "x"))
    (found,) = doctor._paths()
    assert found.state == state
    assert ("at least 1 characters shorter" in found.advice) is (state == doctor.LIMITED)


def test_elsewhere_nothing_is_said(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert doctor._paths() == []
