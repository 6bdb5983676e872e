"""Tests how many points are read from the outputs of a test cell."""

import pytest
from nbformat.v4 import new_output

from autograder.grading.gradebook.graded_notebook import stated_points


def outputs(*texts):
    return [new_output("execute_result", data={"text/plain": text}) for text in texts]


@pytest.mark.parametrize(
    "text, points",
    [
        ("3.0", 3.0),
        ("0.0", 0.0),
        ("7", 7.0),
        ("7.5", None),
        ("nan", None),
        ("-1.0", None),
        ("True", None),
        ("np.float64(0.0)", None),
        ("tensor(7.)", None),
        ("'7.0'", None),
        ("inf", None),
        ("", None),
        ("7.0\n7.0", None),
    ],
)
def test_of_what_a_test_shows_only_a_plain_float_is_a_verdict(text, points):
    assert stated_points(outputs(text), 7.0) == points


def test_verdicts_of_several_outputs():
    error = new_output("error", ename="CheckFailed", evalue="", traceback=[])
    warning = new_output("stream", name="stderr", text="a warning")
    assert stated_points([], 7.0) == stated_points([warning], 7.0) == 7.0
    assert stated_points([warning, *outputs("7.0")], 7.0) == 7.0
    assert stated_points([*outputs("7.0"), error], 7.0) == 0.0
    assert stated_points(outputs("7.0", "3.0"), 7.0) == 3.0
