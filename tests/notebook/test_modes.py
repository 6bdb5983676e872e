"""Tests that a check judges under PyTorch's default settings, whatever a learner has set around the check or
for the session.
"""

import pytest
import torch

from autograder.exercises import find
from autograder.notebook.check import verdict_on

MODES = {
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "anomalies": lambda: torch.autograd.set_detect_anomaly(True),
}


def modes():
    return torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"), torch.is_anomaly_enabled()


@pytest.mark.parametrize("mode", MODES)
def test_a_right_answer_is_right_in_every_mode_and_the_mode_stays(mode):
    exercise = find("matmul.SelfAttention")
    with MODES[mode]():
        before = modes()
        assert verdict_on(exercise.worked, exercise).passed and modes() == before
    assert not any(modes())
