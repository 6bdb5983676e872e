"""What a block does to random streams, settings and the screen is undone when it ends."""

import random
import sys
import warnings

import numpy as np
import torch

from autograder.isolation import quiet, reproducible, undisturbed


def draws() -> tuple:
    """A number from each random stream."""
    return random.random(), float(np.random.rand()), float(torch.rand(()))


def settings() -> tuple:
    deterministic = torch.are_deterministic_algorithms_enabled()
    flash = torch.backends.cuda.flash_sdp_enabled()
    return torch.get_default_dtype(), torch.is_grad_enabled(), sys.getrecursionlimit(), deterministic, flash


def test_random_streams_and_settings_are_as_before():
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    drawn, before = draws(), settings()
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    with undisturbed(), reproducible():
        draws()
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)
    assert (draws(), settings()) == (drawn, before)


def test_memory_that_nobody_fills_is_no_number():
    with reproducible():
        assert torch.empty(4).isnan().all()


def test_prints_and_warnings_are_dropped(capsys):
    with warnings.catch_warnings(record=True) as seen, quiet():
        print("to stdout")
        print("to stderr", file=sys.stderr)
        warnings.warn("a warning", stacklevel=1)
    assert capsys.readouterr() == ("", "") and not seen
