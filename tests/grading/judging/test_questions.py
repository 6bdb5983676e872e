"""Tests the verdict given when there is no answer that can be run."""

import pytest

from autograder.grading.judging.questions import Questions, Stopped
from autograder.grading.judging.untrusted_records import Reply
from autograder.verdict import DOES_NOT_RUN, NOT_STARTED

MISSING, NO_FUNCTION = Reply(False, False, "", []), Reply(True, False, "Tensor", [])


@pytest.mark.parametrize(
    "reply, stopped, state",
    [
        (MISSING, None, NOT_STARTED),
        (MISSING, Stopped("NotImplementedError", ""), NOT_STARTED),
        (MISSING, Stopped("SyntaxError", "invalid syntax", in_cell=True), DOES_NOT_RUN),
        (MISSING, Stopped("ModuleNotFoundError", "no such module"), NOT_STARTED),
        (NO_FUNCTION, None, NOT_STARTED),
    ],
)
def test_an_answer_whose_cell_stopped_does_not_run_and_else_there_is_none(reply, stopped, state):
    assert Questions("loops.softmax").verdict(reply, stopped).state == state
