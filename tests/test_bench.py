"""Tests that the comparison of `grade` with stock nbgrader runs to its end, and that both give the same
scores. Speed is not tested.
"""

import bench_grading
import pytest

from autograder.grading.sandbox.sandbox import why_no_sandbox


@pytest.mark.trial
@pytest.mark.skipif(bool(why_no_sandbox()), reason=f"no sandbox here: {why_no_sandbox()}")
def test_a_class_is_graded_by_both_with_the_same_scores(monkeypatch, capsys):
    monkeypatch.setattr(bench_grading, "SIZE", 2)
    monkeypatch.setattr(bench_grading, "GROWTH", 1)
    bench_grading.main()
    assert "scores: 2 of 2 the same" in capsys.readouterr().out
